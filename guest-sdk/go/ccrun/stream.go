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
	term   Term
	held   bool
	err    error

	// What the host reads and writes, kept here so that no call allocates.
	ops      [heldMax]raw.Op
	sources  [][MaxSources]raw.View // of the reduce in ops[i], made by the first one
	count    int                    // operations in ops that are not submitted
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

// Sync waits until everything submitted is complete and reports the stream's
// first failure.
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

// Tag says where the following operations of the stream belong.
func (s *Stream) Tag(t Term) { s.term = t }

// next is the descriptor for one more operation.
func (s *Stream) next(kind uint32) *raw.Op {
	if s.count == len(s.ops) {
		s.submit()
	}
	o := &s.ops[s.count]
	*o = raw.Op{
		Kind: kind, Collective: s.term.Collective, Chunk: uint32(s.term.Chunk), Slice: uint32(s.term.Slice),
		Flow: uint16(s.term.Flow), Step: uint16(s.term.Step), Message: uint32(s.term.Message),
	}
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

// refuse keeps an error that the SDK itself found.
func (s *Stream) refuse(call string, errno Errno, text string) {
	if s.err == nil {
		s.err = &Error{Call: call, Errno: errno, Text: text}
	}
}

var kindNames = [...]string{
	raw.KindCopy: "copy", raw.KindPut: "put", raw.KindGet: "get", raw.KindSignal: "signal", raw.KindWait: "wait",
	raw.KindSend: "send", raw.KindRecv: "recv", raw.KindReduce: "reduce", raw.KindFill: "fill",
	raw.KindEventRecord: "event_record", raw.KindEventWait: "event_wait",
}

func kindName(kind uint32) string {
	if int(kind) < len(kindNames) {
		return kindNames[kind]
	}
	return "submit"
}
