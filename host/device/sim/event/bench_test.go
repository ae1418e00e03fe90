package event

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
)

// naive is the queue that the standard library offers. A number in Kind keeps
// the order of equal times.
type naive []Event

func (h naive) Len() int { return len(h) }
func (h naive) Less(i, j int) bool {
	return h[i].At < h[j].At || h[i].At == h[j].At && h[i].Kind < h[j].Kind
}
func (h naive) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *naive) Push(e any)   { *h = append(*h, e.(Event)) }
func (h *naive) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

const stepCount = 1 << 16

// workloads say how long after an event the one that it brings about is.
var workloads = []struct {
	name string
	step func(r *rand.Rand) int64
}{
	{"random", func(r *rand.Rand) int64 { return r.Int64N(20_000_000) }},         // up to 20 µs
	{"equal", func(r *rand.Rand) int64 { return 1_000_000 * (1 + r.Int64N(4)) }}, // thousands at one time
	{"near", func(r *rand.Rand) int64 { // mostly at once, now and then much later
		switch r.IntN(8) {
		case 0:
			return r.Int64N(1_000_000_000)
		case 1, 2, 3:
			return r.Int64N(2000)
		}
		return 0
	}},
}

func stepsOf(step func(r *rand.Rand) int64) []int64 {
	r := rand.New(rand.NewPCG(3, 4))
	steps := make([]int64, stepCount)
	for i := range steps {
		steps[i] = step(r)
	}
	return steps
}

var pendings = []int{16, 256, 4096, 65536, 1 << 20}

// BenchmarkQueue pops an event and pushes the one that it brings about, with a
// constant number of pending ones.
func BenchmarkQueue(b *testing.B) {
	for _, load := range workloads {
		steps := stepsOf(load.step)
		for _, pending := range pendings {
			b.Run(fmt.Sprintf("%s/pending=%d", load.name, pending), func(b *testing.B) {
				var q Queue
				for i := range pending {
					q.Push(Event{At: steps[i%stepCount]})
				}
				warm := 2 * pending
				for i := 0; i < warm+b.N; i++ {
					if i == warm {
						b.ReportAllocs()
						b.ResetTimer()
					}
					e, _ := q.Pop()
					e.At += steps[(i+i>>16)%stepCount]
					q.Push(e)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// BenchmarkNaive does the same with a binary heap of the standard library.
func BenchmarkNaive(b *testing.B) {
	for _, load := range workloads {
		steps := stepsOf(load.step)
		for _, pending := range pendings {
			b.Run(fmt.Sprintf("%s/pending=%d", load.name, pending), func(b *testing.B) {
				var h naive
				for i := range pending {
					heap.Push(&h, Event{At: steps[i%stepCount]})
				}
				b.ResetTimer()
				for i := range b.N {
					e := heap.Pop(&h).(Event)
					e.At += steps[(i+i>>16)%stepCount]
					e.Kind++
					heap.Push(&h, e)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}
