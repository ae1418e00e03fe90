package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// heldMax is how many operations a stream collects before it submits them.
const heldMax = 64

// Stream carries out operations in order, asynchronously to the guest and to
// other streams. Its methods allocate nothing. After a failure it ignores
// further operations; [Stream.Sync], [Stream.Query] and [Stream.Err] report it.
type Stream struct {
	world  *World
	handle uint64
	place  raw.Op // an operation of no kind, where Tag says
	held   bool
	err    error

	// What the host reads and writes, kept here so that no call allocates.
	ops      [heldMax]raw.Op
	sources  [][MaxSources]raw.View // of the reduce in ops[i], made by the first one
	calls    []raw.Call             // of the call in ops[i], likewise
	gemms    []raw.Gemm             // of the product in ops[i]
	boxes    []raw.Box              // of the copy_box or get_box in ops[i]
	counts   [][]uint64             // of the all_to_all_v in ops[i], and behind those in group[i]
	group    []raw.Call             // what Group collects
	grouped  int                    // calls in group
	grouping bool
	count    int // operations in ops that are not submitted
	accepted uint32
	done     uint32
}

// NewStream makes a stream. It fails with [ErrLimit] if there are too many. It
// is not inlined, so that a Stream is on the heap and addresses in it hold.
//
//go:noinline
func (w *World) NewStream() (*Stream, error) {
	s := &Stream{world: w}
	if err := w.check("stream_create", w.host.StreamCreate(&s.handle)); err != nil {
		return nil, err
	}
	return s, nil
}

// Handle is the stream's handle, for package raw.
func (s *Stream) Handle() uint64 { return s.handle }

// Close waits for the stream and gives it back.
func (s *Stream) Close() error {
	s.Flush()
	err := s.world.check("stream_destroy", s.world.host.StreamDestroy(s.handle))
	if s.err != nil {
		return s.err
	}
	return err
}

// Err is the stream's first failure that is known so far.
func (s *Stream) Err() error { return s.err }

// Sync waits until everything submitted is complete; a failure that is known
// already it reports at once.
func (s *Stream) Sync() error { return s.SyncWithin(Forever) }

// SyncWithin is [Stream.Sync] with a deadline, after which it fails with
// [ErrTimedOut]; the stream goes on.
func (s *Stream) SyncWithin(timeout time.Duration) error {
	s.Flush()
	if s.err != nil {
		return s.err
	}
	errno := s.world.host.StreamSync(s.handle, int64(timeout))
	if errno == raw.OK {
		return nil
	}
	err := s.world.check("stream_sync", errno)
	if errno != raw.ErrnoTimedOut {
		s.err = err
	}
	return err
}

// Query reports, without waiting, whether everything submitted is complete.
func (s *Stream) Query() (bool, error) {
	s.Flush()
	if s.err != nil {
		return false, s.err
	}
	if errno := s.world.host.StreamQuery(s.handle, &s.done); errno != raw.OK {
		s.err = s.world.check("stream_query", errno)
	}
	return s.done != 0, s.err
}

// Hold makes the stream collect operations, to submit them with one host call:
// at [Stream.Flush], when it waits, or when there are 64. A guest must not wait
// for what depends on a held operation.
func (s *Stream) Hold() { s.held = true }

// Flush submits what the stream has collected and ends [Stream.Hold].
func (s *Stream) Flush() {
	s.held = false
	s.submit()
}

// Tag says where the following operations of the stream belong. Its numbers
// are not negative; a flow and a step are less than 65536, a chunk, a slice and
// a message less than 2^32.
func (s *Stream) Tag(t Term) {
	if !fits(t.Chunk, 1<<32-1) || !fits(t.Slice, 1<<32-1) || !fits(t.Message, 1<<32-1) || !fits(t.Flow, 1<<16-1) || !fits(t.Step, 1<<16-1) {
		s.refuse("tag", ErrInvalid, "a number is negative or too large")
		return
	}
	s.place = raw.Op{
		Collective: t.Collective, Chunk: uint32(t.Chunk), Slice: uint32(t.Slice),
		Flow: uint16(t.Flow), Step: uint16(t.Step), Message: uint32(t.Message),
	}
}

// next is the descriptor for one more operation.
func (s *Stream) next(kind uint32) *raw.Op {
	if s.count == len(s.ops) {
		s.submit()
	}
	o := &s.ops[s.count]
	*o = s.place
	o.Kind = kind
	return o
}

// push submits the descriptor that next gave, now or when it holds no longer.
func (s *Stream) push() {
	s.count++
	if !s.held {
		s.submit()
	}
}

func (s *Stream) submit() {
	count := s.count
	s.count = 0
	if count == 0 || s.err != nil {
		return
	}
	errno := s.world.host.Submit(s.handle, &s.ops[0], uint32(count), &s.accepted)
	if errno != raw.OK {
		bad := min(int(s.accepted), count-1)
		s.err = s.world.check(kindName(s.ops[bad].Kind), errno)
	}
}

// refuse keeps an error that the SDK itself found. What is held came before
// it, so it is submitted.
func (s *Stream) refuse(call string, errno Errno, text string) {
	s.submit()
	if s.err == nil {
		s.err = &Error{Call: call, Errno: errno, Text: text}
	}
}

var kindNames = [...]string{
	raw.KindCopy: "copy", raw.KindPut: "put", raw.KindGet: "get", raw.KindSignal: "signal", raw.KindWait: "wait",
	raw.KindSend: "send", raw.KindRecv: "recv", raw.KindReduce: "reduce", raw.KindFill: "fill",
	raw.KindEventRecord: "event_record", raw.KindEventWait: "event_wait", raw.KindGemm: "gemm", raw.KindCall: "collective",
	raw.KindCopyBox: "copy_box", raw.KindGetBox: "get_box",
}

func kindName(kind uint32) string {
	if int(kind) < len(kindNames) {
		return kindNames[kind]
	}
	return "submit"
}
