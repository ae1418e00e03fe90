package pipeline

import "fmt"

// ahead is how many tasks, from the first that is not admitted on, a machine
// looks at for one to admit before it.
const ahead = 64

// phase is how far a task is.
type phase uint8

const (
	waiting   phase = iota // not admitted
	flying                 // launched
	landed                 // arrived, and not to be written yet
	finishing              // being written to where it belongs
	finished
)

// Machine is a rank's run of a plan: it is told what has happened and says what
// is to be done, and does nothing itself. It is for one run at a time; [Machine.Reset]
// makes it ready for the next.
//
// It allocates nothing while it runs, and each step looks at a bounded number of
// tasks beside those that it moves on.
type Machine struct {
	plan    *Plan
	rank    int
	tasks   []Task
	staging []int64
	limits  Limits
	ways    ways

	begun, ended, failed bool
	failedRank           int
	failedPlace          int

	phases []phase
	wires  []int32 // by task: how many buckets before it on its wires have not arrived here
	owed   []int32 // by task: how many credits it waits for
	stream []int32 // by task, while it is in flight
	free   []int32 // streams, the next to be used last

	first    int // the first task that is not admitted
	admitted int
	finished int
	window   int // tasks before this one may be admitted by the policy
	limit    int // and buckets before this place, by the script
	stall    Stall
	passed   []uint32 // by channel of the rank: the scan that passed a bucket of it
	scan     uint32
	held     usage   // by buckets in flight
	idle     usage   // by those of them that wait for their turn to be written
	channels []usage // by channel of the rank: held
	idling   []int32 // by channel of the rank: buckets that wait for their turn
	channel  []int32 // by task: which of the rank's channels

	marks watermarks
	meter meter
}

// usage is what buckets take up.
type usage struct {
	buckets int
	bytes   int64
}

func (u *usage) add(bytes int64)  { u.buckets++; u.bytes += bytes }
func (u *usage) take(bytes int64) { u.buckets--; u.bytes -= bytes }

// NewMachine makes a machine for a rank's tasks in a plan and the staging memory
// that each of them needs. It fails if a bucket needs more than MaxBytes and
// such a one is to be refused.
func NewMachine(p *Plan, rank int, tasks []Task, staging []int64, l Limits) (*Machine, error) {
	if len(staging) != len(tasks) || rank < 0 || rank >= p.Ranks {
		return nil, fmt.Errorf("rank %d of %d has %d buckets and the staging memory of %d", rank, p.Ranks, len(tasks), len(staging))
	}
	if err := CheckOversize(tasks, staging, l); err != nil {
		return nil, err
	}
	l.MaxInFlight, l.Wires, l.Streams = max(1, l.MaxInFlight), max(1, l.Wires), max(1, min(l.Streams, len(tasks)))
	n := len(tasks)
	m := &Machine{
		plan: p, rank: rank, tasks: tasks, staging: staging, limits: l,
		phases: make([]phase, n), wires: make([]int32, n), owed: make([]int32, n), stream: make([]int32, n),
		free: make([]int32, 0, l.Streams), channel: make([]int32, n),
	}
	number := make(map[int32]int32)
	for i := range tasks {
		c, ok := number[tasks[i].Channel]
		if !ok {
			c = int32(len(number))
			number[tasks[i].Channel] = c
		}
		m.channel[i] = c
	}
	m.channels, m.idling, m.passed = make([]usage, len(number)), make([]int32, len(number)), make([]uint32, len(number))
	m.ways.lay(p, tasks)
	m.marks.heard = make([]uint32, p.Ranks)
	m.Reset(0)
	return m, nil
}

// CheckOversize fails, as [NewMachine] does, if a bucket needs more than MaxBytes
// and such a one is to be refused.
func CheckOversize(tasks []Task, staging []int64, l Limits) error {
	if l.Oversize != Refuse || l.MaxBytes <= 0 {
		return nil
	}
	for i, bytes := range staging {
		if bytes > l.MaxBytes {
			return fmt.Errorf("bucket %d needs %d bytes of staging memory, more than the budget of %d: raise it, make buckets smaller, or let such a bucket run alone", tasks[i].Bucket, bytes, l.MaxBytes)
		}
	}
	return nil
}

// Reset makes the machine ready for another run, of which [Begin] is the first
// event.
func (m *Machine) Reset(nowNanos int64) {
	m.begun, m.ended, m.failed, m.failedRank, m.failedPlace = false, false, false, -1, -1
	clear(m.phases)
	m.free = m.free[:0]
	for s := m.limits.Streams - 1; s >= 0; s-- {
		m.free = append(m.free, int32(s))
	}
	m.first, m.admitted, m.finished, m.limit, m.stall = 0, 0, 0, 0, NoStall
	m.window = len(m.tasks)
	if m.limits.Policy == Windowed && m.limits.Window > 0 {
		m.window = m.limits.Window
	}
	m.held, m.idle = usage{}, usage{}
	clear(m.channels)
	clear(m.idling)
	m.ways.reset(m.limits.Wires, m.wires, m.owed)
	if m.limits.Policy != Credits {
		clear(m.owed)
	}
	m.marks.reset(len(m.plan.Buckets))
	m.meter.reset(nowNanos)
}

// Step takes an event at a time and appends what is to be done now, in that
// order: memory is released before more is taken. Events that make no sense, as
// of tasks that are not in flight, are passed over, and after [End] all are.
func (m *Machine) Step(nowNanos int64, e Event, to []Action) []Action {
	m.account(nowNanos)
	if m.ended {
		return to
	}
	to = m.take(e, to)
	if !m.begun || m.ended {
		return to
	}
	to = m.publish(m.tell(to))
	to = m.admit(to)
	m.meter.peak(m)
	if m.marks.complete == len(m.marks.heard) { // this rank too, so it has finished
		m.ended = true
		to = append(to, Action{Kind: End})
	}
	return to
}

// take takes an event in.
func (m *Machine) take(e Event, to []Action) []Action {
	switch e.Kind {
	case Begin:
		m.begun = true
	case Arrived:
		if m.in(e.Task, flying) {
			to = m.arrive(int(e.Task), to)
		}
	case Finished:
		if m.in(e.Task, finishing) {
			to = m.finish(int(e.Task), to)
		}
	case Credited:
		m.ways.credit(e.Peer, e.Value, m.limits.Policy, m.owed)
	case Heard:
		if int(e.Peer) != m.rank {
			m.marks.hear(e.Peer, e.Value)
		}
	case AdmitUpTo:
		m.limit = max(m.limit, int(min(e.Value, uint64(len(m.plan.Buckets)))))
	case Failed:
		place := len(m.plan.Buckets)
		if e.Task >= 0 && int(e.Task) < len(m.tasks) {
			place = int(m.tasks[e.Task].Place)
		}
		to = append(to, Action{Kind: Warn, Task: e.Task, Value: uint64(place)})
		to = m.fail(m.rank, place, to)
	case PeerFailed:
		to = m.fail(int(e.Peer), int(min(e.Value, uint64(len(m.plan.Buckets)))), to)
	}
	return to
}

// in reports whether there is such a task in a phase.
func (m *Machine) in(task int32, p phase) bool {
	return task >= 0 && int(task) < len(m.tasks) && m.phases[task] == p
}

func (m *Machine) fail(rank, place int, to []Action) []Action {
	m.failed, m.ended, m.failedRank, m.failedPlace = true, true, rank, place
	return append(to, Action{Kind: End})
}

// arrive notes that a task's transfers are done, which frees its wires.
func (m *Machine) arrive(i int, to []Action) []Action {
	t := &m.tasks[i]
	m.ways.arrive(i, m.limits.Wires, m.wires)
	m.meter.moved(t)
	if !t.Lands {
		return m.finish(i, to)
	}
	if m.limits.Publish == AtOnce {
		m.phases[i] = finishing
		return append(to, m.action(Finalize, i))
	}
	m.phases[i] = landed
	m.idle.add(m.staging[i])
	m.idling[m.channel[i]]++
	return to
}

// finish gives back what a task held.
func (m *Machine) finish(i int, to []Action) []Action {
	to = append(to, m.action(Release, i))
	m.phases[i] = finished
	m.finished++
	m.free = append(m.free, m.stream[i])
	m.held.take(m.staging[i])
	m.channels[m.channel[i]].take(m.staging[i])
	m.meter.descriptors -= len(m.plan.Buckets[m.tasks[i].Bucket].Entries)
	if m.finished == m.window {
		m.window += m.limits.Window
	}
	return to
}

// action is one that concerns a task in flight.
func (m *Machine) action(kind ActionKind, i int) Action {
	return Action{Kind: kind, Task: int32(i), Stream: m.stream[i]}
}
