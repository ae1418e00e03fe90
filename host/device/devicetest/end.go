package devicetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// endCases are about how waits and devices end.
var endCases = []testCase{
	{"end/operation timeout", endOpTimeout},
	{"end/abort", endAbort},
	{"end/abort behind a point", endAbortBehind},
	{"end/abort of an event's stream", endAbortEvent},
	{"end/close", endClose},
	{"end/close while streams wait", endCloseBusy},
	{"end/peer closed", endPeerClosed},
	{"end/peer never opens", endPeerMissing},
}

// endOpTimeout checks that the error of a wait names who, what and where.
func endOpTimeout(t *testing.T, open Open) {
	w := newWorld(t, open, 2, func(c *device.Config) { c.OpTimeout = 30 * time.Millisecond })
	r, peer := w.ranks[0], w.ranks[1]
	s := r.stream()
	signaller := peer.stream()
	peer.submit(signaller, signal(0, 17, 3))
	peer.sync(signaller)
	r.submit(s, signal(0, 1, 1), wait(1, 17, 42), signal(0, 1, 2))
	err := s.Sync(patience)
	r.is(err, device.ErrTimeout)
	var failure *device.OpError
	if !errors.As(err, &failure) {
		t.Fatalf("%T is no OpError", err)
	}
	if failure.Op.Peer != 1 || failure.Op.Slot != 17 || failure.Op.Value != 42 || failure.Seen != 3 {
		t.Errorf("failure %+v", failure)
	}
	for _, part := range []string{"wait", "rank 1", "slot 17", "42", "3"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
	r.signalValue(0, 1, 1) // nothing after the failure was executed
	b := r.alloc(10)
	s = r.stream()
	r.submit(s, recv(1, 5, at(b, 0), 10))
	err = s.Sync(patience)
	r.is(err, device.ErrTimeout)
	if !strings.Contains(err.Error(), "rank 1 channel 5") {
		t.Errorf("error %q does not name the channel", err)
	}
}

// endAbort aborts ranks that wait in every way there is.
func endAbort(t *testing.T, open Open) {
	cause := errors.New("the reason")
	for name, block := range map[string]func(r *rank, s device.Stream, e device.Event) error{
		"signal":  func(r *rank, s device.Stream, _ device.Event) error { return s.Sync(device.Forever) },
		"timeout": func(r *rank, s device.Stream, _ device.Event) error { return s.Sync(time.Hour) },
		"event":   func(r *rank, _ device.Stream, e device.Event) error { return e.Sync(device.Forever) },
		"any": func(r *rank, _ device.Stream, e device.Event) error {
			return second(r.WaitAny([]device.Point{{Event: e}}, device.Forever))
		},
		"any signal": func(r *rank, _ device.Stream, _ device.Event) error {
			return second(r.WaitAny([]device.Point{raised(1, 0, 1)}, device.Forever))
		},
		"any of nothing": func(r *rank, _ device.Stream, _ device.Event) error {
			return second(r.WaitAny(nil, device.Forever))
		},
		"barrier": func(r *rank, _ device.Stream, _ device.Event) error { return r.Barrier(device.Forever) },
		"close":   func(r *rank, s device.Stream, _ device.Event) error { return s.Close() },
		"recv": func(r *rank, s device.Stream, _ device.Event) error {
			o := recv(1, 0, at(r.alloc(1), 0), 1)
			if err := s.Submit(&o); err != nil {
				return err
			}
			return s.Sync(device.Forever)
		},
		"full": func(r *rank, s device.Stream, _ device.Event) error {
			for {
				o := signal(0, 1, 1)
				if err := s.Submit(&o); err != nil {
					return err
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, open, 2)
			r := w.ranks[0]
			s, e := r.stream(), r.event()
			r.submit(s, wait(1, 0, 1), record(e))
			ended := make(chan error)
			go func() { ended <- block(r, s, e) }()
			go r.Abort(cause)
			err := <-ended
			if !errors.Is(err, device.ErrAborted) || !errors.Is(err, cause) {
				t.Errorf("error %v", err)
			}
			r.is(r.Barrier(device.Forever), device.ErrAborted)
			r.Abort(errors.New("another")) // the first counts
			r.is(r.Barrier(device.Forever), cause)
		})
	}
}

// endAbortBehind aborts a rank that sleeps at once after what it sleeps for has
// come: it came first.
func endAbortBehind(t *testing.T, open Open) {
	for range 5 {
		w := newWorld(t, open, 2)
		r, peer := w.ranks[0], w.ranks[1]
		s, e := r.stream(), r.event()
		r.submit(s, wait(1, 0, 1), record(e))
		type ending struct {
			found int
			err   error
		}
		ended := make(chan ending)
		go func() {
			i, err := r.WaitAny([]device.Point{{Event: e}, raised(1, 3, 1)}, device.Forever)
			ended <- ending{i, err}
		}()
		tell := peer.stream()
		peer.misses() // takes a moment
		peer.submit(tell, signal(0, 3, 1))
		peer.sync(tell)
		r.Abort(errors.New("the reason"))
		if got := <-ended; got.found != 1 || got.err != nil {
			t.Errorf("point %d, error %v, though the signal has come", got.found, got.err)
		}
	}
}

// endAbortEvent waits for an event that an abort has ended already.
func endAbortEvent(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	r, peer := w.ranks[0], w.ranks[1]
	s, e, tell, cause := r.stream(), r.event(), peer.stream(), errors.New("the reason")
	peer.submit(tell, signal(0, 3, 1))
	peer.sync(tell)
	r.submit(s, wait(1, 0, 1), record(e))
	r.Abort(cause)
	r.is(s.Sync(device.Forever), cause)
	for _, timeout := range []time.Duration{0, device.Forever} {
		i, err := r.WaitAny([]device.Point{{Event: e}}, timeout)
		if i != -1 || !errors.Is(err, cause) {
			t.Errorf("point %d, error %v", i, err)
		}
		i, err = r.WaitAny([]device.Point{{Event: e}, raised(1, 3, 1)}, timeout)
		if i != 1 || err != nil {
			t.Errorf("point %d, error %v, though the signal has come", i, err)
		}
	}
}

func endClose(t *testing.T, open Open) {
	r := one(t, open)
	s, e, b := r.stream(), r.event(), r.alloc(100)
	h, err := r.Export(at(b, 0), 100)
	r.must(err)
	r.must(r.Close())
	o := signal(0, 0, 1)
	for name, err := range map[string]error{
		"close": r.Close(), "free": r.Free(b), "read": r.Read(make([]byte, 1), at(b, 0)),
		"write": r.Write(at(b, 0), make([]byte, 1)), "barrier": r.Barrier(0), "submit": s.Submit(&o),
		"sync": s.Sync(0), "stream close": s.Close(), "event sync": e.Sync(0), "event close": e.Close(),
		"alloc": second(r.Alloc(1)), "stream": second(r.NewStream()), "event": second(r.NewEvent()),
		"export": second(r.Export(at(b, 0), 1)), "import": second(r.Import(0, h)),
		"signal value": second(r.SignalValue(0, 0)), "any": second(r.WaitAny(nil, 0)), "query": second(s.Query()),
	} {
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// endCloseBusy closes a device whose streams wait for what never comes.
func endCloseBusy(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	r := w.ranks[0]
	b := r.alloc(100)
	for i := range 4 {
		s := r.stream()
		r.submit(s, wait(1, uint32(i), 1), move(op.Copy, at(b, 0), at(b, 50), 10))
		s = r.stream()
		r.submit(s, send(1, uint32(i), at(b, 0), 10), recv(1, uint32(i), at(b, 0), 10))
	}
	r.must(r.Close())
}

// endPeerClosed uses a peer's memory after the peer has gone in peace. Nothing
// may fault; that the bytes are still there is not promised.
func endPeerClosed(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	r, peer := w.ranks[0], w.ranks[1]
	theirs := peer.filled(1000, 1)
	peer.publish("b", at(theirs, 0), 1000)
	b, local, s := r.lookup(1, "b"), r.alloc(1000), r.stream()
	r.must(peer.Close())
	get := move(op.Get, at(local, 0), at(b, 0), 1000)
	if err := s.Submit(&get); err == nil {
		r.sync(s)
	}
	note := signal(1, 0, 1)
	if err := s.Submit(&note); err == nil {
		r.sync(s)
	}
	r.is(r.Barrier(5*time.Millisecond), device.ErrTimeout)
}

// endPeerMissing reaches for a rank that has not opened its device.
func endPeerMissing(t *testing.T, open Open) {
	r := one(t, open, func(c *device.Config) { c.Size, c.OpTimeout = 2, 60*time.Millisecond })
	o := signal(1, 0, 1)
	s := r.stream()
	r.is(s.Submit(&o), device.ErrTimeout)
	_, err := r.Import(1, device.Handle{})
	r.is(err, device.ErrTimeout)
	r.is(r.Barrier(device.Forever), device.ErrTimeout)
	ended := make(chan error)
	go func() { ended <- s.Submit(&o) }()
	r.Abort(errors.New("enough"))
	if err := <-ended; !errors.Is(err, device.ErrAborted) && !errors.Is(err, device.ErrTimeout) {
		t.Errorf("error %v", err)
	}
}
