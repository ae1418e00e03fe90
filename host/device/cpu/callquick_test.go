package cpu

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

const quickBytes = 8

func quickPlaceOf(rank int, area op.Area) op.Place { return op.Place{Rank: int32(rank), Area: area} }

func quickStep(to op.Place, from ...op.Place) op.Step {
	return op.Step{Kind: op.StepMove, Bytes: quickBytes, Sources: from, Dests: []op.Place{to}}
}

// quickProgram is an all-reduce of two ranks through slots.
func quickProgram(rank int) *op.Program {
	last := quickStep(quickPlaceOf(rank, op.AreaOut), quickPlaceOf(0, op.AreaSlot), quickPlaceOf(1, op.AreaSlot))
	last.Last = true
	return &op.Program{Name: "quick", SlotBytes: quickBytes, Met: true, Steps: []op.Step{
		quickStep(quickPlaceOf(rank, op.AreaSlot), quickPlaceOf(rank, op.AreaIn)),
		{Kind: op.StepEnter, Peer: -1},
		{Kind: op.StepMeet, Peer: -1},
		last,
	}}
}

func TestQuickMeeting(t *testing.T) {
	mine, theirs := quickPlaceOf(0, op.AreaSlot), quickPlaceOf(1, op.AreaSlot)
	out, far := quickPlaceOf(0, op.AreaOut), op.Place{Area: op.AreaSlot, Off: op.SlotBytesMax}
	enter, meet := op.Step{Kind: op.StepEnter, Peer: -1}, op.Step{Kind: op.StepMeet, Peer: -1}
	back := quickProgram(0)
	back.Back = back.Steps
	for name, c := range map[string]struct {
		program *op.Program
		want    int
	}{
		"one shot":                        {quickProgram(0), 2},
		"goes back in every other call":   {back, 0},
		"nobody is met":                   {&op.Program{Steps: []op.Step{enter}}, 0},
		"met before it is entered":        {&op.Program{Steps: []op.Step{meet, enter}}, 0},
		"meets one peer":                  {&op.Program{Steps: []op.Step{enter, {Kind: op.StepMeet, Peer: 1}}}, 0},
		"meets twice":                     {&op.Program{Steps: []op.Step{enter, meet, meet}}, 0},
		"parts":                           {&op.Program{Steps: []op.Step{enter, meet, {Kind: op.StepPart, Peer: -1}}}, 0},
		"reads a slot too early":          {&op.Program{Steps: []op.Step{quickStep(out, theirs), enter, meet}}, 0},
		"writes its slot too late":        {&op.Program{Steps: []op.Step{enter, meet, quickStep(mine, theirs)}}, 0},
		"writes to a peer":                {&op.Program{Steps: []op.Step{enter, meet, quickStep(quickPlaceOf(1, op.AreaOut), mine)}}, 0},
		"reads a peer's area":             {&op.Program{Steps: []op.Step{enter, meet, quickStep(out, quickPlaceOf(1, op.AreaIn))}}, 0},
		"reads behind a slot":             {&op.Program{Steps: []op.Step{enter, meet, quickStep(out, far)}}, 0},
		"reads a rank that is not there":  {&op.Program{Steps: []op.Step{enter, meet, quickStep(out, quickPlaceOf(2, op.AreaSlot))}}, 0},
		"reads slots when all are there":  {&op.Program{Steps: []op.Step{enter, meet, quickStep(out, mine, theirs)}}, 1},
		"moves from nowhere to somewhere": {&op.Program{Steps: []op.Step{enter, meet, quickStep(out)}}, 0},
	} {
		if got := quickMeeting(c.program, 0, 2); got != c.want {
			t.Errorf("%s: meets at step %d, want %d", name, got, c.want)
		}
	}
}

// quickRank is a rank with a call that a quick program carries out: both its
// elements are 1 plus the rank's number.
type quickRank struct {
	device *Device
	stream *stream
	call   op.Call
	op     op.Op
}

func openQuick(t *testing.T) (ranks [2]*quickRank) {
	t.Helper()
	pair := openPair(t)
	comms := openComms(t, pair)
	for rank, d := range pair {
		d.opTimeout = time.Minute // this machine may be busy
		b, err := d.Alloc(2 * quickBytes)
		if err != nil {
			t.Fatal(err)
		}
		element := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(1+rank)))
		if err := d.Write(op.View{Buf: b}, append(element, element...)); err != nil {
			t.Fatal(err)
		}
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		r := &quickRank{device: d, stream: s.(*stream), call: op.Call{
			Collective: op.AllReduce, Type: op.F32, Count: 2, Bytes: quickBytes, Program: quickProgram(rank),
			In: op.View{Buf: b}, Out: op.View{Buf: b, Off: quickBytes},
		}}
		r.op = op.Op{Kind: op.CollectiveCall, Peer: -1, Comm: comms[rank], Call: &r.call}
		ranks[rank] = r
	}
	return ranks
}

// submit submits the call and reports whether it was complete at once.
func (r *quickRank) submit(t *testing.T) bool {
	t.Helper()
	if err := r.stream.Submit(&r.op); err != nil {
		t.Fatal(err)
	}
	return r.stream.empty()
}

// result is what the call left, and clears it.
func (r *quickRank) result(t *testing.T) (sum float32) {
	t.Helper()
	var out [quickBytes]byte
	if err := errors.Join(r.device.Read(out[:], r.call.Out), r.device.Write(r.call.Out, make([]byte, quickBytes))); err != nil {
		t.Fatal(err)
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(out[quickBytes/2:]))
}

// Whoever comes first has its call queued, and whoever comes second completes
// its own at once. Both take turns, past the number of places.
func TestQuickPeerIsLate(t *testing.T) {
	ranks := openQuick(t)
	for turn := range 3 * placeCount {
		first, second := ranks[turn%2], ranks[1-turn%2]
		if first.submit(t) {
			t.Fatalf("turn %d: complete without its peer", turn)
		}
		if !second.submit(t) {
			t.Errorf("turn %d: queued although its peer was there", turn)
		}
		if err := errors.Join(first.stream.Sync(time.Minute), second.stream.Sync(time.Minute)); err != nil {
			t.Fatalf("turn %d: %v", turn, err)
		}
		if a, b := first.result(t), second.result(t); a != 3 || b != 3 {
			t.Errorf("turn %d: %v and %v, want 3", turn, a, b)
		}
	}
}

// A peer that calls something else is found out by both.
func TestQuickOtherCollective(t *testing.T) {
	ranks := openQuick(t)
	ranks[1].call.Collective = op.AllGather
	for rank, r := range ranks {
		slow(r.device)
		if r.submit(t) {
			t.Errorf("rank %d: complete", rank)
		}
	}
	for rank, r := range ranks {
		if err := r.stream.Sync(time.Minute); !errors.Is(err, device.ErrMismatch) {
			t.Errorf("rank %d: %v, want a mismatch", rank, err)
		}
		if sum := r.result(t); sum != 0 {
			t.Errorf("rank %d: a result, %v", rank, sum)
		}
	}
}

// An abort ends the wait for a peer that never comes.
func TestQuickAborted(t *testing.T) {
	r := openQuick(t)[0]
	if r.submit(t) {
		t.Fatal("complete without its peer")
	}
	r.device.Abort(errors.New("enough"))
	if err := r.stream.Sync(time.Minute); !errors.Is(err, device.ErrAborted) {
		t.Errorf("sync: %v", err)
	}
	if err := r.stream.Submit(&r.op); !errors.Is(err, device.ErrAborted) {
		t.Errorf("submit: %v", err)
	}
}
