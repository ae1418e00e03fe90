package event

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// sorted is the oracle: a list that is sorted again after each push.
type sorted struct {
	now    int64
	events []Event
}

func (s *sorted) push(e Event) {
	e.At = max(e.At, s.now)
	s.events = append(s.events, e)
	slices.SortStableFunc(s.events, func(a, b Event) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
}

func (s *sorted) pop() (e Event, ok bool) {
	if len(s.events) == 0 {
		return Event{}, false
	}
	e, s.events = s.events[0], s.events[1:]
	s.now = e.At
	return e, true
}

// twin does everything on a queue and on the oracle.
type twin struct {
	queue  Queue
	oracle sorted
	pushed uint32
}

func (w *twin) push(at int64) {
	e := Event{At: at, Target: w.pushed, Kind: w.pushed % 7}
	w.pushed++
	w.queue.Push(e)
	w.oracle.push(e)
}

func (w *twin) pop(t *testing.T) {
	t.Helper()
	if len(w.oracle.events) > 0 {
		if at, ok := w.queue.Peek(); !ok || at != w.oracle.events[0].At {
			t.Fatalf("Peek: %d, %v; want %d", at, ok, w.oracle.events[0].At)
		}
	} else if at, ok := w.queue.Peek(); ok {
		t.Fatalf("Peek of an empty queue: %d", at)
	}
	want, some := w.oracle.pop()
	if got, ok := w.queue.Pop(); got != want || ok != some {
		t.Fatalf("Pop: %+v, %v; want %+v, %v", got, ok, want, some)
	}
	if w.queue.Len() != len(w.oracle.events) {
		t.Fatalf("Len: %d, want %d", w.queue.Len(), len(w.oracle.events))
	}
}

func (w *twin) drain(t *testing.T) {
	t.Helper()
	for len(w.oracle.events) > 0 {
		w.pop(t)
	}
	w.pop(t) // nothing
}

// TestOrder pops in the order of the oracle, whatever the distances in time are.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		next func(r *rand.Rand, now int64) int64
	}{
		{"at once", func(_ *rand.Rand, now int64) int64 { return now }},
		{"few times", func(r *rand.Rand, now int64) int64 { return now + r.Int64N(3) }},
		{"near", func(r *rand.Rand, now int64) int64 { return now + r.Int64N(100) }},
		{"any digit", func(r *rand.Rand, now int64) int64 { return now + r.Int64N(1<<(1+r.IntN(50))) }},
		{"round", func(r *rand.Rand, now int64) int64 { return (now + r.Int64N(1<<20)) &^ (1<<12 - 1) }},
		{"past", func(r *rand.Rand, now int64) int64 { return now - 5 + r.Int64N(10) }},
		{"far", func(r *rand.Rand, now int64) int64 { return max(now, math.MaxInt64-r.Int64N(4)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var w twin
			for range 2000 {
				if r.IntN(5) < 3 {
					w.push(c.next(r, w.oracle.now))
				} else {
					w.pop(t)
				}
			}
			w.drain(t)
		})
	}
}

// TestTimesNeverGoBack: what is pushed into the past happens now, after what is
// there already.
func TestTimesNeverGoBack(t *testing.T) {
	var q Queue
	q.Push(Event{At: -5, Target: 1})
	q.Push(Event{At: 100, Target: 2})
	q.Push(Event{At: 0, Target: 3})
	for _, want := range []Event{{At: 0, Target: 1}, {At: 0, Target: 3}, {At: 100, Target: 2}} {
		if got, _ := q.Pop(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	q.Push(Event{At: 100, Target: 4})
	q.Push(Event{At: 99, Target: 5})
	for _, want := range []Event{{At: 100, Target: 4}, {At: 100, Target: 5}} {
		if got, _ := q.Pop(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestPeekBindsNothing: after a look at a late event an earlier one may come.
func TestPeekBindsNothing(t *testing.T) {
	var q Queue
	q.Push(Event{At: 1 << 40})
	q.Push(Event{At: 1<<40 + 1})
	if at, ok := q.Peek(); at != 1<<40 || !ok {
		t.Errorf("Peek: %d, %v", at, ok)
	}
	q.Push(Event{At: 3})
	if e, _ := q.Pop(); e.At != 3 {
		t.Errorf("Pop: %d, want 3", e.At)
	}
}

// TestPoolIsBounded: however long the queue runs and whichever levels its events
// pass, it holds room for those that are pending and a little per bucket, and
// allocates nothing in the end.
func TestPoolIsBounded(t *testing.T) {
	const pending = 2000
	r := rand.New(rand.NewPCG(6, 6))
	var q Queue
	for range pending {
		q.Push(Event{})
	}
	run := func() {
		for range 20 * pending {
			e, _ := q.Pop()
			e.At += r.Int64N(1 << (1 + r.IntN(44)))
			q.Push(e)
		}
	}
	for range 10 {
		run()
	}
	if most := pending/chunkEvents + 2*levels*digits; len(q.chunks) > most {
		t.Errorf("%d chunks for %d events, want at most %d", len(q.chunks), pending, most)
	}
	for range 50 {
		for q.Len() > 0 {
			q.Pop()
		}
		for range pending {
			q.Push(Event{})
		}
	}
	held := len(q.chunks)
	if most := pending/chunkEvents + 2*levels*digits; held > most {
		t.Errorf("%d chunks for %d events of one time, want at most %d", held, pending, most)
	}
	for range 10 {
		run()
	}
	if len(q.chunks) > held+held/10 {
		t.Errorf("the pool grew from %d to %d chunks", held, len(q.chunks))
	}
	steady := func() {
		for range pending {
			e, _ := q.Pop()
			e.At += 1000 + int64(e.Target)
			q.Push(e)
		}
	}
	steady()
	if allocs := testing.AllocsPerRun(10, steady); allocs != 0 {
		t.Errorf("%g allocations per %d events", allocs, pending)
	}
}

// TestSizes: an event is two words, a chunk four cache lines, and a queue that
// holds little is little.
func TestSizes(t *testing.T) {
	if size := unsafe.Sizeof(Event{}); size != 16 {
		t.Errorf("an event has %d bytes", size)
	}
	if size := unsafe.Sizeof(chunk{}); size != 256 {
		t.Errorf("a chunk has %d bytes", size)
	}
	if size := unsafe.Sizeof(Queue{}); size > 32<<10 {
		t.Errorf("a queue has %d bytes", size)
	}
}

// FuzzQueue reads a program: each three bytes push an event so much after the
// last popped one, or pop.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 0, 0, 1, 0, 0, 255, 255, 255, 1, 40, 7})
	f.Add([]byte{9, 9, 200, 9, 9, 10, 9, 9, 255, 8, 1, 60, 1, 0, 255})
	f.Fuzz(func(t *testing.T, program []byte) {
		var w twin
		for ; len(program) >= 3 && w.pushed < 500; program = program[3:] {
			if program[2] >= 160 {
				w.pop(t)
				continue
			}
			distance := int64(binary.LittleEndian.Uint16(program)) << (program[2] % 48)
			if at := w.oracle.now + distance; at >= 0 {
				w.push(at)
			} else {
				w.push(math.MaxInt64)
			}
		}
		w.drain(t)
	})
}
