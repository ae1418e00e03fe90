package cpu

import (
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// TestNothingToFail holds that operations without work are not asked about, neither
// where they are carried out at once nor where they are queued: they would be at
// one time and not at another.
func TestNothingToFail(t *testing.T) {
	d, _ := openRecorded(t)
	var asked []op.Kind
	d.Inject(func(kind op.Kind, _ int, _ int64) device.Ending {
		asked = append(asked, kind)
		return device.Ending{Fail: kind != op.Signal}
	})
	e, err := d.NewEvent()
	demand(t, err)
	s := newStreams(t, d, 1)[0]
	for value := range uint64(2) {
		rest := []op.Op{{Kind: op.Wait, Value: value}, {Kind: op.EventRecord, Event: e}, {Kind: op.EventWait, Event: e}}
		submit(t, s, rest...)
		if done, err := s.Query(); done != (value == 0) || err != nil {
			t.Fatalf("value %d: done %v, error %v", value, done, err)
		}
		if value == 1 {
			d.own.pad(0, 0).raise(1)
		}
		demand(t, s.Sync(device.Forever))
	}
	submit(t, s, op.Op{Kind: op.Signal, Value: 2})
	if len(asked) != 1 || asked[0] != op.Signal {
		t.Errorf("asked about %v", asked)
	}
}

// TestAnyIsNotHeld has an operation hang that only a wait for any would come to:
// its timeout must hold all the same.
func TestAnyIsNotHeld(t *testing.T) {
	for _, oneProcessor := range []bool{false, true} {
		d, _ := openRecorded(t)
		d.oneProcessor = oneProcessor
		d.Inject(func(kind op.Kind, _ int, _ int64) (end device.Ending) {
			if kind == op.Copy {
				end.LongerNanos = never
			}
			return end
		})
		b, err := d.Alloc(64)
		demand(t, err)
		e, err := d.NewEvent()
		demand(t, err)
		streams := newStreams(t, d, 2)
		submit(t, streams[0], op.Op{Kind: op.Wait, Value: 1}, op.Op{Kind: op.Copy, Dst: op.View{Buf: b}, Src: op.View{Buf: b, Off: 32}, Bytes: 32},
			op.Op{Kind: op.EventRecord, Event: e})
		submit(t, streams[1], op.Op{Kind: op.Signal, Value: 1})
		points := []device.Point{{Event: e}}
		soon(t, d, "its timeout", func() error {
			for _, timeout := range []time.Duration{0, 3 * time.Millisecond, 0} {
				if i, err := d.WaitAny(points, timeout); i != -1 || err != device.ErrTimeout {
					t.Errorf("point %d, error %v", i, err)
				}
			}
			return nil
		})
		d.Abort(errTold)
	}
}
