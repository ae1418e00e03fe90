package cpu_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// oneshot is an all-reduce through slots.
func oneshot(c processConfig) *op.Program {
	p := &op.Program{Name: "oneshot", SlotBytes: c.Bytes, Met: true}
	slot := op.Place{Rank: int32(c.Rank), Area: op.AreaSlot}
	in, out := slot, slot
	in.Area, out.Area = op.AreaIn, op.AreaOut
	p.Steps = []op.Step{
		{Kind: op.StepMove, Bytes: c.Bytes, Sources: []op.Place{in}, Dests: []op.Place{slot}},
		{Kind: op.StepEnter, Peer: -1},
		{Kind: op.StepMeet, Peer: -1},
		{Kind: op.StepMove, Bytes: c.Bytes, Sources: everyRank(c.Size, op.AreaSlot, 0), Dests: []op.Place{out}, Last: true},
	}
	return p
}

// direct is an all-reduce where every rank combines its share of all inputs
// and stores it to all outputs.
func direct(c processConfig) *op.Program {
	share := c.Bytes / int64(c.Size) / 4 * 4
	from, bytes := share*int64(c.Rank), share
	if c.Rank == c.Size-1 {
		bytes = c.Bytes - from
	}
	return &op.Program{Name: "direct", Met: true, Steps: []op.Step{
		{Kind: op.StepEnter, Peer: -1},
		{Kind: op.StepMeet, Peer: -1},
		{Kind: op.StepMove, Bytes: bytes, Sources: everyRank(c.Size, op.AreaIn, from), Dests: everyRank(c.Size, op.AreaOut, from), Last: true},
		{Kind: op.StepLeave, Peer: -1},
		{Kind: op.StepPart, Peer: -1},
	}}
}

func everyRank(size int, area op.Area, offset int64) (places []op.Place) {
	for rank := range size {
		places = append(places, op.Place{Rank: int32(rank), Area: area, Off: offset})
	}
	return places
}

// world makes the communicator of all ranks.
func world(c processConfig, d device.Device) (device.Comm, error) {
	ranks := make([]int, c.Size)
	for i := range ranks {
		ranks[i] = i
	}
	return d.(device.Collectives).NewComm("world", ranks, time.Minute)
}

// allReduceProgram adds up vectors over and over and returns the nanoseconds
// of one call.
func allReduceProgram(c processConfig, d device.Device, program *op.Program) (string, error) {
	comm, err := world(c, d)
	if err != nil {
		return "", err
	}
	b, err := d.Alloc(2 * c.Bytes)
	if err != nil {
		return "", err
	}
	s, err := d.NewStream()
	if err != nil {
		return "", err
	}
	call := &op.Call{
		Collective: op.AllReduce, Type: op.F32, Count: c.Bytes / 4, Bytes: c.Bytes, Program: program,
		In: op.View{Buf: b}, Out: op.View{Buf: b, Off: c.Bytes},
	}
	o := &op.Op{Kind: op.CollectiveCall, Comm: comm, Call: call, Peer: -1}
	best, start := int64(1)<<62, int64(0)
	batch := max(c.N/20, 1)
	for i := range c.N {
		if i%batch == 0 {
			now := d.Now()
			if start != 0 {
				best = min(best, now-start)
			}
			start = now
		}
		o.Term.Collective = uint32(i + 1)
		if err := s.Submit(o); err != nil {
			return "", err
		}
		if err := s.Sync(device.Forever); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(float64(best) / float64(batch)), d.Barrier(device.Forever)
}

// BenchmarkAllReduce measures ranks that are processes, with slices recorded
// and without any records.
func BenchmarkAllReduce(b *testing.B) {
	for _, size := range []int{2, 4} {
		for _, bytes := range []int64{8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20} {
			for _, level := range []flight.Level{flight.LevelOff, flight.LevelSlice} {
				c := processConfig{Program: "direct", Bytes: bytes, Level: level, N: int(min(200_000, 1<<30/bytes))}
				if bytes <= op.SlotBytesMax {
					c.Program = "oneshot"
				}
				b.Run(fmt.Sprintf("%d/%d/%s", size, bytes, level), func(b *testing.B) {
					for b.Loop() {
						nanos := 0.0
						for i, p := range startConfigured(b, size, c) {
							result, err := strconv.ParseFloat(p.finish(b), 64)
							must(b, err)
							if i == 0 {
								nanos = result
							}
						}
						b.ReportMetric(nanos, "ns/call")
					}
				})
			}
		}
	}
}

// callerProgram calls all-reduces until a peer is killed, and returns how that
// ended.
func callerProgram(c processConfig, d device.Device) (string, error) {
	c.Bytes = 1 << 20
	comm, err := world(c, d)
	if err != nil {
		return "", err
	}
	b, err := d.Alloc(2 * c.Bytes)
	if err != nil {
		return "", err
	}
	s, err := d.NewStream()
	if err != nil {
		return "", err
	}
	o := &op.Op{Kind: op.CollectiveCall, Comm: comm, Call: &op.Call{
		Collective: op.AllReduce, Type: op.F32, Count: c.Bytes / 4, Bytes: c.Bytes, Program: direct(c),
		In: op.View{Buf: b}, Out: op.View{Buf: b, Off: c.Bytes},
	}}
	for calls := 0; ; calls++ {
		if err := s.Submit(o); err != nil {
			return "", err
		}
		err := s.Sync(time.Minute)
		if calls == 100 {
			err = errors.Join(err, c.exchange.Set(fmt.Sprint("ready/", c.Rank), []byte{1}))
			go func() {
				_, _ = c.exchange.Get("killed", time.Minute) // the abort is what the launcher would do
				d.Abort(errEnough)
			}()
		}
		if err != nil {
			return fmt.Sprintf("aborted: %v", errors.Is(err, device.ErrAborted) && errors.Is(err, errEnough)), nil
		}
	}
}

// TestCallKilled kills a rank with SIGKILL in the middle of collectives. The
// others' calls end when they are told.
func TestCallKilled(t *testing.T) {
	ranks, exchange := startMixed(t, []string{"caller", "caller", "caller"}, processConfig{Level: flight.LevelSlice})
	for rank := range ranks {
		_, err := exchange.Get(fmt.Sprint("ready/", rank), time.Minute)
		must(t, err)
	}
	must(t, ranks[1].Process.Kill())
	if err := ranks[1].Wait(); err == nil {
		t.Error("the victim ended in peace")
	}
	must(t, exchange.Set("killed", []byte{1}))
	for _, rank := range []int{0, 2} {
		if got := ranks[rank].finish(t); got != "aborted: true" {
			t.Errorf("rank %d: %s", rank, got)
		}
	}
}
