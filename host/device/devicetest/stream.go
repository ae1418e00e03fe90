package devicetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var streamCases = []testCase{
	{"stream/order", streamOrder},
	{"stream/overlap", streamOverlap},
	{"stream/progress without sync", streamProgress},
	{"stream/query", streamQuery},
	{"stream/timeout goes on", streamTimeout},
	{"stream/full queue", streamFull},
	{"stream/count", streamCount},
	{"stream/close", streamClose},
}

// streamOrder chains copies that are only right in order, behind a wait so
// that they are all queued.
func streamOrder(t *testing.T, open Open) {
	r := one(t, open)
	s, other := r.stream(), r.stream()
	const size, links = 777, 200
	chain := r.alloc(size * (links + 1))
	r.write(chain, 0, pattern(size, 3))
	r.submit(s, wait(0, 0, 1))
	for i := range int64(links) {
		r.submit(s, move(op.Copy, at(chain, (i+1)*size), at(chain, i*size), size))
	}
	r.submit(other, signal(0, 0, 1))
	r.sync(s)
	if got := r.read(chain)[links*size:]; !bytes.Equal(got, pattern(size, 3)) {
		t.Error("the last link does not hold the first's bytes")
	}
}

// streamOverlap holds one stream in a wait that only another stream ends.
func streamOverlap(t *testing.T, open Open) {
	r := one(t, open)
	var all []device.Stream
	for range 8 {
		all = append(all, r.stream())
	}
	for i, s := range all[:7] { // each waits for the next
		r.submit(s, wait(0, uint32(i+1), 1), signal(0, uint32(i), 1))
	}
	r.submit(all[7], signal(0, 7, 1))
	r.sync(all[0])
	for _, s := range all {
		r.sync(s)
	}
	r.signalValue(0, 0, 1)
}

// streamProgress submits work that a peer needs and never waits for it.
func streamProgress(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	release := make(chan struct{})
	w.each(func(r *rank) {
		s := r.stream()
		if r.n == 0 {
			r.submit(s, wait(1, 0, 1), signal(1, 0, 1))
			<-release // the guest does something else
			return
		}
		defer close(release)
		r.submit(s, signal(0, 0, 1), wait(0, 0, 1))
		r.sync(s)
	})
}

func streamQuery(t *testing.T, open Open) {
	r := one(t, open)
	s, other := r.stream(), r.stream()
	query := func(want bool) {
		t.Helper()
		done, err := s.Query()
		r.must(err)
		if done != want {
			t.Fatalf("done is %v", done)
		}
	}
	query(true)
	r.submit(s, wait(0, 0, 1))
	query(false)
	r.submit(other, signal(0, 0, 1))
	r.sync(s)
	query(true)
	r.submit(s, wait(0, 0, 2))
	r.submit(other, signal(0, 0, 2))
	for done := false; !done; { // polling alone gets there
		var err error
		done, err = s.Query()
		r.must(err)
	}
}

func streamTimeout(t *testing.T, open Open) {
	r := one(t, open)
	s, other := r.stream(), r.stream()
	a, b := r.filled(100, 1), r.alloc(100)
	r.submit(s, wait(0, 0, 1), move(op.Copy, at(b, 0), at(a, 0), 100))
	for _, timeout := range []time.Duration{0, time.Microsecond, 5 * time.Millisecond} {
		r.is(s.Sync(timeout), device.ErrTimeout)
	}
	r.submit(s, signal(0, 1, 1))
	r.submit(other, signal(0, 0, 1))
	r.must(s.Sync(device.Forever))
	if !bytes.Equal(r.read(b), pattern(100, 1)) {
		t.Error("what was submitted before the timeout did not happen")
	}
	r.signalValue(0, 1, 1)
}

// streamFull submits more than any queue holds.
func streamFull(t *testing.T, open Open) {
	const count = 20_000
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s, peer := r.stream(), 1-r.n
		for i := range uint64(count) {
			if r.n == 0 {
				r.submit(s, wait(peer, 0, i+1), signal(peer, 0, i+1))
			} else {
				r.submit(s, signal(peer, 0, i+1), wait(peer, 0, i+1))
			}
		}
		r.sync(s)
		r.signalValue(peer, 0, count)
		r.barrier()
	})
}

func streamCount(t *testing.T, open Open) {
	r := one(t, open)
	facts := r.Facts()
	for range 2 { // closed ones can be made again
		var all []device.Stream
		for range facts.MaxStreams {
			all = append(all, r.stream())
		}
		_, err := r.NewStream()
		r.is(err, device.ErrTooMany)
		for _, s := range all {
			r.must(s.Close())
		}
	}
	for range facts.MaxEvents {
		r.event()
	}
	_, err := r.NewEvent()
	r.is(err, device.ErrTooMany)
}

func streamClose(t *testing.T, open Open) {
	r := one(t, open)
	s, other := r.stream(), r.stream()
	a, b := r.filled(100, 1), r.alloc(100)
	r.submit(s, wait(0, 0, 1), move(op.Copy, at(b, 0), at(a, 0), 100))
	r.submit(other, signal(0, 0, 1))
	r.must(s.Close())
	if !bytes.Equal(r.read(b), pattern(100, 1)) {
		t.Error("Close did not wait")
	}
	o := signal(0, 0, 2)
	r.is(s.Submit(&o), device.ErrClosed)
	r.is(s.Sync(0), device.ErrClosed)
	_, err := s.Query()
	r.is(err, device.ErrClosed)
	r.is(s.Close(), device.ErrClosed)
}
