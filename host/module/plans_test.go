package module

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// planned adds a communicator that keeps plans.
func planned(i *Instance) (*comm, uint64) {
	c := &comm{Comm: &fakeComm{ranks: []int{0, 1}, device: i.config.Device.(*fakeDevice)}, plans: make(map[string]*plan)}
	return c, i.comms.add(c)
}

// stepped is a plan that counts as so many steps, but for its key.
func stepped(steps int) *plan {
	return &plan{call: op.Call{Program: &op.Program{Steps: make([]op.Step, steps-1)}}}
}

// TestPlansAreBounded keeps plans whose programs have many steps: a guest that
// asks for ever new shapes, on however many communicators, makes all of them
// forget the old ones.
func TestPlansAreBounded(t *testing.T) {
	i := newLoneRank(t, newEngine(t, proxyModule()), 2).Instance
	a, _ := planned(i)
	b, handle := planned(i)
	for n, step := range []struct {
		on       *comm
		keyBytes int
		steps    int
		want     string // plans of a, plans of b, steps of all
	}{
		{a, 1, maxPlanSteps / 2, "1 0 131072"},
		{b, 1, maxPlanSteps / 2, "1 1 262144"},
		{b, 1, 7, "0 1 7"},
		{a, 2 * keyStepBytes, 7, "1 1 16"},
		{b, 2, maxPlanSteps - 16, "1 2 262144"},
		{b, keyStepBytes, 1, "0 1 2"},
		{a, 1, 3, "1 1 5"},
	} {
		i.keepPlan(step.on, strings.Repeat(string(rune('a'+n)), step.keyBytes), stepped(step.steps))
		if got := fmt.Sprint(len(a.plans), len(b.plans), i.planSteps); got != step.want {
			t.Errorf("plan %d: %s, want %s", n, got, step.want)
		}
	}
	i.call.comm, i.call.stack = b, []uint64{handle}
	if err := commFree(&i.call); err != nil {
		t.Fatal(err)
	}
	if i.planSteps != 3 || len(b.plans) != 0 {
		t.Errorf("after comm_free %d steps are counted and %d plans kept", i.planSteps, len(b.plans))
	}
	for n := range maxPlans {
		i.keepPlan(a, strconv.Itoa(n), stepped(1))
	}
	if i.planSteps != 1 || len(a.plans) != 1 {
		t.Errorf("%d steps are counted and %d plans kept of %d", i.planSteps, len(a.plans), maxPlans+1)
	}
}

// A plan for the same call in place counts as well.
func TestPlacedPlansAreBounded(t *testing.T) {
	i := newLoneRank(t, newEngine(t, proxyModule()), 2).Instance
	comm, _ := planned(i)
	p := &plan{shape: coll.Shape{Collective: op.AllReduce, Type: op.F32, Ranks: 2, Count: 1 << 20, Algorithm: coll.Ring, SliceBytes: 1 << 10}}
	p.measure(0)
	if err := i.call.complete(p, comm); err != nil {
		t.Fatal(err)
	}
	i.keepPlan(comm, "a", p)
	once := comm.planSteps
	placed, err := i.call.inPlace(p, comm)
	if err != nil {
		t.Fatal(err)
	}
	if want := once + len(placed.call.Program.Steps) + len(placed.call.Program.Back) + 1; comm.planSteps != want || want == once {
		t.Errorf("%d steps counted, want %d", comm.planSteps, want)
	}
	comm.planSteps, i.planSteps, p.placed = maxPlanSteps, maxPlanSteps, nil
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
