package fault_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// devices opens a pair of ranks of each device: of processes, and simulated with
// real bytes on GPUs and on cores.
func devices(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("cpu", func(t *testing.T) { test(t, cpu.Open) })
	for _, name := range []string{"h100", "cpu"} {
		t.Run("sim:"+name, func(t *testing.T) { test(t, simulated(t, name, -1)) })
	}
}

// simulated opens ranks of a new cluster for each rank 0.
func simulated(t *testing.T, name string, realBytes int64) opener {
	var cluster *sim.Cluster
	return func(c device.Config) (device.Device, error) {
		if c.Rank == 0 {
			p, err := preset.Find(name)
			must(t, err)
			cluster, err = sim.New(sim.Options{Preset: p, Ranks: c.Size, RealBytes: realBytes})
			must(t, err)
		}
		return cluster.Open(c)
	}
}

// place is one of the places that a rank's own buffer or its peer's has.
func place(b op.Buffer, i int64) op.View { return op.View{Buf: b, Off: i * bytes} }

// delivery is an operation that fills a place with the bytes of a rank.
type delivery struct {
	kind op.Kind
	to   int64 // place
	of   int   // whose bytes it brings: 0 own, 1 the peer's
}

// delivered are the kinds that move or combine bytes, in order.
var delivered = []delivery{
	{op.Copy, 1, 0}, {op.Get, 2, 1}, {op.Put, 3, 1}, {op.Recv, 4, 1}, {op.Reduce, 5, 0}, {op.CopyBox, 6, 0}, {op.Get, 7, 1},
	{op.GetBox, 8, 1},
}

// operation makes the operation of a delivery.
func (d delivery) operation(r *rank) op.Op {
	o := op.Op{Kind: d.kind, Type: op.U8, Red: op.Max, Peer: int32(1 - r.number), Bytes: bytes, Dst: place(r.own, d.to), Src: place(r.own, 0)}
	switch d.kind {
	case op.Get, op.GetBox:
		o.Src = place(r.peer, 0)
	case op.Put:
		o.Dst = place(r.peer, d.to)
	case op.Reduce:
		o.Sources[0], o.Sources[1], o.SourceCount = place(r.own, 0), place(r.own, 0), 2
	}
	if d.kind.Boxed() {
		o.Box = &op.BoxShape{Planes: 1, Rows: 4, RowBytes: bytes / 4, DstRow: bytes / 4, SrcRow: bytes / 4}
	}
	return o
}

// deliver submits operations until one fails, and then says which and why: an
// operation that was accepted may fail later, and fails what follows it.
func deliver(r *rank) string {
	peer := int32(1 - r.number)
	each := []op.Op{
		{Kind: op.Fill, Type: op.U8, Bytes: bytes, Dst: place(r.own, 0), Value: uint64(r.number)},
		{Kind: op.Signal, Peer: peer, Value: 1},
		{Kind: op.Wait, Peer: peer, Value: 1},
	}
	for _, d := range delivered {
		if d.kind == op.Recv {
			each = append(each, op.Op{Kind: op.Send, Peer: peer, Bytes: bytes, Src: place(r.own, 0)})
		}
		each = append(each, d.operation(r))
	}
	for _, o := range append(each, op.Op{Kind: op.Signal, Peer: peer, Value: 2}, op.Op{Kind: op.Wait, Peer: peer, Value: 2}) {
		if err := r.stream.Submit(&o); err != nil {
			return err.Error()
		}
	}
	if err := r.stream.Sync(patience); err != nil {
		return err.Error()
	}
	return ""
}

// wrong lists the deliveries of which bytes are wrong, how many and where the
// first one is.
func wrong(t *testing.T, r *rank) string {
	var found []string
	for _, d := range delivered {
		whose := uint64((r.number + d.of) % 2)
		var result op.Result
		o := op.Op{Kind: op.Verify, Type: op.U8, Bytes: bytes, Dst: place(r.own, d.to), Value: whose, Result: &result}
		if err := errors.Join(r.stream.Submit(&o), r.stream.Sync(patience)); err != nil {
			t.Error(err)
		}
		if result.Mismatches > 0 {
			found = append(found, fmt.Sprintf("%v:%d@%d", d.kind, result.Mismatches, result.FirstBad))
		}
	}
	return strings.Join(found, " ")
}

// TestCorrupt holds that exactly the bytes that were asked for are wrong, on every
// device the same, and that nothing fails.
func TestCorrupt(t *testing.T) {
	for _, c := range []struct {
		fault string
		want  [2]string // at each rank
	}{
		{"corrupt=0", [2]string{"copy:1@0 get:1@0 recv:1@0 reduce:1@0 copy_box:1@0 get:1@0 get_box:1@0", "put:1@0"}},
		{"corrupt=1,kind=recv", [2]string{"", "recv:1@0"}},
		{"corrupt=1@2,kind=get", [2]string{"", "get:1@0"}},
		{"corrupt=*,kind=put", [2]string{"put:1@0", "put:1@0"}},
		{"corrupt=*@6", [2]string{"copy_box:1@0", "copy_box:1@0"}},
		{"corrupt=0,peer=1;corrupt=0,kind=copy", [2]string{"copy:1@0 get:1@0 recv:1@0 get:1@0 get_box:1@0", "put:1@0"}},
		{"corrupt=1,kind=fill", [2]string{"get:1@0 put:1@0 recv:1@0 get:1@0 get_box:1@0", "copy:1@0 reduce:1@0 copy_box:1@0"}}, // at its source
	} {
		devices(t, func(t *testing.T, open opener) {
			pairOf(t, open, c.fault, func(t *testing.T, r *rank) {
				if failed := deliver(r); failed != "" {
					t.Errorf("%s: rank %d fails: %s", c.fault, r.number, failed)
				}
				if got := wrong(t, r); got != c.want[r.number] {
					t.Errorf("%s: rank %d gets %q wrong, want %q", c.fault, r.number, got, c.want[r.number])
				}
			})
		})
	}
}

// TestCorruptPhantom holds that buffers without bytes are left alone, and those
// that hold some are not.
func TestCorruptPhantom(t *testing.T) {
	pairOf(t, simulated(t, "h100", 0), "corrupt=*", func(t *testing.T, r *rank) {
		if failed := deliver(r); failed != "" {
			t.Errorf("rank %d fails: %s", r.number, failed)
		}
		if got := wrong(t, r); got != "" {
			t.Errorf("rank %d gets %q wrong, of no bytes", r.number, got)
		}
	})
}

// TestFail holds that an operation that is made to fail fails its stream for good,
// that whoever sends what is not received is told, and nobody else is.
func TestFail(t *testing.T) {
	const at, there = "injected fault", "injected fault at the other end"
	for _, c := range []struct {
		fault string
		want  [2]string
	}{
		{"fail=0,kind=recv", [2]string{
			"recv on stream 1: rank 1 channel 0, 64 bytes: " + at, "send on stream 1: rank 0 channel 0, 64 bytes: " + there}},
		{"fail=1,kind=recv,peer=0", [2]string{
			"send on stream 1: rank 1 channel 0, 64 bytes: " + there, "recv on stream 1: rank 0 channel 0, 64 bytes: " + at}},
		{"fail=*,kind=copy", [2]string{"copy of 64 bytes on stream 1: " + at, "copy of 64 bytes on stream 1: " + at}},
		{"fail=*@3", [2]string{"put of 64 bytes on stream 1: " + at, "put of 64 bytes on stream 1: " + at}},
		{"fail=*,kind=reduce", [2]string{"reduce of 64 bytes on stream 1: " + at, "reduce of 64 bytes on stream 1: " + at}},
		{"fail=*,kind=copy_box", [2]string{"copy_box of 64 bytes on stream 1: " + at, "copy_box of 64 bytes on stream 1: " + at}},
		{"fail=*,kind=get_box,nth=1", [2]string{"get_box of 64 bytes on stream 1: " + at, "get_box of 64 bytes on stream 1: " + at}},
		{"fail=*;corrupt=*,kind=get", [2]string{"copy of 64 bytes on stream 1: " + at, "copy of 64 bytes on stream 1: " + at}},
	} {
		devices(t, func(t *testing.T, open opener) {
			pairOf(t, open, c.fault, func(t *testing.T, r *rank) {
				if got := deliver(r); got != c.want[r.number] {
					t.Errorf("%s: rank %d: %q, want %q", c.fault, r.number, got, c.want[r.number])
				}
				err := r.stream.Submit(&op.Op{Kind: op.Signal, Peer: int32(r.number), Value: 1})
				if !errors.Is(err, device.ErrFault) {
					t.Errorf("%s: rank %d: the stream accepts more: %v", c.fault, r.number, err)
				}
			})
		})
	}
}

// calling has each rank take the bytes of its peer in a collective.
func calling(r *rank) error { return callingOf(r, fetch(r.number)) }

// callingOf does so in a program of its own.
func callingOf(r *rank, p *op.Program) error {
	call := &op.Call{
		Collective: op.AllGather, Type: op.U8, Count: bytes, Bytes: 2 * bytes,
		In: place(r.own, 0), Out: place(r.own, 1), Program: p,
	}
	for _, o := range []op.Op{
		{Kind: op.Fill, Type: op.U8, Bytes: bytes, Dst: place(r.own, 0), Value: uint64(r.number)},
		{Kind: op.CollectiveCall, Comm: r.comm, Call: call, Term: op.Term{Collective: 1}},
	} {
		if err := r.stream.Submit(&o); err != nil {
			return err
		}
	}
	return r.stream.Sync(patience)
}

// timed are the devices on which the steps of a collective are operations.
func timed(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("cpu", func(t *testing.T) { test(t, cpu.Open) })
	t.Run("sim:cpu", func(t *testing.T) { test(t, simulated(t, "cpu", -1)) })
}

// exchange is a collective that copies the rank's input to the first part of its
// output, puts it into the second part of the peer's, gets the peer's into the
// third and reduces both, to the larger, into the fourth.
func exchange(rank int) *op.Program {
	in := func(r int) op.Place { return op.Place{Rank: int32(r), Area: op.AreaIn} }
	out := func(r int, i int64) []op.Place { return []op.Place{{Rank: int32(r), Area: op.AreaOut, Off: i * bytes}} }
	move := func(to []op.Place, from ...op.Place) op.Step {
		return op.Step{Kind: op.StepMove, Bytes: bytes, Sources: from, Dests: to}
	}
	return &op.Program{Name: "exchange", Met: true, Steps: []op.Step{
		move(out(rank, 0), in(rank)),
		{Kind: op.StepEnter, Peer: -1},
		{Kind: op.StepMeet, Peer: -1},
		move(out(1-rank, 1), in(rank)),
		move(out(rank, 2), in(1-rank)),
		move(out(rank, 3), in(rank), in(1-rank)),
		{Kind: op.StepLeave, Peer: -1},
		{Kind: op.StepPart, Peer: -1},
	}}
}

// exchanging carries that out, of 4 and 7 everywhere.
func exchanging(r *rank) error {
	call := &op.Call{
		Collective: op.Custom, Type: op.U8, Red: op.Max, Count: bytes, Bytes: 4 * bytes,
		In: place(r.own, 0), Out: place(r.own, 1), Program: exchange(r.number),
	}
	if err := r.Write(place(r.own, 0), slices.Repeat([]byte{byte(4 + 3*r.number)}, bytes)); err != nil {
		return err
	}
	if err := r.stream.Submit(&op.Op{Kind: op.CollectiveCall, Comm: r.comm, Call: call, Term: op.Term{Collective: 1}}); err != nil {
		return err
	}
	return r.stream.Sync(patience)
}

// TestCorruptCalls holds that a step of a collective can be wrong too, on every
// device the same one.
func TestCorruptCalls(t *testing.T) {
	for _, c := range []struct {
		fault string
		want  [2]string // steps that are wrong, at each rank
	}{
		{"corrupt=1,kind=copy", [2]string{"", "copy"}},
		{"corrupt=1,kind=put", [2]string{"put", ""}},
		{"corrupt=1,kind=get", [2]string{"", "get"}},
		{"corrupt=1,kind=reduce", [2]string{"", "reduce"}},
		{"corrupt=1,peer=0", [2]string{"put", "get reduce"}},
		{"corrupt=1,peer=1", [2]string{"", ""}},
		{"corrupt=*@2", [2]string{"put", "put"}},
	} {
		timed(t, func(t *testing.T, open opener) {
			pairOf(t, open, c.fault, func(t *testing.T, r *rank) {
				must(t, exchanging(r))
				must(t, r.Barrier(patience))
				got := make([]byte, 4*bytes)
				must(t, r.Read(got, place(r.own, 1)))
				own, peer := byte(4+3*r.number), byte(7-3*r.number)
				var wrong []string
				for i, right := range []byte{own, peer, peer, 7} {
					switch first := got[i*bytes]; {
					case first == ^right:
						wrong = append(wrong, []string{"copy", "put", "get", "reduce"}[i])
					case first != right:
						t.Errorf("%s: rank %d: byte %d in step %d", c.fault, r.number, first, i)
					}
				}
				if w := strings.Join(wrong, " "); w != c.want[r.number] {
					t.Errorf("%s: rank %d gets %q wrong, want %q", c.fault, r.number, w, c.want[r.number])
				}
			})
		})
	}
}

// TestFailCalls holds that a step that fails fails the call, of that rank only:
// the others wait for it, until the run is given up.
func TestFailCalls(t *testing.T) {
	for _, c := range []struct {
		fault string
		call  func(r *rank) error
	}{
		{"fail=1,kind=get", calling}, {"fail=1,kind=get,peer=0", calling}, {"fail=1,kind=put", exchanging}, {"fail=1,kind=copy", exchanging},
		{"fail=1,kind=reduce,peer=0", exchanging},
	} {
		timed(t, func(t *testing.T, open opener) { failCalls(t, open, c.fault, c.call) })
	}
}

func failCalls(t *testing.T, open opener, fault string, calling func(r *rank) error) {
	failed := make(chan struct{})
	pairOf(t, open, fault, func(t *testing.T, r *rank) {
		if r.number == 1 {
			defer close(failed)
			if err := calling(r); !errors.Is(err, device.ErrFault) || err.Error() != "call on stream 1: injected fault" {
				t.Errorf("%s: rank 1: %v", fault, err)
			}
			return
		}
		go func() {
			<-failed
			r.Abort(nil)
		}()
		if err := calling(r); !errors.Is(err, device.ErrAborted) {
			t.Errorf("%s: rank 0: %v", fault, err)
		}
	})
}

// TestCorruptModelledCalls holds that what such a call has written can be wrong.
func TestCorruptModelledCalls(t *testing.T) {
	pairOf(t, simulated(t, "h100", -1), "corrupt=1,kind=get", func(t *testing.T, r *rank) {
		must(t, calling(r))
		got := make([]byte, 2*bytes)
		must(t, r.Read(got, place(r.own, 1)))
		want := make([]byte, 2*bytes)
		op.FillPattern(want[:bytes], op.U8, uint64(1-r.number), 0)
		if r.number == 1 {
			want[0] ^= 0xff
		}
		if !slices.Equal(got, want) {
			t.Errorf("rank %d gets %x, want %x", r.number, got, want)
		}
	})
	pairOf(t, simulated(t, "h100", 0), "corrupt=*", func(t *testing.T, r *rank) { must(t, calling(r)) })
}

// reducing is an all-reduce on a machine that has a model of its time.
func reducing(r *rank) error {
	call := &op.Call{
		Collective: op.AllReduce, Type: op.U8, Red: op.Max, Count: bytes, Bytes: bytes,
		In: place(r.own, 0), Out: place(r.own, 1), Program: fetch(r.number),
	}
	if err := r.stream.Submit(&op.Op{Kind: op.CollectiveCall, Comm: r.comm, Call: call, Term: op.Term{Collective: 1}}); err != nil {
		return err
	}
	return r.stream.Sync(patience)
}

// TestModelledCalls holds that a call whose time comes from a model is an operation
// that something can go wrong in: without kinds, and as what it does.
func TestModelledCalls(t *testing.T) {
	for _, c := range []struct {
		fault string
		call  func(r *rank) error
		fails bool
	}{
		{"fail=1", reducing, true},
		{"fail=1,kind=reduce", reducing, true},
		{"fail=1,kind=get", calling, true},
		{"fail=1,kind=get", reducing, false},
		{"fail=1,kind=reduce", calling, false},
		{"fail=1,peer=0", reducing, false},
	} {
		for _, real := range []int64{0, -1} {
			pairOf(t, simulated(t, "h100", real), c.fault, func(t *testing.T, r *rank) {
				if err := c.call(r); errors.Is(err, device.ErrFault) != (c.fails && r.number == 1) || err != nil && !errors.Is(err, device.ErrFault) {
					t.Errorf("%s: rank %d: %v", c.fault, r.number, err)
				}
			})
		}
	}
}
