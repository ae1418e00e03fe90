package module

import (
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// movement submits what one rank does for one bucket to the bucket's lane.
type movement struct {
	*pipeRun
	lane   *lane
	task   *pipeline.Task
	layout *pipeline.Layout
	bucket *pipeline.Bucket
}

func (r *pipeRun) movement(l *lane) movement {
	t := &r.pipe.tasks[l.task]
	return movement{r, l, t, &r.pipe.layouts[l.task], &r.pipe.plan.Buckets[t.Bucket]}
}

// Steps of a bucket, as its operations' terms name them.
const (
	stepPack = iota
	stepAdd
	stepMove
	stepLand
	stepSum
)

func (m *movement) submit(o *op.Op, step uint16, message int) error {
	o.Term = op.Term{
		Collective: m.number, Chunk: uint32(m.task.Bucket), Flow: uint16(m.task.Channel), Step: step, Message: uint32(message),
	}
	return m.submitBare(o)
}

// submitBare submits an operation that moves nothing of the bucket: it is no
// message of the rank-chunk.
func (m *movement) submitBare(o *op.Op) error {
	m.lane.ops++
	m.pipe.machine.AddOperations(1)
	return m.lane.submit(o)
}

// fence orders what is submitted next behind what was submitted before: sends
// and receives that follow one another make progress together.
func (m *movement) fence() error {
	m.op = op.Op{Kind: op.EventRecord, Peer: -1, Event: m.lane.event}
	return m.lane.submit(&m.op)
}

// record ends what was submitted: the lane's event tells when it is done.
func (m *movement) record() error { return m.lane.record(&m.op) }

// transfer submits everything up to the moment that the bucket has come, and
// gone.
func (m *movement) transfer() error {
	m.lane.sums.reset()
	if !m.task.Wired() {
		return nil
	}
	if m.pipe.plan.Direct(m.task) {
		return m.invite()
	}
	for _, part := range [...]func(*movement) error{(*movement).pack, (*movement).add, (*movement).move} {
		if err := part(m); err != nil {
			return err
		}
	}
	return nil
}

// pack brings the rank's own entries together, those that are not sent from
// where they lie.
func (m *movement) pack() error {
	if m.layout.Own < 0 {
		return nil
	}
	for n, v := range m.ownEntries() {
		if v.Buf == m.lane.buffer {
			if err := m.box(n, v, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// add takes part in the sum: it adds the rank's own part to what has come from
// the rank before it, and sends that on.
func (m *movement) add() error {
	t := m.task
	if t.AddFrom.Rank < 0 && t.AddTo.Rank < 0 {
		return nil
	}
	own, sum := m.own(), m.staging(m.layout.Sum)
	if t.AddFrom.Rank >= 0 {
		if err := m.receive(t.AddFrom, stepAdd, piece{sum, t.Bytes}); err != nil {
			return err
		}
		e := &m.pipe.entries[m.bucket.Entries[0]]
		m.op = op.Op{Kind: op.Reduce, Peer: -1, Type: e.Type, Red: e.Red, Bytes: t.Bytes, Dst: sum, SourceCount: 2}
		m.op.Sources[0], m.op.Sources[1] = sum, own
		if err := m.submit(&m.op, stepAdd, 0); err != nil {
			return err
		}
		own = sum
	}
	if t.AddTo.Rank < 0 {
		return nil
	}
	return m.send(t.AddTo, stepAdd, piece{own, t.Bytes})
}

// move sends or receives the whole bucket, and passes it on.
func (m *movement) move() error {
	t := m.task
	var pieces []piece
	switch {
	case t.Source && t.AddFrom.Rank >= 0:
		pieces = m.one(m.staging(m.layout.Sum))
	case t.Source && !m.pipe.plan.Scattered(t):
		pieces = m.one(m.own())
	case t.Source:
		pieces = m.each(m.ownEntries())
	case t.From.Rank < 0:
		return nil
	case m.pipe.plan.Scattered(t):
		pieces = m.each(m.resultEntries())
	default:
		pieces = m.one(m.result())
	}
	if !t.Source {
		if err := m.receive(t.From, stepMove, pieces...); err != nil {
			return err
		}
		if len(t.To) > 0 { // what is passed on must have come
			if err := m.fence(); err != nil {
				return err
			}
		}
	}
	for _, to := range t.To {
		if err := m.send(to, stepMove, pieces...); err != nil {
			return err
		}
	}
	return nil
}

// land submits what writes the entries to where they belong, those that were
// not received there.
func (m *movement) land() error {
	t := m.task
	if !t.Lands {
		return nil
	}
	if t.Wired() && !t.Source && m.pipe.plan.Direct(t) {
		return m.fetch()
	}
	for n, from := range m.arrivals() {
		err := error(nil)
		switch {
		case from.Buf == nil:
		case from.Buf == m.lane.buffer:
			err = m.box(n, from, true)
		default:
			err = m.direct(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// box copies an entry from where it lies to staging memory, or the other way if
// it lands.
func (m *movement) box(n int, staging op.View, lands bool) error {
	entry := m.bucket.Entries[n]
	e, p := &m.pipe.entries[entry], &m.pipe.places[entry]
	m.shape = op.BoxShape{Planes: e.Planes, Rows: e.Rows, RowBytes: e.RowBytes}
	b := &m.shape
	m.op = op.Op{Kind: op.CopyBox, Peer: -1, Bytes: e.Bytes(), Box: b}
	step := uint16(stepPack)
	if lands {
		step = stepLand
		m.op.Dst, m.op.Src = p.dst, staging
		b.DstRow, b.DstPlane, b.SrcRow, b.SrcPlane = p.dstRow, p.dstPlane, e.RowBytes, e.Rows*e.RowBytes
	} else {
		m.op.Dst, m.op.Src = staging, p.src
		b.DstRow, b.DstPlane, b.SrcRow, b.SrcPlane = e.RowBytes, e.Rows*e.RowBytes, p.srcRow, p.srcPlane
	}
	return m.submitBox(n, step)
}

// direct copies an entry from where it lies on this rank to where it belongs on
// this rank.
func (m *movement) direct(n int) error { return m.copyEntry(op.CopyBox, stepLand, n) }

// copyEntry copies an entry from where it lies to where it belongs.
func (m *movement) copyEntry(kind op.Kind, step uint16, n int) error {
	entry := m.bucket.Entries[n]
	e, p := &m.pipe.entries[entry], &m.pipe.places[entry]
	m.shape = op.BoxShape{
		Planes: e.Planes, Rows: e.Rows, RowBytes: e.RowBytes,
		DstRow: p.dstRow, DstPlane: p.dstPlane, SrcRow: p.srcRow, SrcPlane: p.srcPlane,
	}
	m.op = op.Op{Kind: kind, Peer: -1, Bytes: e.Bytes(), Box: &m.shape, Dst: p.dst, Src: p.src}
	return m.submitBox(n, step)
}

func (m *movement) submitBox(n int, step uint16) error {
	if m.op.Bytes == 0 {
		return nil
	}
	return m.submit(&m.op, step, n)
}

// send submits the messages of a bucket to one rank.
func (m *movement) send(to pipeline.Edge, step uint16, pieces ...piece) error {
	if err := m.sum(to, false, pieces); err != nil {
		return err
	}
	for n, p := range pieces {
		m.op = op.Op{Kind: op.Send, Peer: to.Rank, Slot: m.wire(to), Src: p.View, Bytes: p.bytes}
		if err := m.submit(&m.op, step, n); err != nil {
			return err
		}
	}
	return nil
}

// receive submits the receives of a bucket from one rank.
func (m *movement) receive(from pipeline.Edge, step uint16, pieces ...piece) error {
	for n, p := range pieces {
		m.op = op.Op{Kind: op.Recv, Peer: from.Rank, Slot: m.wire(from), Dst: p.View, Bytes: p.bytes}
		if err := m.submit(&m.op, step, n); err != nil {
			return err
		}
	}
	return m.sum(from, true, pieces)
}

// wire is the send channel of a bucket between two ranks, the same on both.
func (m *movement) wire(e pipeline.Edge) uint32 {
	return m.pipe.firstWire + e.Ordinal%uint32(m.pipe.limits.Wires)
}
