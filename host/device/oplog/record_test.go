package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/device/fault"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestARecorderIsADeviceLikeOthers runs the conformance suite around the cpu
// device.
func TestARecorderIsADeviceLikeOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("the cpu device runs it, too")
	}
	devicetest.Run(t, func(c device.Config) (device.Device, error) {
		d, err := cpu.Open(c)
		if err != nil {
			return nil, err
		}
		return Record(d, Options{Rank: c.Rank, Ranks: c.Size, Out: &bytes.Buffer{}}).Wrapped(), nil
	})
}

// grudging is a device whose waits end otherwise than well.
type grudging struct {
	*Sketch
	err error
}

type grudgingStream struct {
	sketchStream
	device *grudging
}

func (g *grudging) NewStream() (device.Stream, error) {
	return &grudgingStream{sketchStream{g.Sketch}, g}, nil
}
func (g *grudging) Barrier(time.Duration) error         { return g.err }
func (s *grudgingStream) Sync(time.Duration) error      { return s.device.err }
func (s *grudgingStream) Query() (done bool, err error) { return s.device.err == nil, nil }

// TestWhatIsWritten shows which calls leave a line: those that did something,
// and the one in which the run was given up, at once.
func TestWhatIsWritten(t *testing.T) {
	var out bytes.Buffer
	g, function := &grudging{Sketch: NewSketch(1, 4)}, "main.main"
	r := Record(g, Options{Rank: 1, Ranks: 4, Out: &out, Function: func() string { return function }})
	d := r.Wrapped()
	b, _ := d.Alloc(64)
	s, _ := d.NewStream()
	e, _ := d.NewEvent()
	_, refused := d.Alloc(-1)
	late := fmt.Errorf("late: %w", device.ErrTimeout)
	o := op.Op{Kind: op.EventRecord, Event: e}
	errs := errors.Join(
		d.Read(nil, op.View{Buf: b}), // only asks whether the buffer is there
		s.Sync(0),                    // each costs time
		s.Submit(&o),
	)
	if o.Event != e {
		t.Error("the caller's operation was changed")
	}
	g.err = late
	_, queried := s.Query()
	waits := []error{s.Sync(0), d.Barrier(0)}
	g.err = nil
	for range 2 { // what the log knows already is not written again
		_, _ = s.Query()
		_ = e.Recorded()
	}
	errs = errors.Join(errs, queried, e.Sync(0))
	function = ""
	for range 2 {
		_, _ = d.SignalValue(2, 3)
	}
	wait := op.Op{Kind: op.Wait, Peer: 2, Slot: 3, Value: 9}
	errs = errors.Join(errs, s.Submit(&wait))
	for range 2 {
		_, _ = d.SignalValue(2, 3)
	}
	r.MarkBegun(77, "first")
	r.MarkBegun(78, "second")
	r.MarkEnded(77)
	r.MarkEnded(99) // nobody's
	r.MarkBegun(79, "third")
	r.CollectiveBegun(&flight.Record{Collective: 3, Red: uint8(op.AllGather), Type: uint8(op.F32), Chunk: 4, Aux: 1 << 31}, "ring")
	r.CollectiveEnded(3)
	if out.Len() != 0 {
		t.Error("written before there was much of it")
	}
	g.err = device.ErrAborted
	waits = append(waits, s.Sync(0))
	if errs != nil || refused == nil || !errors.Is(waits[0], device.ErrTimeout) || !errors.Is(waits[1], device.ErrTimeout) || !errors.Is(waits[2], device.ErrAborted) {
		t.Error(errs, refused, waits)
	}
	const want = `rank 1
alloc b1 64 @"main.main"
stream s1 @"main.main"
event e1 @"main.main"
sync s1 @"main.main"
event_record s1 e1 @"main.main"
barrier_late @"main.main"
sync s1 @"main.main"
event_sync e1 @"main.main"
wait s1 r2 slot 3 >= 9
seen r2 slot 3 >= 9
mark m1 "first"
mark m2 "second"
mark_end m1
mark m1 "third"
collective c3 all_gather f32 sum 0 slice 0 ranks 4 group 0 "ring" warmup
collective_end c3
sync s1
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s", difference(got, want))
	}
	if _, err := Parse(strings.NewReader(string(AppendHead(nil, "cpu", 4))+want), nil); err != nil {
		t.Error(err)
	}
}

// TestBoxesAreWritten shows that distances which do not count, and whatever is
// empty, are written in a way that can be read.
func TestBoxesAreWritten(t *testing.T) {
	var out bytes.Buffer
	r := Record(NewSketch(0, 1), Options{Ranks: 1, Out: &out})
	b, _ := r.Alloc(64)
	s, _ := r.NewStream()
	shapes := []op.BoxShape{
		{Planes: 2, Rows: 3, RowBytes: 4, DstRow: 4, DstPlane: 12, SrcRow: 10, SrcPlane: 2},
		{Planes: 1, Rows: 3, RowBytes: 4, DstRow: 4, DstPlane: -1, SrcRow: 10, SrcPlane: 1 << 62},
		{Planes: 3, Rows: 1, RowBytes: 4, DstRow: 1 << 62, DstPlane: 4, SrcRow: -1, SrcPlane: 10},
		{Planes: 1 << 62, Rows: 0, RowBytes: 4, DstPlane: -1, SrcRow: -1},
	}
	for _, kind := range []op.Kind{op.CopyBox, op.GetBox} {
		for _, shape := range shapes {
			o := op.Op{Kind: kind, Peer: -1, Dst: op.View{Buf: b, Off: 40}, Src: op.View{Buf: b, Off: 2}, Bytes: shape.Bytes(), Box: &shape}
			if err := s.Submit(&o); err != nil {
				t.Error(err)
			}
		}
	}
	const want = `rank 0
alloc b1 64
stream s1
copy_box s1 b1+40 by 4 12 <- b1+2 by 10 2 of 2 3 4
copy_box s1 b1+40 by 4 0 <- b1+2 by 10 0 of 1 3 4
copy_box s1 b1+40 by 0 4 <- b1+2 by 0 10 of 3 1 4
copy_box s1 b1+40 by 0 0 <- b1+2 by 0 0 of 0 0 0
get_box s1 b1+40 by 4 12 <- b1+2 by 10 2 of 2 3 4
get_box s1 b1+40 by 4 0 <- b1+2 by 10 0 of 1 3 4
get_box s1 b1+40 by 0 4 <- b1+2 by 0 10 of 3 1 4
get_box s1 b1+40 by 0 0 <- b1+2 by 0 0 of 0 0 0
end
`
	if err := r.End(); err != nil {
		t.Error(err)
	}
	if got := out.String(); got != want {
		t.Errorf("got\n%s", difference(got, want))
	}
	if _, err := Parse(strings.NewReader(string(AppendHead(nil, "cpu", 1))+want), nil); err != nil {
		t.Error(err)
	}
}

// TestNothingIsWrittenBehindTheEnd shows that what others ask after the guest is
// not its doing.
func TestNothingIsWrittenBehindTheEnd(t *testing.T) {
	var out bytes.Buffer
	r := Record(NewSketch(0, 1), Options{Ranks: 1, Out: &out})
	b, _ := r.Alloc(8)
	if err := errors.Join(r.End(), r.End(), r.Free(b), r.Close()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "rank 0\nalloc b1 8\nend\n" {
		t.Errorf("got %q", got)
	}
}

// full is an output that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestErrorsOfTheOutputAreTold shows that they do not disturb the guest, and are
// not lost.
func TestErrorsOfTheOutputAreTold(t *testing.T) {
	r := Record(NewSketch(0, 1), Options{Ranks: 1, Out: full{}})
	for range 10_000 {
		if _, err := r.Alloc(8); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.End(); err == nil || err.Error() != "disk full" {
		t.Errorf("got %v", err)
	}
}

// TestFaultsPassThrough shows that a recorder has faults in its operations if
// the device underneath can have them.
func TestFaultsPassThrough(t *testing.T) {
	faults, err := fault.Parse("delay=0:3x")
	if err != nil {
		t.Fatal(err)
	}
	devices, _, _ := cpuWorld(t, 1)
	if _, err := fault.Wrap(Record(devices[0], Options{Ranks: 1}).Wrapped(), fault.Config{Faults: faults}); err != nil {
		t.Error(err)
	}
	if _, err := fault.Wrap(Record(NewSketch(0, 1), Options{Ranks: 1}).Wrapped(), fault.Config{Faults: faults}); !errors.Is(err, device.ErrMissing) {
		t.Errorf("a device without: %v", err)
	}
}

// picky is a device whose waits for any of many find what it is told to.
type picky struct {
	*Sketch
	found int
	err   error
	asked []device.Point
}

func (p *picky) WaitAny(points []device.Point, _ time.Duration) (int, error) {
	p.asked = append(p.asked[:0], points...)
	return p.found, p.err
}

// TestWhatWasFoundIsWritten shows that a wait for any of many is in the log as
// a wait for what it has found, so that a replay finds the same, and that the
// device underneath is asked for its own events.
func TestWhatWasFoundIsWritten(t *testing.T) {
	var out bytes.Buffer
	inner := &picky{Sketch: NewSketch(1, 4)}
	r := Record(inner, Options{Rank: 1, Ranks: 4, Out: &out})
	s, _ := r.NewStream()
	var points []device.Point
	for range 2 {
		e, _ := r.NewEvent()
		if err := s.Submit(&op.Op{Kind: op.EventRecord, Event: e}); err != nil {
			t.Fatal(err)
		}
		points = append(points, device.Point{Event: e})
	}
	points = append(points, device.Point{Peer: 2, Slot: 3, Value: 4}, device.Point{Peer: 2, Slot: 3, Value: 6})
	for _, c := range []struct {
		found int
		err   error
	}{{1, nil}, {1, nil}, {3, nil}, {2, nil}, {-1, device.ErrTimeout}, {-1, device.ErrAborted}} {
		inner.found, inner.err = c.found, c.err
		if i, err := r.WaitAny(points, device.Forever); i != c.found || err != c.err {
			t.Errorf("point %d, error %v, want %+v", i, err, c)
		}
	}
	if _, err := r.WaitAny(nil, device.Forever); err != device.ErrAborted { // waits for nothing
		t.Error(err)
	}
	if len(inner.asked) != 0 {
		t.Error(inner.asked)
	}
	inner.err = nil
	_, _ = r.WaitAny(points, 0)
	if _, own := inner.asked[0].Event.(*sketchEvent); !own || inner.asked[3] != points[3] || points[0].Event == inner.asked[0].Event {
		t.Errorf("asked for %+v", inner.asked)
	}
	const want = `rank 1
stream s1
event e1
event_record s1 e1
event e2
event_record s1 e2
event_sync e2
seen r2 slot 3 >= 6
event_sync e1
`
	if err := r.Flush(); err != nil || out.String() != want {
		t.Errorf("%v, got\n%s", err, difference(out.String(), want))
	}
}

// TestSketchOfAny shows what comes for who is alone: events at once, and what
// peers raise when nothing else does.
func TestSketchOfAny(t *testing.T) {
	s := NewSketch(0, 2)
	e, _ := s.NewEvent()
	raised := device.Point{Peer: 1, Slot: 5, Value: 3}
	for i, c := range []struct {
		points  []device.Point
		timeout time.Duration
		want    int
		err     error
	}{
		{[]device.Point{raised}, 0, -1, device.ErrTimeout},
		{nil, time.Second, -1, device.ErrTimeout},
		{[]device.Point{raised, {Event: e}}, 0, 1, nil},
		{[]device.Point{{Peer: 2}}, 0, -1, device.ErrPeer},
		{[]device.Point{{Peer: 1, Slot: sketchSlots}}, 0, -1, device.ErrSlot},
		{[]device.Point{raised, {Peer: 1, Slot: 6, Value: 1}}, device.Forever, 0, nil},
		{[]device.Point{{Peer: 1, Slot: 6, Value: 1}, raised}, 0, 1, nil},
	} {
		if got, err := s.WaitAny(c.points, c.timeout); got != c.want || err != c.err {
			t.Errorf("%d: point %d, error %v, want %d, %v", i, got, err, c.want, c.err)
		}
	}
	for range looksMax + 1 {
		if _, err := s.WaitAny([]device.Point{{Peer: 1, Slot: 7, Value: 1}}, 0); errors.Is(err, device.ErrMissing) {
			return
		}
	}
	t.Error("looking for what never comes goes on for ever")
}
