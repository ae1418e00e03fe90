package sim_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/op"
)

// TestAbort gives a run up from a body and from another goroutine.
func TestAbort(t *testing.T) {
	cause := errors.New("the reason")
	t.Run("body", func(t *testing.T) {
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
		checkAborted(t, cause, w.each(func(r *rank) {
			if r.n == 1 {
				r.must(w.Sleep(1, 1000))
				w.Abort(cause)
				w.Abort(errors.New("another")) // the first counts
				return
			}
			r.is(r.Barrier(device.Forever), cause)
			r.at(1000)
		}))
	})
	t.Run("last body", func(t *testing.T) {
		given := 0
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1, GivenUp: func(error) { given++ }})
		checkAborted(t, cause, w.each(func(*rank) { w.Abort(cause) }))
		if given != 1 {
			t.Errorf("GivenUp was called %d times", given)
		}
	})
	t.Run("goroutine", func(t *testing.T) {
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
		started := make(chan struct{})
		go func() {
			<-started
			w.Abort(cause)
		}()
		checkAborted(t, cause, w.each(func(r *rank) {
			if r.n == 0 {
				close(started)
			}
			var err error
			for err == nil { // time passes, and no rank waits for another
				err = w.Sleep(r.n, 1000)
			}
			r.is(err, cause)
		}))
	})
	t.Run("device", func(t *testing.T) {
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
		w.run(func(r *rank) {
			if r.n == 0 {
				r.is(r.Barrier(device.Forever), cause)
				r.at(1000)
				return
			}
			r.must(w.Sleep(1, 1000))
			w.ranks[0].Abort(cause)
			r.must(w.Sleep(1, 1000))
		})
	})
}

func checkAborted(t *testing.T, cause, err error) {
	t.Helper()
	if !errors.Is(err, cause) || !errors.Is(err, device.ErrAborted) {
		t.Errorf("Run gives %v", err)
	}
}

// TestDeaf has bodies that do not look at errors, and go on and on. They are
// ended, and the run is over.
func TestDeaf(t *testing.T) {
	for name, again := range map[string]func(r *rank, s device.Stream){
		"barrier": func(r *rank, _ device.Stream) { _ = r.Barrier(device.Forever) },
		"sync":    func(_ *rank, s device.Stream) { _ = s.Sync(device.Forever) },
		"query":   func(_ *rank, s device.Stream) { _, _ = s.Query() },
		"sleep":   func(r *rank, _ device.Stream) { _ = r.w.Sleep(r.n, 1) },
		"value":   func(r *rank, _ device.Stream) { _, _ = r.SignalValue(1, 0) },
		"key":     func(r *rank, _ device.Stream) { _, _ = r.x.Get("never", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
			err := w.each(func(r *rank) {
				if r.n == 1 {
					r.must(w.Sleep(1, 1000))
					w.Abort(errors.New("enough"))
					return
				}
				s := r.stream()
				r.submit(s, wait(1, 0, 1))
				for {
					again(r, s)
				}
			})
			if !errors.Is(err, device.ErrAborted) {
				t.Errorf("Run gives %v", err)
			}
		})
	}
}

// TestPolling has a rank that asks again and again for what another does in
// 20 µs, where calls cost nothing.
func TestPolling(t *testing.T) {
	for name, done := range map[string]func(r *rank, s device.Stream, e device.Event, b op.Buffer) bool{
		"query": func(_ *rank, s device.Stream, _ device.Event, _ op.Buffer) bool { return must(s.Query()) },
		"event": func(_ *rank, _ device.Stream, e device.Event, _ op.Buffer) bool { return e.Recorded() },
		"value": func(r *rank, _ device.Stream, _ device.Event, _ op.Buffer) bool {
			return must(r.SignalValue(1, 0)) == 1
		},
		"sync": func(_ *rank, s device.Stream, _ device.Event, _ op.Buffer) bool { return s.Sync(0) == nil },
		"memory": func(r *rank, _ device.Stream, _ device.Event, b op.Buffer) bool {
			var word [1]byte
			r.must(r.Read(word[:], view(b, 0)))
			return word[0] == 1
		},
		"key": func(r *rank, _ device.Stream, _ device.Event, _ op.Buffer) bool {
			return len(must(r.x.CompareAndSwap("key", []byte{5}, nil))) > 0
		},
		"clock": func(r *rank, _ device.Stream, _ device.Event, _ op.Buffer) bool { return r.Now() > 20_000 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2, RealBytes: -1})
			w.run(func(r *rank) {
				b := r.alloc(1)
				all := r.share("b", b)
				s, e := r.stream(), r.event()
				if r.n == 1 {
					r.must(w.Sleep(1, 20_000))
					r.must(r.Write(view(all[0], 0), []byte{1}))
					r.must(r.x.Set("key", []byte{1}))
					r.submit(s, signal(0, 0, 1))
					return
				}
				r.submit(s, wait(1, 0, 1), op.Op{Kind: op.EventRecord, Event: e})
				for !done(r, s, e, b) {
				}
				if now := r.Now(); now < 20_000 || now > 23_000 { // it looks once a microsecond by then

					t.Errorf("it ends at %d ns", now)
				}
			})
		})
	}
}

// TestPanic lets a body panic, and one leave its goroutine: the others are told
// to stop, and Run ends as the body has.
func TestPanic(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("oh") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
			ended, returned, fault := 0, false, make(chan any)
			go func() {
				defer func() { fault <- recover() }()
				_ = w.each(func(r *rank) {
					defer func() { ended++ }()
					if r.n == 1 {
						r.must(w.Sleep(1, 1000))
						end()
					}
					if err := r.Barrier(device.Forever); !errors.Is(err, device.ErrAborted) {
						t.Errorf("rank %d: %v", r.n, err)
					}
				})
				returned = true
			}()
			if got := <-fault; returned || name == "panic" && got != "oh" || name == "goexit" && got != nil {
				t.Errorf("Run has returned: %v, panics with %v", returned, got)
			}
			if ended != 3 {
				t.Errorf("%d ranks have ended", ended)
			}
		})
	}
}

// TestNothingLeft runs into deadlocks and aborts many times: no goroutine may
// stay behind.
func TestNothingLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 20})
		if err := w.each(func(r *rank) {
			if r.n != 7 {
				r.is(r.Barrier(device.Forever), device.ErrAborted)
			}
		}); err == nil {
			t.Fatal("no deadlock")
		}
	}
	for range 1000 { // coroutines end a little later than their bodies
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestSleepAfterAbort does not wait any more.
func TestSleepAfterAbort(t *testing.T) {
	cause := errors.New("the reason")
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		if r.n == 0 {
			w.ranks[0].Abort(cause)
			for range 3 {
				r.is(w.Sleep(0, 1000), cause)
				r.at(0)
			}
		}
	})
}
