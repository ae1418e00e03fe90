package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// rankTimeout is how long a native rank waits for another.
const rankTimeout = 60 * time.Second

// The slots that a rank raises at its neighbours, as in the guest.
const (
	slotData = 0
	slotFree = 1
)

// ring is one native rank: what workflows/ring_allgather does, operation for
// operation, without a guest in between.
type ring struct {
	rankConfig
	place     ccrun.Ring
	device    device.Device
	stream    device.Stream
	recorder  *flight.Writer
	out, peer op.Buffer
	op        op.Op // submitted last
	err       error // of the first submission that failed
}

// gatherAll runs all iterations and gives the times of those that count.
func (r *ring) gatherAll() (*rankTimes, error) {
	times := &rankTimes{}
	total := r.warmup + r.iters
	for i := range total {
		start, end, err := r.iterate(i, i == total-1)
		if err != nil {
			return nil, fmt.Errorf("iteration %d: %w", i, err)
		}
		if i >= r.warmup {
			times.Start, times.End = append(times.Start, start), append(times.End, end)
		}
	}
	r.submit(op.Op{Kind: op.Wait, Peer: int32(r.place.Next), Slot: slotFree, Value: uint64(total)})
	return times, r.sync()
}

// open allocates this rank's buffer and reaches its neighbour's: by put the
// next rank's, by get the previous one's.
func (r *ring) open(exchange device.Exchange) (err error) {
	if r.out, err = r.device.Alloc(r.chunkBytes * int64(r.size)); err != nil {
		return err
	}
	if r.stream, err = r.device.NewStream(); err != nil {
		return err
	}
	handle, err := r.device.Export(op.View{Buf: r.out}, r.out.Size())
	if err != nil {
		return err
	}
	text, err := json.Marshal(handle)
	if err != nil {
		return err
	}
	if err := exchange.Set(fmt.Sprint("out/", r.rank), text); err != nil {
		return err
	}
	neighbour := r.place.Prev
	if r.protocol == "put" {
		neighbour = r.place.Next
	}
	if text, err = exchange.Get(fmt.Sprint("out/", neighbour), rankTimeout); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &handle); err != nil {
		return err
	}
	r.peer, err = r.device.Import(neighbour, handle)
	return err
}

// iterate gathers once. The last iteration has a new content, which is
// verified after the time is taken.
func (r *ring) iterate(iteration int, last bool) (start, end int64, err error) {
	r.submit(op.Op{Kind: op.Wait, Peer: int32(r.place.Next), Slot: slotFree, Value: uint64(iteration)})
	if iteration == 0 || last {
		r.submit(op.Op{Kind: op.Fill, Bytes: r.chunkBytes, Dst: r.view(r.out, r.rank, 0), Value: r.seed(r.rank, last)})
	}
	if err := r.sync(); err != nil {
		return 0, 0, err
	}
	start = r.device.Now()
	r.gather(iteration)
	if err := r.sync(); err != nil {
		return 0, 0, err
	}
	end = r.device.Now()
	r.recorder.Append(&flight.Record{
		Start: start, End: end, Bytes: uint64(r.out.Size()), Collective: uint32(iteration + 1), Chunk: uint32(r.size),
		Slice: uint32(r.sliceBytes), Peer: -1, Kind: uint8(op.Collective), Red: uint8(op.AllGather),
	})
	if last {
		err = r.verify()
	}
	r.submit(op.Op{Kind: op.Signal, Peer: int32(r.place.Prev), Slot: slotFree, Value: uint64(iteration + 1)})
	return start, end, err
}

// gather submits the operations of one iteration.
func (r *ring) gather(iteration int) {
	slices := r.slices()
	base := uint64(iteration * r.place.Steps() * slices)
	if r.protocol == "get" && slices > 0 {
		r.signal(op.Term{Collective: uint32(iteration + 1), Chunk: uint32(r.rank)}, base+uint64(slices))
	}
	for step := range r.place.Steps() {
		for slice := range slices {
			order := base + uint64(step*slices+slice+1)
			t := op.Term{Collective: uint32(iteration + 1), Slice: uint32(slice), Message: uint32(slice), Step: uint16(step)}
			if r.protocol == "put" {
				t.Chunk = uint32(r.place.Sends(step))
				r.push(t, order, uint64(slices))
			} else {
				t.Chunk = uint32(r.place.Receives(step))
				r.pull(t, order, uint64(slices))
			}
		}
	}
	if n := r.place.Steps() * slices; r.protocol == "put" && n > 0 {
		r.wait(op.Term{Collective: uint32(iteration + 1), Step: uint16(r.place.Steps())}, base+uint64(n))
	}
}

// push passes a slice on, as soon as it has arrived: one step before.
func (r *ring) push(t op.Term, order, slices uint64) {
	if t.Step > 0 {
		r.wait(t, order-slices)
	}
	src := r.view(r.out, int(t.Chunk), int64(t.Slice)*r.sliceBytes)
	dst := r.view(r.peer, int(t.Chunk), int64(t.Slice)*r.sliceBytes)
	r.submit(op.Op{Kind: op.Put, Peer: int32(r.place.Next), Bytes: r.partBytes(int(t.Slice)), Dst: dst, Src: src, Term: t})
	r.signal(t, order)
}

// pull fetches a slice as soon as the previous rank has it, and offers it to
// the next one unless that has it already.
func (r *ring) pull(t op.Term, order, slices uint64) {
	r.wait(t, order)
	src := r.view(r.peer, int(t.Chunk), int64(t.Slice)*r.sliceBytes)
	dst := r.view(r.out, int(t.Chunk), int64(t.Slice)*r.sliceBytes)
	r.submit(op.Op{Kind: op.Get, Peer: int32(r.place.Prev), Bytes: r.partBytes(int(t.Slice)), Dst: dst, Src: src, Term: t})
	if int(t.Step)+1 < r.place.Steps() {
		r.signal(t, order+slices)
	}
}

func (r *ring) wait(t op.Term, order uint64) {
	r.submit(op.Op{Kind: op.Wait, Peer: int32(r.place.Prev), Slot: slotData, Value: order, Term: t})
}

func (r *ring) signal(t op.Term, order uint64) {
	r.submit(op.Op{Kind: op.Signal, Peer: int32(r.place.Next), Slot: slotData, Value: order, Term: t})
}

// verify checks every chunk of the last iteration; the recorder counts.
func (r *ring) verify() error {
	for chunk := range r.size {
		r.submit(op.Op{Kind: op.Verify, Bytes: r.chunkBytes, Dst: r.view(r.out, chunk, 0), Value: r.seed(chunk, true)})
	}
	if err := r.sync(); err != nil {
		return err
	}
	if n := r.recorder.Counters(); n.Dropped != 0 || n.Mismatches != 0 || n.Verified != r.out.Size() {
		return fmt.Errorf("%d records dropped, %d bytes wrong, %d of %d verified", n.Dropped, n.Mismatches, n.Verified, r.out.Size())
	}
	return nil
}

// seed is that of a chunk's pattern.
func (r *ring) seed(chunk int, last bool) uint64 {
	if last {
		return uint64(chunk + 1 + r.size)
	}
	return uint64(chunk + 1)
}

// submit copies o to where it does not have to be allocated: a ring that
// collects garbage would be no yardstick.
func (r *ring) submit(o op.Op) {
	r.op = o
	if err := r.stream.Submit(&r.op); r.err == nil {
		r.err = err
	}
}

func (r *ring) sync() error {
	if r.err != nil {
		return r.err
	}
	return r.stream.Sync(rankTimeout)
}

func (r *ring) view(b op.Buffer, chunk int, off int64) op.View {
	return op.View{Buf: b, Off: int64(chunk)*r.chunkBytes + off}
}

// slices is how many slices a chunk has; a slice size of 0 means one.
func (r *ring) slices() int {
	if r.sliceBytes == 0 {
		return int(min(r.chunkBytes, 1))
	}
	return int((r.chunkBytes + r.sliceBytes - 1) / r.sliceBytes)
}

func (r *ring) partBytes(slice int) int64 {
	rest := r.chunkBytes - int64(slice)*r.sliceBytes
	if r.sliceBytes == 0 {
		return rest
	}
	return min(r.sliceBytes, rest)
}
