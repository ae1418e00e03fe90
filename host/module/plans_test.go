package module

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// TestPlansAreBounded keeps plans whose programs have many steps: a guest that
// asks for ever new shapes makes the communicator forget the old ones.
func TestPlansAreBounded(t *testing.T) {
	c := &comm{plans: make(map[string]*plan)}
	large := &plan{call: op.Call{Program: &op.Program{Steps: make([]op.Step, maxPlanSteps/2)}}}
	small := &plan{call: op.Call{Program: &op.Program{Steps: make([]op.Step, 1)}}}
	for i, want := range []int{1, 2, 1, 2} {
		p := large
		if i == 3 {
			p = small
		}
		c.keep(string(rune('a'+i)), p)
		if len(c.plans) != want {
			t.Errorf("plan %d: %d plans kept, want %d", i, len(c.plans), want)
		}
	}
	if c.planSteps != maxPlanSteps/2+1 {
		t.Errorf("%d steps counted, want %d", c.planSteps, maxPlanSteps/2+1)
	}
}

// A plan for the same call in place counts as well.
func TestPlacedPlansAreBounded(t *testing.T) {
	i := newLoneRank(t, newEngine(t, proxyModule()), 2).Instance
	comm := &comm{Comm: &fakeComm{ranks: []int{0, 1}}, plans: make(map[string]*plan)}
	p := &plan{shape: coll.Shape{Collective: op.AllReduce, Type: op.F32, Ranks: 2, Count: 1 << 20, Algorithm: coll.Ring, SliceBytes: 1 << 10}}
	p.measure(0)
	if err := i.call.complete(p, comm); err != nil {
		t.Fatal(err)
	}
	comm.keep("a", p)
	once := comm.planSteps
	placed, err := i.call.inPlace(p, comm)
	if err != nil {
		t.Fatal(err)
	}
	if want := once + len(placed.call.Program.Steps) + len(placed.call.Program.Back); comm.planSteps != want || want == once {
		t.Errorf("%d steps counted, want %d", comm.planSteps, want)
	}
	comm.planSteps, p.placed = maxPlanSteps, nil
	if _, err := i.call.inPlace(p, comm); err != nil || len(comm.plans) != 0 {
		t.Errorf("%d plans kept, %v", len(comm.plans), err)
	}
}

// TestOwnCounts: what a rank sends to itself is what it receives from itself.
func TestOwnCounts(t *testing.T) {
	counts := func(all ...uint64) (key []byte) {
		for _, n := range all {
			key = binary.LittleEndian.AppendUint64(key, n)
		}
		return key
	}
	key := counts(4, 5, 0, 4, 4, 6, 0, 4)
	for rank, want := range []string{"", "recv_counts: 6 elements of the rank's own 5 in send_counts"} {
		p := plan{shape: coll.Shape{Collective: op.AllToAllV, Ranks: 2}}
		err := p.takeCounts(key, rank)
		if got := fmt.Sprint(err); want != "" && got != want || want == "" && err != nil {
			t.Errorf("rank %d: error %v, want %q", rank, err, want)
		}
		if want != "" && errnoOf(err) != abi.Invalid {
			t.Errorf("rank %d: errno %v", rank, errnoOf(err))
		}
	}
}
