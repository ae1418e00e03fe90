package cpu

import (
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// openRecorded opens a lone rank and what the launcher reads of it.
func openRecorded(t *testing.T) (*Device, *flight.Log) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight")
	recorder, err := flight.Create(path, flight.Meta{Size: 1}, 0)
	demand(t, err)
	log, err := flight.Open(path)
	demand(t, err)
	d, err := Open(device.Config{Size: 1, Exchange: new(devicetest.Exchange), Recorder: recorder, MemoryBytes: 4 << 20})
	demand(t, err)
	t.Cleanup(func() {
		demand(t, d.Close())
		demand(t, recorder.Close())
		demand(t, log.Close())
	})
	return d.(*Device), log
}

func demand(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStreams(t *testing.T, d *Device, n int) []*stream {
	t.Helper()
	streams := make([]*stream, n)
	for i := range streams {
		s, err := d.NewStream()
		demand(t, err)
		streams[i] = s.(*stream)
	}
	return streams
}

func submit(t *testing.T, s *stream, ops ...op.Op) {
	t.Helper()
	for i := range ops {
		demand(t, s.Submit(&ops[i]))
	}
}

// TestLaneWhileOwnersChange appends to a stream at the moment at which its
// worker leaves it. A lane that has work must never look idle, or the launcher
// would see a deadlock; one that has none must not look busy, or it would see
// none.
func TestLaneWhileOwnersChange(t *testing.T) {
	d, log := openRecorded(t)
	streams := newStreams(t, d, 2)
	s, other := streams[0], streams[1]
	const rounds = 40_000
	value, deadline := uint64(0), time.Now().Add(10*time.Second) // a round is slow where the worker has to wait for a processor
	for i := 0; i < rounds && time.Now().Before(deadline); i++ {
		submit(t, s, op.Op{Kind: op.Wait, Value: value + 1})
		s.wake()
		for spins := 0; i%4 != 0 && s.owner.Load() == unowned; spins++ {
			if pause(); spins > 1000 {
				runtime.Gosched() // the worker has no processor
			}
		}
		submit(t, other, op.Op{Kind: op.Signal, Value: value + 1})
		for range i % 500 {
			s.owner.Load() // passes less time than a pause
		}
		submit(t, s, op.Op{Kind: op.Wait, Value: value + 2})
		if lane := log.Lanes()[1]; lane.State == flight.LaneIdle {
			t.Fatalf("round %d: the lane of a stream with work is idle", i)
		}
		submit(t, other, op.Op{Kind: op.Signal, Value: value + 2})
		demand(t, s.Sync(device.Forever))
		value += 2
	}
	demand(t, s.Close())
	if lane, busy := log.Lanes()[1]; busy {
		t.Errorf("the lane of a stream without work is %+v", lane)
	}
}

// TestLateWorker takes ownership of a stream again and again, as a worker does
// that comes when the guest's thread has done the work already, while that
// executes operations itself. They begin after the guest has submitted them.
func TestLateWorker(t *testing.T) {
	d, log := openRecorded(t)
	s := newStreams(t, d, 1)[0]
	b, err := d.Alloc(64)
	demand(t, err)
	var stop atomic.Bool
	var late sync.WaitGroup
	late.Go(func() {
		for !stop.Load() {
			if s.owner.CompareAndSwap(unowned, ownedByWorker) {
				_ = s.drain(never64, guestWait{}) // fails only for a guest's deadline
				s.release()
			}
		}
	})
	submitted := make([]int64, 20_000) // in the order of the records
	for i := range submitted {
		submitted[i] = d.Now()
		submit(t, s, op.Op{Kind: op.Copy, Dst: op.View{Buf: b}, Src: op.View{Buf: b, Off: 32}, Bytes: 32, Peer: -1})
		for range i % 50 {
			s.owner.Load() // passes a little time
		}
	}
	stop.Store(true)
	late.Wait()
	i := 0
	for r := range log.Records() {
		if r.Start < submitted[i] {
			t.Fatalf("operation %d began %d ns before it was submitted", i, submitted[i]-r.Start)
		}
		i++
	}
	if i != len(submitted) {
		t.Errorf("%d records of %d operations", i, len(submitted))
	}
}
