package guest

import (
	"errors"
	"testing"
	"time"

	"github.com/ccrun/ccrun/runner/wasm"
)

// stillTime only moves when somebody sleeps.
type stillTime struct {
	now  int64
	over error
}

func (s *stillTime) Now() int64 { return s.now }

func (s *stillTime) Sleep(nanos int64) error {
	s.now += nanos
	return s.over
}

// clockReader is a guest that reads a clock a number of times, or until it says
// more than a time.
func clockReader(until int64) *wasm.Module {
	const readingAt = 64
	read := wasm.Code(wasm.PushI32(1), wasm.PushI64(1), wasm.PushI32(readingAt), wasm.Call(0), wasm.Drop())
	return command(1, []wasm.Import{{Module: wasi, Name: "clock_time_get", Params: []wasm.ValType{wasm.I32, wasm.I64, wasm.I32}, Results: []wasm.ValType{wasm.I32}}},
		read, wasm.While(wasm.Extend(wasm.Above(wasm.PushI64(until), wasm.LoadI64(readingAt))), read))
}

// TestWatchedClockMoves has a guest wait for a time by looking at the clock.
func TestWatchedClockMoves(t *testing.T) {
	const until = monotonicNanosMin + 50_000
	clock := &stillTime{}
	exit, _, _ := run(t, clockReader(until), WASI{Time: clock})
	if exit.Err != nil || clock.now != 50_000 {
		t.Errorf("%+v at %d ns, want the end at 50000 ns", exit, clock.now)
	}
	cause := errors.New("given up")
	if exit, _, _ = run(t, clockReader(until), WASI{Time: &stillTime{over: cause}}); !errors.Is(exit.Err, cause) {
		t.Errorf("%+v, want the guest to be unwound", exit)
	}
}

// TestClockKeepsStill holds that to read a clock now and then costs nothing.
func TestClockKeepsStill(t *testing.T) {
	clock := &stillTime{now: 7}
	v := virtualTime{time: clock}
	for range sameReadingsMax {
		if got := v.nanotime(); got != monotonicNanosMin+7 {
			t.Fatalf("the clock reads %d ns", got)
		}
	}
	clock.now = 1_500_000_009
	secs, nanos := v.walltime()
	if got := time.Unix(secs, int64(nanos)).UTC().Format(time.RFC3339Nano); got != "2000-01-01T00:00:01.500000009Z" {
		t.Errorf("the date is %s", got)
	}
	if v.yield(); clock.now != 1_500_000_009 {
		t.Errorf("a yield takes time")
	}
}

// TestMemoryOfMany accounts two guests of one runtime apart.
func TestMemoryOfMany(t *testing.T) {
	_, _, r := run(t, command(1, nil), WASI{})
	small, large := r.NewMemory(), r.NewMemory()
	for pages, memory := range map[int32]*Memory{0: small, 5: large} {
		compiled, err := r.Compile(t.Context(), "g.wasm", command(1, nil, wasm.Grow(pages), wasm.Drop()).Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if exit := r.Run(t.Context(), compiled, "g.wasm", WASI{Memory: memory}); exit.Err != nil {
			t.Fatal(exit.Err)
		}
	}
	if small.PeakBytes() != pageBytes || large.PeakBytes() != 6*pageBytes || r.Memory().PeakBytes() != pageBytes {
		t.Errorf("peaks of %d, %d and %d bytes", small.PeakBytes(), large.PeakBytes(), r.Memory().PeakBytes())
	}
}

// TestManyHaveNoSources holds that stacks of very many guests name functions.
func TestManyHaveNoSources(t *testing.T) {
	r, err := NewMany(t.Context(), nil, 64*pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	compiled, err := r.Compile(t.Context(), "g.wasm", command(1, nil, wasm.Unreachable()).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	exit := r.Run(t.Context(), compiled, "g.wasm", WASI{})
	if len(exit.Stack) != 1 || exit.Stack[0].Function != "main.start" {
		t.Errorf("%+v", exit)
	}
}
