package ccruntest

import (
	"fmt"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// rank is one rank's host: it implements raw.Calls. Handles are numbers from a
// counter that never repeats.
type rank struct {
	world   *world
	number  int
	last    uint64 // handle given out last
	buffers map[uint64]*buffer
	streams map[uint64]*stream
	events  map[uint64]*event
	comms   map[uint64]*comm
	views   []*[8]raw.View // by address
	calls   []*raw.Call
	gemms   []*raw.Gemm
	boxes   []*raw.Box
	counts  [][]uint64
	texts   []*[64]byte // by address
	text    string      // of the last error
	tag     ccrun.Term
	marks   map[uint64]bool
	ended   uint32 // collectives that have ended

	pipelines map[uint64]*pipeline
	pipelined int    // made so far
	worldComm uint64 // handle of the communicator of all ranks, 0 before it is asked for
}

// memory is an allocation; buffer is access to a part of one.
type memory struct {
	data  []byte
	freed bool
}

type buffer struct {
	memory *memory
	data   []byte
	own    bool
}

func newRank(w *world, number int) *rank {
	return &rank{
		world: w, number: number, buffers: map[uint64]*buffer{}, streams: map[uint64]*stream{},
		events: map[uint64]*event{}, marks: map[uint64]bool{}, comms: map[uint64]*comm{}, pipelines: map[uint64]*pipeline{},
	}
}

func (r *rank) run(guest func(*ccrun.World) error) (err error) {
	defer func() {
		if p := recover(); p == errAborted {
			err = errAborted
		} else if p != nil {
			err = fmt.Errorf("panic: %v", p)
			_ = r.world.abort(err)
		}
	}()
	w, err := ccrun.OpenHost(raw.Host{Calls: r})
	if err != nil {
		return err
	}
	return guest(w)
}

// close ends the rank's streams.
func (r *rank) close() {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range r.streams {
		s.closed = true
	}
	w.changed.Broadcast()
}

// lock takes the world's lock; the caller defers what it returns.
func (r *rank) lock() func() {
	r.world.mu.Lock()
	return r.world.mu.Unlock
}

func (r *rank) handle() uint64 {
	r.last++
	return r.last
}

func (r *rank) fail(errno raw.Errno, text string) raw.Errno {
	r.text = text
	return errno
}

// find looks a handle up: one that was given out and is gone is stale.
func find[T any](r *rank, table map[uint64]T, handle uint64) (found T, errno raw.Errno) {
	if found, ok := table[handle]; ok {
		return found, raw.OK
	}
	if handle == 0 || handle > r.last {
		return found, r.fail(raw.ErrnoBadHandle, "no such handle")
	}
	return found, r.fail(raw.ErrnoStale, "freed")
}

// region is bytes of a buffer.
func (r *rank) region(handle, offset, bytes uint64) ([]byte, raw.Errno) {
	b, errno := find(r, r.buffers, handle)
	if errno != raw.OK {
		return nil, errno
	}
	if b.memory.freed {
		return nil, r.fail(raw.ErrnoStale, "the buffer was freed")
	}
	size := uint64(len(b.data))
	if bytes > size || offset > size-bytes {
		return nil, r.fail(raw.ErrnoRange, "outside the buffer")
	}
	return b.data[offset : offset+bytes : offset+bytes], raw.OK
}

func (r *rank) peer(number uint32) raw.Errno {
	if int(number) >= len(r.world.ranks) {
		return r.fail(raw.ErrnoNoRank, "no such rank")
	}
	return raw.OK
}

// World and the calls below are those of raw.Calls, in the table's order.
func (r *rank) World(info *raw.World) raw.Errno {
	size := uint32(len(r.world.ranks))
	*info = raw.World{
		Rank: uint32(r.number), Size: size, LocalRank: uint32(r.number), LocalSize: size,
		Seed: Seed, AbiVersion: raw.Version, SignalSlots: signalSlots, SendChannels: sendChannels, BufferLimit: 1 << 30,
	}
	return raw.OK
}

func (r *rank) ClockNow(nanos *int64) raw.Errno {
	*nanos = time.Now().UnixNano()
	return raw.OK
}

func (r *rank) LastError(text *uint8, textLen uint32, textBytes *uint32) raw.Errno {
	defer r.lock()()
	*textBytes = uint32(copy(bytesAt(text, textLen), r.text))
	return raw.OK
}

// Abort unwinds the guest, as ccrun does.
func (r *rank) Abort(code uint32, text string) raw.Errno {
	if code < 1 || code > 95 {
		return raw.ErrnoInvalid
	}
	_ = r.world.abort(fmt.Errorf("%w: code %d: %s", errAborted, code, text))
	panic(errAborted)
}

func (r *rank) Barrier(timeout int64) raw.Errno {
	defer r.lock()()
	w := r.world
	w.entered[r.number]++
	mine := w.entered[r.number]
	w.changed.Broadcast()
	return w.await(time.Duration(timeout), func() bool {
		for _, entered := range w.entered {
			if entered < mine {
				return false
			}
		}
		return true
	})
}

func (r *rank) Tag(collective, chunk, slice, flow, step, message uint32) raw.Errno {
	r.tag = ccrun.Term{Collective: collective, Chunk: int(chunk), Slice: int(slice), Flow: int(flow), Step: int(step), Message: int(message)}
	return raw.OK
}

func (r *rank) CollectiveBegin(collective *raw.Collective, sequence *uint32) raw.Errno {
	defer r.lock()()
	begun := &r.world.result.Begun[r.number]
	*begun = append(*begun, *collective)
	*sequence = uint32(len(*begun))
	return raw.OK
}

func (r *rank) CollectiveEnd(sequence uint32) raw.Errno {
	if sequence != r.ended+1 {
		return raw.ErrnoNotFound
	}
	r.ended++
	return raw.OK
}

func (r *rank) MarkBegin(_ string, mark *uint64) raw.Errno {
	*mark = r.handle()
	r.marks[*mark] = true
	return raw.OK
}

func (r *rank) MarkEnd(mark uint64) raw.Errno {
	if !r.marks[mark] {
		return raw.ErrnoNotFound
	}
	delete(r.marks, mark)
	return raw.OK
}

func (r *rank) AddressOfViews(views *[8]raw.View) uint32 { return address(&r.views, views) }

func (r *rank) AddressOfText(text *[64]byte) uint32 { return address(&r.texts, text) }

func (r *rank) AddressOfCall(call *raw.Call) uint32 { return address(&r.calls, call) }

func (r *rank) AddressOfGemm(gemm *raw.Gemm) uint32 { return address(&r.gemms, gemm) }

func (r *rank) AddressOfBox(box *raw.Box) uint32 { return address(&r.boxes, box) }

// AddressOfCounts finds the list by its first entry.
func (r *rank) AddressOfCounts(counts []uint64) uint32 {
	if len(counts) == 0 {
		return 0
	}
	for i, list := range r.counts {
		if &list[0] == &counts[0] {
			r.counts[i] = counts
			return uint32(i + 1)
		}
	}
	r.counts = append(r.counts, counts)
	return uint32(len(r.counts))
}

// address is the number of pointer p among those seen.
func address[T any](seen *[]*T, p *T) uint32 {
	for i, q := range *seen {
		if q == p {
			return uint32(i + 1)
		}
	}
	*seen = append(*seen, p)
	return uint32(len(*seen))
}
