package pipeline

import "testing"

// star is rank 0's machine of a plan with so many channels of so many buckets
// each, from rank 0 to as many others.
func star(t testing.TB, channels, buckets int, l Limits) *Machine {
	var entries []Entry
	for range buckets {
		for d := range channels {
			entries = append(entries, box(0, []int32{int32(d + 1)}, 1024))
		}
	}
	p, err := Build(channels+1, entries, 0)
	if err != nil {
		t.Fatal(err)
	}
	tasks := p.Tasks(0)
	staging := make([]int64, len(tasks))
	for i := range staging {
		staging[i] = 1024
	}
	m, err := NewMachine(p, 0, tasks, staging, l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stepper tells a machine that buckets have arrived in the order in which they
// were launched, and begins again when it has ended.
type stepper struct {
	m       *Machine
	flying  []int32
	actions []Action
	now     int64
}

func (s *stepper) step() {
	e := Event{Kind: Begin}
	if len(s.flying) > 0 {
		e = Event{Kind: Arrived, Task: s.flying[0]}
		s.flying = s.flying[:copy(s.flying, s.flying[1:])]
	} else {
		s.m.Reset(s.now)
	}
	s.now += 100
	s.actions = s.m.Step(s.now, e, s.actions[:0])
	for _, a := range s.actions {
		if a.Kind == Launch {
			s.flying = append(s.flying, a.Task)
		}
	}
}

var benchLimits = map[string]Limits{
	"budget":  {MaxBytes: 16 << 10, MaxInFlight: 2, Streams: 64, Wires: 4},
	"channel": {MaxInFlight: 1, Streams: 128, Wires: 1},
	"window":  {MaxBytes: 64 << 10, MaxInFlight: 2, Streams: 64, Wires: 4, Policy: Windowed, Window: 48},
}

// TestStepDoesNotAllocate runs whole runs, resets included.
func TestStepDoesNotAllocate(t *testing.T) {
	for name, l := range benchLimits {
		s := stepper{m: star(t, 64, 8, l)}
		for range 2000 {
			s.step()
		}
		if n := testing.AllocsPerRun(2000, s.step); n != 0 {
			t.Errorf("%s: %v allocations a step", name, n)
		}
	}
}

// BenchmarkStep is a step of a rank with 64 channels.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"budget", "channel", "window"} {
		b.Run(name, func(b *testing.B) {
			s := stepper{m: star(b, 64, 64, benchLimits[name])}
			for range 10_000 {
				s.step()
			}
			b.ReportAllocs()
			for b.Loop() {
				s.step()
			}
		})
	}
}

// BenchmarkStuck is a step that looks at all tasks that it may, and finds none.
func BenchmarkStuck(b *testing.B) {
	m := star(b, 64, 64, Limits{MaxInFlight: 1, Streams: 128, Wires: 4})
	m.Step(0, Event{Kind: Begin}, nil)
	b.ReportAllocs()
	for b.Loop() {
		m.Step(1, Event{Kind: Looked}, nil)
	}
}

// BenchmarkBuild is a plan of 100,000 entries among 64 ranks.
func BenchmarkBuild(b *testing.B) {
	entries := make([]Entry, 100_000)
	for i := range entries {
		entries[i] = box(int32(i%32), []int32{int32(32 + i/32%32)}, 4096)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(64, entries, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTasks is one rank's part in it.
func BenchmarkTasks(b *testing.B) {
	entries := make([]Entry, 100_000)
	for i := range entries {
		entries[i] = box(int32(i%32), []int32{int32(32 + i/32%32)}, 4096)
	}
	p, err := Build(64, entries, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(p.Tasks(3)) == 0 {
			b.Fatal("no tasks")
		}
	}
}
