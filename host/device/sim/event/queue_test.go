package event

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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
