package module

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// untilRefused makes a call until it fails and gives how often it succeeded.
func (r *testRank) untilRefused(name string, args ...uint64) (int, abi.Errno) {
	for n := 0; ; n++ {
		errno, err := r.call(name, args...)
		if err != nil {
			r.t.Fatal(err)
		}
		if errno != abi.OK || n > 10000 {
			return n, errno
		}
	}
}

// What a guest can have of each thing ends at limit, and a refusal leaves
// nothing behind.
func TestLimits(t *testing.T) {
	e := newEngine(t, proxyModule())
	world := newFakeWorld(1, true)
	r := newTestRank(t, e, Config{Size: 1, Device: world.devices[0], Exchange: newMemoryExchange(), MaxHandles: 3})
	pointer, length := r.text("x")
	collective := uint64(fuzzCollectiveAt) // zeros
	for _, c := range []struct {
		name string
		args []uint64
		want int
	}{
		{"buffer_alloc", []uint64{8, outAt}, 3},
		{"stream_create", []uint64{outAt}, 3},
		{"event_create", []uint64{outAt}, 3},
		{"mark_begin", []uint64{pointer, length, outAt}, 3},
		{"collective_begin", []uint64{collective, outAt}, maxOpenCollectives},
	} {
		if n, errno := r.untilRefused(c.name, c.args...); n != c.want || errno != abi.Limit {
			t.Errorf("%s: %d, then %v, want %d, then limit", c.name, n, errno, c.want)
		}
	}
	if d := world.devices[0]; d.used != 24 || d.streams != 3 || d.events != 3 {
		t.Errorf("device has %d bytes, %d streams, %d events", d.used, d.streams, d.events)
	}
	if _, _, errno := r.lookup(0, "unknown", 0, forever); errno != abi.Limit {
		t.Errorf("share_lookup without room for a handle: %v", errno)
	}
}

func TestDigestNamesEnd(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	s, b := r.newStream(), r.alloc(8)
	digest := func(name string) abi.Errno {
		pointer, length := r.text(name)
		errno, _ := r.call("buffer_digest", s, b, 0, 8, pointer, length, outAt)
		return errno
	}
	for n := range maxDigests {
		if errno := digest(fmt.Sprint(n)); errno != abi.OK {
			t.Fatalf("digest %d: %v", n, errno)
		}
	}
	if errno := digest("one more"); errno != abi.Limit {
		t.Errorf("one more: %v", errno)
	}
	if errno := digest("7"); errno != abi.OK {
		t.Errorf("a name again: %v", errno)
	}
	if got := r.Results(); len(got.Digests) != maxDigests || got.Digests["7"] != fmt.Sprintf("%016x%016x", r.out(), r.outAfter()) {
		t.Errorf("%d digests, %q", len(got.Digests), got.Digests["7"])
	}
}

// outAfter is the second 64-bit result.
func (r *testRank) outAfter() uint64 {
	v, _ := r.memory.ReadUint64Le(outAt + 8)
	return v
}

// Each level keeps what it says.
func TestLevels(t *testing.T) {
	for level, want := range map[flight.Level]int64{flight.LevelOff: 0, flight.LevelCollective: 2, flight.LevelSlice: 4} {
		r := newLoneRank(t, newEngine(t, proxyModule()), 1)
		r.recorder.Level = level
		s, b := r.newStream(), r.alloc(8)
		r.must("collective_begin", fuzzCollectiveAt, outAt)
		pointer, length := r.text("x")
		r.must("mark_begin", pointer, length, outAt)
		r.must("mark_end", r.out())
		r.must("copy", s, b, 0, b, 0, 4)
		r.publish("x", 0, b, 0, 8)
		r.mustLookup(0, "x", 0)
		r.must("collective_end", 1)
		if got := r.recorder.Counters().Records; got != want {
			t.Errorf("level %v: %d records, want %d", level, got, want)
		}
	}
}

// A blocked look-up shows in the flight file as the guest's wait, with a count
// of looks that grows, and is gone when it ends.
func TestLookupShowsItsWait(t *testing.T) {
	e := newEngine(t, proxyModule())
	world, exchange := newFakeWorld(2, false), newMemoryExchange()
	owner := newTestRank(t, e, Config{Rank: 1, Size: 2, Device: world.devices[1], Exchange: exchange})
	for _, timeout := range []uint64{forever, uint64(time.Hour)} {
		t.Run(fmt.Sprintf("timeout %d", int64(timeout)), func(t *testing.T) {
			peer := newTestRank(t, e, Config{Size: 2, Device: world.devices[0], Exchange: exchange})
			log, err := flight.Open(peer.path)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			done := make(chan abi.Errno)
			go func() {
				_, _, errno := peer.lookup(1, "late", timeout, timeout)
				done <- errno
			}()
			eventually(t, "the lane waits and looks", func() bool { return log.Lanes()[0].Checks >= 2 })
			lane := log.Lanes()[0]
			wait := lane.Wait
			if lane.State != flight.LaneWaiting || op.Kind(wait.Kind) != op.ShareLookup || wait.Peer != 1 || wait.Name != "late" ||
				wait.Value != timeout || wait.Limited != (timeout != forever) {
				t.Errorf("lane %+v", lane)
			}
			owner.publish("late", timeout, owner.alloc(8), 0, 8)
			if errno := <-done; errno != abi.OK {
				t.Errorf("lookup: %v", errno)
			}
			if state := log.Lanes()[0].State; state != flight.LaneBusy {
				t.Errorf("afterwards the lane is in state %d", state)
			}
		})
	}
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// Close frees what the guest has left and closes what is idle; a stream that
// still waits is the device's to end.
func TestClose(t *testing.T) {
	world, exchange := newFakeWorld(2, false), newMemoryExchange()
	r := newTestRank(t, newEngine(t, proxyModule()), Config{Size: 2, Device: world.devices[0], Exchange: exchange})
	idle, waiting := r.newStream(), r.newStream()
	b := r.alloc(64)
	joinWorld(t, exchange, 2)
	r.must("comm_world", forever, outAt)
	comm := r.out()
	r.must("copy", idle, b, 0, b, 32, 8)
	r.must("wait", waiting, 1, 0, 1)
	r.must("event_create", outAt)
	r.publish("x", 0, b, 0, 8)
	r.mustLookup(0, "x", 0)
	if err := r.Drain(time.Millisecond); !errors.Is(err, device.ErrTimeout) {
		t.Errorf("drain: %v", err)
	}
	if err := r.Instance.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if d := world.devices[0]; d.used != 0 || d.imports != 0 || d.streams != 1 || d.events != 0 || d.comms != 1 {
		t.Errorf("left: %d bytes, %d imports, %d streams, %d events, %d communicators", d.used, d.imports, d.streams, d.events, d.comms)
	}
	for name, args := range map[string][]uint64{"stream_query": {waiting, outAt}, "comm_info": {comm, outAt}, "buffer_size": {b, outAt}} {
		if errno, _ := r.call(name, args...); errno != abi.Stale {
			t.Errorf("%s after close: %v", name, errno)
		}
	}
}

// Communicators are closed if no stream has calls left.
func TestCloseOfCommunicators(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	r.newStream()
	r.must("comm_world", forever, outAt)
	if err := r.Instance.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if d := r.config.Device.(*fakeDevice); d.comms != 0 || d.streams != 0 {
		t.Errorf("left: %d communicators, %d streams", d.comms, d.streams)
	}
}

// What the guest asks in vain is counted, and only that.
func TestBadCallsAreCounted(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	r.must("world", outAt)
	for n := range int64(3) {
		if errno, _ := r.call("world", 0); errno != abi.Fault {
			t.Errorf("world: %v", errno)
		}
		if got := r.recorder.Counters().BadCalls; got != n+1 {
			t.Errorf("%d bad calls, want %d", got, n+1)
		}
	}
}
