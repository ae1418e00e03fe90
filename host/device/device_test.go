package device_test

import (
	"testing"

	"github.com/ccrun/ccrun/host/device"
)

func TestFirstSignal(t *testing.T) {
	type anEvent struct{ device.Event }
	event := device.Point{Event: anEvent{}}
	a, b, other := device.Point{Peer: 1, Slot: 2}, device.Point{Peer: 1, Slot: 3}, device.Point{Peer: 2, Slot: 2}
	for _, c := range []struct {
		name   string
		points []device.Point
		first  int
		alone  bool
	}{
		{"one", []device.Point{a}, 0, true},
		{"two of a peer", []device.Point{b, a}, 0, true},
		{"two peers", []device.Point{a, other}, 0, false},
		{"two peers, later", []device.Point{a, b, other, a}, 0, false},
		{"event first", []device.Point{event, other}, 1, false},
		{"event last", []device.Point{a, event}, 0, false},
	} {
		first, alone := device.FirstSignal(c.points)
		if first != &c.points[c.first] || alone != c.alone {
			t.Errorf("%s: %+v, alone %v", c.name, first, alone)
		}
	}
	for _, none := range [][]device.Point{nil, {event}} {
		if first, _ := device.FirstSignal(none); first != nil {
			t.Errorf("a signal among %d events: %+v", len(none), first)
		}
	}
}
