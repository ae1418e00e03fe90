package check

import "slices"

// Result is what [Check] found.
type Result struct {
	Operations int
	Orders     int  // that were looked at
	States     int  // that were gone through, those of a common beginning once for each order
	Complete   bool // there are no other orders
	Full       bool // the search was given up for the memory that it would take
	// Findings are at most one of each [Class], those that end a run first.
	Findings []Finding
}

// Check looks for orders of the schedule that deadlock or race, going through
// so many states at most. It fails with an [*Error] for what no rank can have
// done.
func Check(s *Schedule, statesMax int) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return search(s, statesMax, clockBytesMax), nil
}

// search is Check of a schedule that makes sense.
func search(s *Schedule, statesMax int, bytesMax int64) *Result {
	p := newPlan(s)
	e := &explorer{plan: p, most: statesMax, bytesMax: bytesMax, messagesCompete: p.messagesCompete()}
	c := &collector{}
	e.explore(c.visit)
	result := &Result{Operations: s.Operations(), Orders: c.orders, States: e.states, Complete: e.complete, Full: e.full}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return int(a.Class) - int(b.Class) })
	result.Findings = c.findings
	return result
}

// Explain says why a schedule stops in the first order that is tried, nil if it
// does not: what a run that came to a deadlock can tell of it by its record.
func Explain(s *Schedule) *Finding {
	if s.check() != nil {
		return nil
	}
	r := newRun(newPlan(s), s.Operations()*stepsPerOperation)
	for r.settle(); ; r.settle() {
		choices := r.choices()
		if len(choices) == 0 {
			break
		}
		r.stepStream(choices[0].stream, true)
	}
	c := &collector{}
	c.visit(r, nil, false)
	for i := range c.findings {
		if c.findings[i].Class != Race {
			return &c.findings[i]
		}
	}
	return nil
}

// stepsPerOperation is more than what an operation takes: one step of the guest
// that submits it, and one of its stream.
const stepsPerOperation = 3

// collector keeps the first finding of each class.
type collector struct {
	orders   int
	findings []Finding
}

// visit looks at a run, and reports whether nothing more can be found.
func (c *collector) visit(r *run, order []choice, cut bool) (enough bool) {
	c.orders++
	if r.differ != nil {
		c.add(Mismatch, r, order)
	}
	if !cut && r.differ == nil && !r.finished() {
		c.add(Deadlock, r, order)
	}
	if r.memory.race != nil {
		c.add(Race, r, order)
	}
	return len(c.findings) == int(classCount)
}

func (c *collector) add(class Class, r *run, order []choice) {
	if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Class == class }) {
		return
	}
	var f Finding
	switch class {
	case Mismatch:
		f = r.explainMismatch()
	case Deadlock:
		f = r.explainDeadlock()
	case Race:
		f = r.explainRace()
	}
	f.Class = class
	for _, choice := range order {
		f.Order = append(f.Order, place(r.plan.stepOf(choice), "comes first"))
	}
	c.findings = append(c.findings, f)
}
