package module

import (
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
)

// The first failure that shows that ranks disagree is kept, whichever call or
// the end of the guest meets it, and whatever fails later.
func TestDesyncIsKept(t *testing.T) {
	const told = "recv on stream 1: rank 1 channel 0, 8 bytes: mismatch between ranks"
	for _, looks := range []bool{true, false} {
		t.Run(fmt.Sprintf("the guest looks: %v", looks), func(t *testing.T) {
			e, world := newEngine(t, proxyModule()), newFakeWorld(2, false)
			r := newTestRank(t, e, Config{Size: 2, Device: world.devices[0], Exchange: newMemoryExchange()})
			peer := newTestRank(t, e, Config{Rank: 1, Size: 2, Device: world.devices[1], Exchange: newMemoryExchange()})
			s, b := r.newStream(), r.alloc(8)
			r.must("recv", s, 1, b, 0, 8, 0)
			peer.must("send", peer.newStream(), 0, peer.alloc(8), 0, 4, 0)
			want := "at its end: " + told
			if looks {
				want = "stream_sync: " + told
				if errno, _ := r.call("stream_sync", s, forever); errno != abi.Failed {
					t.Errorf("stream_sync: %v", errno)
				}
			}
			if _, _, errno := r.lookup(1, "mismatch between ranks", 0, 0); errno != abi.TimedOut {
				t.Errorf("share_lookup: %v", errno)
			}
			if err := r.Drain(device.Forever); err == nil {
				t.Error("drain: no error")
			}
			if got := r.Desync(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Words that a guest chooses are no desync.
func TestDesyncIsNoWord(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 2)
	if _, _, errno := r.lookup(1, "mismatch between ranks", 0, 0); errno != abi.TimedOut {
		t.Errorf("share_lookup: %v", errno)
	}
	if got := r.Desync(); got != "" {
		t.Errorf("desync: %s", got)
	}
}
