package module

import (
	"testing"

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
