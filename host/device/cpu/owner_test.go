package cpu

import (
	"path/filepath"
	"testing"

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
	value := uint64(0)
	for i := range rounds {
		submit(t, s, op.Op{Kind: op.Wait, Value: value + 1})
		s.wake()
		for i%4 != 0 && s.owner.Load() == unowned {
			pause()
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
