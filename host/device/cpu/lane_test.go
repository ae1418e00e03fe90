package cpu_test

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestLanes reads, as the launcher does, what a blocked rank says of itself:
// the guest waits for the stream, the stream for the signal, both keep
// looking, and both are quiet once it has come.
func TestLanes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flight")
	recorder, err := flight.Create(path, flight.Meta{Size: 1}, 0)
	must(t, err)
	d, err := cpu.Open(device.Config{Size: 1, Exchange: new(devicetest.Exchange), Recorder: recorder, MemoryBytes: 1 << 20})
	must(t, err)
	log, err := flight.Open(path)
	must(t, err)
	defer log.Close()
	blocked, err := d.NewStream()
	must(t, err)
	must(t, blocked.Submit(&op.Op{Kind: op.Wait, Slot: 9, Value: 42}))
	ended := make(chan error)
	go func() { ended <- blocked.Sync(device.Forever) }()

	first := untilLanes(t, log, func(l map[int]flight.Lane) bool {
		return l[0].State == flight.LaneWaiting && l[1].State == flight.LaneWaiting
	})
	guest, stream := first[0].Wait, first[1].Wait
	if guest.Kind != uint8(op.SyncStream) || guest.Slot != 1 || guest.Limited {
		t.Errorf("the guest's wait is %+v", guest)
	}
	if stream.Kind != uint8(op.Wait) || stream.Peer != 0 || stream.Slot != 9 || stream.Value != 42 || stream.Seen != 0 {
		t.Errorf("the stream's wait is %+v", stream)
	}
	later := untilLanes(t, log, func(l map[int]flight.Lane) bool {
		return l[0].Checks >= first[0].Checks+2 && l[1].Checks >= first[1].Checks+2
	})
	for i := range 2 {
		if later[i].Epoch != first[i].Epoch || later[i].State != flight.LaneWaiting {
			t.Errorf("lane %d moved: %+v, then %+v", i, first[i], later[i])
		}
	}
	d.Abort(errEnough)
	<-ended
	untilLanes(t, log, func(l map[int]flight.Lane) bool {
		_, busy := l[1]
		return !busy && l[0].State == flight.LaneBusy
	})
	must(t, d.Close())
	must(t, recorder.Close())
}

// untilLanes reads the lanes until they are as wanted.
func untilLanes(t *testing.T, log *flight.Log, want func(map[int]flight.Lane) bool) map[int]flight.Lane {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if lanes := log.Lanes(); want(lanes) {
			return lanes
		}
	}
	t.Fatalf("lanes are %+v", log.Lanes())
	return nil
}
