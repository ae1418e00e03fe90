package sim

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/nccl"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// callsAhead is how many calls a rank may be ahead of another: those before
// have been compared.
const callsAhead = 4

// callState is one call of a communicator as all its ranks see it.
type callState struct {
	group     *group
	number    uint64
	in        []bool // who has entered, by rank of the communicator
	entered   int
	firstIn   int
	words     callWords   // of who entered first
	different []disagreed // who entered something else
	absent    int         // all ranks before this one have entered
	phantom   bool        // no rank looks at bytes: all wait for all
	runs      []*callRun  // by rank, nil before it has begun
	left      []bool
	gone      int // ranks that have left
	flags     map[flagKey]uint32
	slots     [][]byte     // by rank
	haunted   []bool       // slots that hold a phantom's bytes
	waiting   [][]*callRun // by the rank that they wait for; nil if nobody has yet
	crowd     []*callRun   // that wait for all ranks
	settlers  []*stream    // that wait until all have entered
	finished  int
}

// flagKey is a flag of a rank that a peer raises.
type flagKey struct {
	to, from int32
	flag     uint8
}

// callRun is one rank's part of a call under way.
type callRun struct {
	comm    *comm
	state   *callState
	stream  *stream
	task    uint64 // operation of the stream
	index   int    // of the call in its group
	call    *op.Call
	words   callWords
	steps   []op.Step
	pc      int
	peer    int // whom the step waits for next, if it waits for all
	awaited int // the rank of the communicator that it waits for, nobody or everyone
	start   int64
	mark    int64 // when the step under way began
	timed   bool
	moving  bool // a step takes time
	engaged bool
	listed  bool
	ended   bool
	model   int64 // picoseconds that the call takes once its last rank has come
}

// cloneCalls copies the calls of a group, which the guest's side uses again.
func cloneCalls(c *op.Call) *op.Call {
	if c == nil {
		return nil
	}
	first := *c
	for last := &first; last.Next != nil; last = last.Next {
		next := *last.Next
		last.Next = &next
	}
	return &first
}

// beginCalls begins the group of calls at the head of a stream.
func (s *stream) beginCalls(t *task) (done bool) {
	x := t.extra
	c := x.comm
	if c.broken == nil {
		c.broken = c.group.mismatched
	}
	if c.broken != nil {
		s.failHead(c.broken)
		return false
	}
	if x.first != c.done+1 {
		s.block()
		c.turns = append(c.turns, s)
		return false
	}
	if x.first > callsAhead && !s.settled(c, x.first-callsAhead) {
		return false
	}
	n := 0
	for call := x.call; call != nil; call = call.Next {
		n++
	}
	x.running = n
	s.block() // for the time
	s.blocked, s.busy = false, true
	number, task, call := x.first, s.head, x.call
	for i := 0; i < n && s.failed == nil; i++ {
		next := call.Next // the last of them may end everything
		c.start(s, task, number+uint64(i), i, call)
		call = next
	}
	return false
}

// inCall reports whether the stream is in a call, where it may wait for others.
func (s *stream) inCall() bool {
	return s.busy && s.head < s.tail && s.at(s.head).kind == op.CollectiveCall
}

// settled reports whether all ranks have entered a call, and none something
// else; if not, the stream waits or has failed.
func (s *stream) settled(c *comm, number uint64) bool {
	if number < c.group.first {
		return true
	}
	state := c.group.state(number)
	if state.entered < len(state.in) {
		s.block()
		state.settlers = append(state.settlers, s)
		return false
	}
	for i := range c.group.calls {
		if st := c.group.calls[i]; st.number <= number && st.different != nil {
			if err := st.disagreement(c.rank); err != nil {
				s.failHead(err)
				return false
			}
		}
	}
	return true
}

// yourTurn lets a stream look again whether its calls can begin.
func (s *stream) yourTurn() {
	if s.blocked && !s.talking && s.head < s.tail && s.at(s.head).kind == op.CollectiveCall {
		s.blocked = false
		s.cluster.makeReady(s)
	}
}

// start begins one call of a rank.
func (c *comm) start(s *stream, task, number uint64, index int, call *op.Call) {
	cluster := c.device.cluster
	state := c.group.state(number)
	if state.runs == nil {
		state.runs = make([]*callRun, len(state.in))
		state.left = make([]bool, len(state.in))
		state.phantom = c.group.skips(cluster, call)
	}
	r := &callRun{
		comm: c, state: state, stream: s, task: task, index: index, call: call, words: wordsOf(call),
		steps: call.Program.StepsOf(number), start: cluster.now, awaited: nobody,
	}
	state.runs[c.rank] = r
	m := c.group.modelOf(cluster, call)
	r.timed = !m.known
	if m.known && len(state.in) > 1 {
		r.model = m.picos
		if w := c.device.recorder; w != nil {
			call.NameIndex = w.Name(m.name)
		}
	}
	if state.phantom {
		r.enter()
		state.meetPhantoms(r)
		return
	}
	r.advance()
}

// model is what the machine says of a call.
type model struct {
	of    nccl.Call
	known bool // that there is one
	picos int64
	name  string // of how the call is carried out
}

// modelOf gives the model of a call. That of the last call is kept: all ranks ask
// for the same.
func (g *group) modelOf(c *Cluster, call *op.Call) *model {
	of := nccl.Call{Collective: call.Collective, Bytes: call.Bytes, Ranks: len(g.ranks), Nodes: c.nodesOf(g)}
	if g.last.of != of {
		choice, known := c.machine.callModel(of)
		g.last = model{of: of, known: known, picos: picos(choice.Seconds), name: choice.Algorithm + " " + choice.Protocol}
	}
	return &g.last
}

// skips reports whether nobody needs to look at the bytes of a call, nor at the
// order of its steps: they are phantoms and there is a model of its time.
func (g *group) skips(c *Cluster, call *op.Call) bool {
	if !g.modelOf(c, call).known {
		return false
	}
	for _, v := range [...]op.View{call.In, call.Out} {
		if v.Buf != nil && v.Buf.(*buffer).owner.phantom() {
			return true
		}
	}
	return false
}

// nodesOf is how many nodes the ranks of a communicator are on.
func (c *Cluster) nodesOf(g *group) int {
	if g.nodes == 0 {
		seen := make(map[int]bool)
		for _, rank := range g.ranks {
			seen[c.machine.node(rank)] = true
		}
		g.nodes = len(seen)
	}
	return g.nodes
}

// meetPhantoms ends the parts of all ranks of a call of phantoms once all have
// come, or when it turns out that they disagree.
func (s *callState) meetPhantoms(last *callRun) {
	last.awaited = everyone
	if s.entered < len(s.in) && s.different == nil {
		return
	}
	runs := s.runs
	for rank, r := range runs {
		if r != nil {
			r.fail(s.disagreement(rank))
		}
	}
	for _, r := range runs {
		if r == nil || r.ended {
			continue
		}
		r.awaited = nobody
		if b := r.call.Out.Buf; b != nil {
			b.(*buffer).owner.haunt()
		}
		r.after(r.model)
	}
}

// after completes the call in so many picoseconds.
func (r *callRun) after(picos int64) {
	c := r.comm.device.cluster
	id := c.jobs.take()
	*c.jobs.at(id) = job{run: r, letter: -1}
	c.plan(c.now+picos, evCall, uint32(id))
}

// callDone completes a call, after any delay that was asked for.
func (c *Cluster) callDone(id int32) {
	r := c.jobs.at(id).run
	c.jobs.give(id)
	if r.ended {
		return
	}
	if !r.engaged && r.model > 0 {
		r.engaged = true
		if r.inject() {
			return
		}
	}
	r.complete()
}

// complete ends this rank's part of a call, and with the last of its group the
// operation.
func (r *callRun) complete() {
	r.finish(flight.StatusOK)
	c, s := r.comm, r.stream
	t := s.at(r.task)
	x := t.extra
	if x.running--; x.running > 0 {
		return
	}
	last := x.first
	for call := x.call.Next; call != nil; call = call.Next {
		last++
	}
	s.busy = false
	if s.failed != nil {
		s.cluster.makeReady(s)
		return
	}
	s.finish(t, flight.StatusOK)
	s.cluster.makeReady(s)
	c.advanceDone(last)
}

// finish takes a run out of the call's state and records it.
func (r *callRun) finish(status uint8) {
	r.ended = true
	r.record(status)
	r.state.finished++
	r.comm.group.retire()
}

func (r *callRun) record(status uint8) {
	d := r.comm.device
	w, t := d.recorder, r.stream.at(r.task)
	if w == nil || w.Level < flight.LevelCollective || t.term.Collective == 0 {
		return
	}
	device.RecordCall(w, r.call, t.term.Collective+uint32(r.index), len(r.state.in), r.stream.number, status, r.start/picosPerNano, d.cluster.now/picosPerNano)
}

// fail ends a call for this rank, its stream and, if ranks disagree, for all.
func (r *callRun) fail(err error) {
	if r.ended || err == nil {
		return
	}
	r.ended = true
	s, c := r.stream, r.comm
	r.state.finished++
	r.record(device.StatusOf(err))
	c.breakOff(err)
	s.busy = false
	if s.failed == nil {
		s.failHead(err)
	}
	if g := c.group; g.mismatched == nil && isMismatch(err) {
		g.mismatched = err // who calls later is told by beginCalls
		for _, m := range g.members {
			if m != nil && m.broken == nil {
				m.failRuns(err)
			}
		}
	}
}

// failRuns fails the calls that a rank is in because another has found out that
// ranks disagree.
func (c *comm) failRuns(err error) {
	for _, s := range c.group.calls {
		if s.runs != nil && s.runs[c.rank] != nil && !s.runs[c.rank].ended {
			s.runs[c.rank].fail(err)
			return
		}
	}
}

// failCalls is told of a group of calls that a failed stream passes over.
func (c *comm) failCalls(t *task, err error) {
	for _, s := range c.group.calls {
		if s.runs == nil {
			continue
		}
		if r := s.runs[c.rank]; r != nil && !r.ended && r.stream.failed != nil && r.stream.at(r.task) == t {
			r.ended = true
			s.finished++
			r.record(device.StatusOf(err))
		}
	}
	c.breakOff(err)
}

// callTimeout says whom a call that has waited too long waits for.
func (s *stream) callTimeout(t *task) error {
	for _, state := range t.extra.comm.group.calls {
		if state.runs == nil {
			continue
		}
		if r := state.runs[t.extra.comm.rank]; r != nil && !r.ended && r.blocker() >= 0 {
			return fmt.Errorf("%v: rank %d has not come: %w", r.words, state.group.ranks[r.blocker()], device.ErrTimeout)
		}
	}
	return device.ErrTimeout
}
