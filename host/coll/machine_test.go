package coll

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/ccrun/ccrun/host/op"
)

// A device gives calls so many places in turn, and holds a rank before a call
// until all have entered the one so many before.
const (
	places = 8
	ahead  = 4
)

// machine carries out programs of all ranks of a communicator, step by step in
// a seeded order, and is as strict as possible: vector clocks tell whether two
// accesses that must not meet are ordered by what the programs wait for, and
// not merely by the luck of this run. Waits are for values that only grow, so
// a run that ends under one order of steps ends under every order.
type machine struct {
	ranks     int
	random    *rand.Rand
	combine   func(a, b uint64) uint64
	divide    func(a uint64) uint64
	clocks    [][]int32         // of each rank
	slotBytes int64             // the most that a program uses
	slots     [][places][]cell  // by rank and place of the call
	entries   [][places]cell    // likewise: what a rank calls
	entered   [][]raised        // by rank, in order
	left      [][]raised        //
	flags     map[flag][]raised // in order
	actors    []*actor
}

// cell is one element of memory.
type cell struct {
	value   uint64
	call    int // that wrote it, from 1
	writer  int // rank
	written int32
	read    []int32 // when, by rank; nil if never
}

// raised is one value of a counter and what its writer knew then.
type raised struct {
	call  int
	value uint32
	clock []int32
}

func (r raised) reaches(call int, value uint32) bool {
	return r.call > call || r.call == call && r.value >= value
}

type flag struct{ from, to, number int }

// round is one call, as all ranks call it.
type round struct {
	shape    Shape // but for InPlace
	inPlace  []bool
	programs []*op.Program
	numbers  []uint64 // of the call, as each rank's program sees it
	memory   [][]cell // by rank
	in, out  []int64  // where the areas begin in it, in elements
	results  [][]uint64
	counts   [][]int64 // AllToAllV: by sender, by receiver
}

// steps are those that a rank carries out.
func (r *round) steps(rank int) []op.Step { return r.programs[rank].StepsOf(r.numbers[rank]) }

// actor is a rank at work.
type actor struct {
	rank, call, step int // call from 1
	settled          int // the last call that all ranks are known to have entered
	met              []bool
	left             bool
}

func newMachine(ranks int, seed uint64) *machine {
	m := &machine{
		ranks: ranks, random: rand.New(rand.NewPCG(seed, 1)), flags: map[flag][]raised{},
		clocks: make([][]int32, ranks), slots: make([][places][]cell, ranks), entries: make([][places]cell, ranks),
		entered: make([][]raised, ranks), left: make([][]raised, ranks),
	}
	for rank := range ranks {
		m.clocks[rank] = make([]int32, ranks)
		m.actors = append(m.actors, &actor{rank: rank, call: 1, met: make([]bool, ranks)})
	}
	return m
}

// run carries out the rounds, one after the other on each rank.
func (m *machine) run(rounds []*round) error {
	for _, r := range rounds {
		for _, p := range r.programs {
			m.slotBytes = max(m.slotBytes, p.SlotBytes)
		}
	}
	current := 0
	for {
		var ready []int
		ended := 0
		for _, a := range m.actors {
			if a.call > len(rounds) {
				ended++
			} else if m.ready(a, rounds) {
				ready = append(ready, a.rank)
			}
		}
		if ended == m.ranks {
			return nil
		}
		if len(ready) == 0 {
			return fmt.Errorf("deadlock: %s", m.describe(rounds))
		}
		if m.random.IntN(4) == 0 || !slices.Contains(ready, current) {
			current = ready[m.random.IntN(len(ready))]
		}
		if err := m.advance(m.actors[current], rounds); err != nil {
			return err
		}
	}
}

func (m *machine) describe(rounds []*round) (text string) {
	for _, a := range m.actors {
		text += fmt.Sprintf("rank %d in call %d at step %d", a.rank, a.call, a.step)
		if a.call <= len(rounds) {
			if steps := rounds[a.call-1].steps(a.rank); a.step < len(steps) {
				text += fmt.Sprintf(" %+v", steps[a.step])
			}
		}
		text += "; "
	}
	return text
}

// ready reports whether the actor's next step can be done.
func (m *machine) ready(a *actor, rounds []*round) bool {
	steps := rounds[a.call-1].steps(a.rank)
	if a.step == 0 && a.held() {
		for rank := range m.ranks {
			if reached(m.entered[rank], a.call-ahead, 0) == nil {
				return false
			}
		}
	}
	if a.step == len(steps) {
		return true
	}
	s := &steps[a.step]
	switch s.Kind {
	case op.StepMeet:
		return m.allReached(m.entered, a, s)
	case op.StepPart:
		return m.allReached(m.left, a, s)
	case op.StepWait:
		return reached(m.flags[flag{int(s.Peer), a.rank, int(s.Flag)}], a.call, s.Value) != nil
	}
	return true
}

// held reports whether the device holds the rank before its call, unless all
// ranks have come far enough.
func (a *actor) held() bool { return a.settled+ahead < a.call }

func (m *machine) allReached(counters [][]raised, a *actor, s *op.Step) bool {
	for rank := range m.ranks {
		if (s.Peer < 0 || int(s.Peer) == rank) && rank != a.rank && reached(counters[rank], a.call, 0) == nil {
			return false
		}
	}
	return true
}

// reached is the first value that is enough, nil if there is none yet.
func reached(values []raised, call int, value uint32) *raised {
	i := sort.Search(len(values), func(i int) bool { return values[i].reaches(call, value) })
	if i == len(values) {
		return nil
	}
	return &values[i]
}

func (m *machine) learn(a *actor, r *raised) {
	for rank, tick := range r.clock {
		m.clocks[a.rank][rank] = max(m.clocks[a.rank][rank], tick)
	}
}

func (m *machine) raise(a *actor, value uint32) raised {
	return raised{a.call, value, append([]int32(nil), m.clocks[a.rank]...)}
}

// advance does the actor's next step, which is ready.
func (m *machine) advance(a *actor, rounds []*round) error {
	r := rounds[a.call-1]
	steps := r.steps(a.rank)
	m.clocks[a.rank][a.rank]++
	if a.step == 0 && a.held() {
		a.settled = a.call - ahead
		for rank := range m.ranks {
			m.learn(a, reached(m.entered[rank], a.settled, 0))
		}
	}
	if a.step == len(steps) {
		return m.finish(a, r)
	}
	s := &steps[a.step]
	if err := m.do(a, r, s); err != nil {
		return fmt.Errorf("call %d, rank %d, step %d %+v: %w", a.call, a.rank, a.step, *s, err)
	}
	a.step++
	return nil
}

func (m *machine) do(a *actor, r *round, s *op.Step) error {
	switch s.Kind {
	case op.StepMove:
		return m.move(a, r, s)
	case op.StepTake:
		return m.take(a, r, int(s.Peer))
	case op.StepEnter:
		err := m.write(a, &m.entries[a.rank][a.call%places], uint64(r.shape.Collective))
		m.entered[a.rank] = append(m.entered[a.rank], m.raise(a, 0))
		return err
	case op.StepLeave:
		a.left = true
		m.left[a.rank] = append(m.left[a.rank], m.raise(a, 0))
	case op.StepMeet:
		return m.meet(a, r, s)
	case op.StepPart:
		for rank := range m.ranks {
			if (s.Peer < 0 || int(s.Peer) == rank) && rank != a.rank {
				m.learn(a, reached(m.left[rank], a.call, 0))
			}
		}
	case op.StepSignal:
		return m.signal(a, s)
	case op.StepWait:
		m.learn(a, reached(m.flags[flag{int(s.Peer), a.rank, int(s.Flag)}], a.call, s.Value))
	default:
		return fmt.Errorf("unknown kind")
	}
	return nil
}

func (m *machine) meet(a *actor, r *round, s *op.Step) error {
	for rank := range m.ranks {
		if s.Peer >= 0 && int(s.Peer) != rank || rank == a.rank {
			continue
		}
		m.learn(a, reached(m.entered[rank], a.call, 0))
		entry := &m.entries[rank][a.call%places]
		if _, err := m.read(a, entry); err != nil {
			return fmt.Errorf("entry of rank %d: %w", rank, err)
		}
		if entry.call != a.call || op.CollectiveOp(entry.value) != r.shape.Collective {
			return fmt.Errorf("entry of rank %d is of call %d", rank, entry.call)
		}
		a.met[rank] = true
	}
	return nil
}

func (m *machine) signal(a *actor, s *op.Step) error {
	if int(s.Peer) == a.rank || s.Flag >= op.FlagsMax || s.Value == 0 || s.Value >= op.FlagValueMax {
		return fmt.Errorf("a signal that no device can give")
	}
	f := flag{a.rank, int(s.Peer), int(s.Flag)}
	if values := m.flags[f]; len(values) > 0 && values[len(values)-1].reaches(a.call, s.Value) {
		return fmt.Errorf("the flag does not grow")
	}
	m.flags[f] = append(m.flags[f], m.raise(a, s.Value))
	return nil
}
