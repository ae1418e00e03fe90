package bench

import (
	"fmt"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// prepare plans the call, fills the input and warms up.
func (n *native) prepare(m *measured) error {
	if err := n.plan(m); err != nil {
		return err
	}
	if err := n.fill(m); err != nil {
		return err
	}
	n.warm(m, true)
	for range n.Warmup {
		if err := n.submit(m); err != nil {
			return err
		}
	}
	n.warm(m, false)
	if err := n.stream.Sync(device.Forever); err != nil {
		return err
	}
	return n.Device.Barrier(device.Forever)
}

// warm says whether calls are left out of statistics.
func (n *native) warm(m *measured, warm bool) {
	if m.call != nil {
		m.call.Warmup = warm
	}
}

// in is the view of the input, from an offset on.
func (n *native) in(m *measured, off int64) op.View {
	if m.outOfPlace {
		return op.View{Buf: n.input, Off: off}
	}
	return op.View{Buf: n.output, Off: off}
}

// fill writes this rank's pattern to its input.
func (n *native) fill(m *measured) error {
	n.op = op.Op{
		Kind: op.Fill, Type: m.Type, Bytes: m.fillBytes, Value: n.salt + uint64(n.Rank),
		Dst: n.in(m, m.fillOff+int64(n.Rank)*m.fillFactor),
	}
	return n.stream.Submit(&n.op)
}

// submit makes the call, from where its operation does not have to be
// allocated.
func (n *native) submit(m *measured) error {
	if m.call == nil {
		return n.exchange(m)
	}
	n.called++
	n.op = op.Op{Kind: op.CollectiveCall, Comm: n.comm, Call: m.call, Term: op.Term{Collective: n.called}}
	return n.stream.Submit(&n.op)
}

// exchange sends to the rank behind this one and receives from the one before.
func (n *native) exchange(m *measured) error {
	n.op = op.Op{Kind: op.Send, Peer: int32((n.Rank + 1) % n.Size), Bytes: m.fillBytes, Src: n.in(m, m.inOff)}
	if err := n.stream.Submit(&n.op); err != nil {
		return err
	}
	n.op = op.Op{Kind: op.Recv, Peer: int32(n.left()), Bytes: m.fillBytes, Dst: op.View{Buf: n.output, Off: m.outOff}}
	return n.stream.Submit(&n.op)
}

func (n *native) left() int { return (n.Rank + n.Size - 1) % n.Size }

// plan plans a record's call as package module plans that of a guest.
func (n *native) plan(m *measured) error {
	if m.Collective.Op == op.SendRecv {
		return nil
	}
	l := together
	if m.outOfPlace {
		l = outOfPlace
	}
	shape := m.shape(l)
	if shape.InBytes(n.Rank) == 0 && m.Count > 0 {
		shape.InPlace = false
	}
	if err := n.choose(&shape, m.Algorithm); err != nil {
		return err
	}
	program, err := coll.Plan(shape, n.Rank)
	if err != nil {
		return err
	}
	out := op.View{Buf: n.output, Off: m.outOff + int64(n.Rank)*m.outFactor}
	m.call = &op.Call{
		Collective: m.Collective.Op, Type: m.Type, Red: m.Red, Root: shape.Root, Count: shape.Count,
		In: op.View{Buf: n.input, Off: m.inOff}, Out: out,
		Algorithm: uint8(shape.Algorithm), Program: program, Bytes: shape.Bytes(), NameIndex: n.Recorder.Name(program.Name),
	}
	if m.Parts != nil {
		tables := m.tables()
		mine := func(table int) []int64 { return tables[table][n.Size-n.Rank:][:n.Size] }
		m.call.SendCounts, m.call.SendOffsets, m.call.RecvCounts, m.call.RecvOffsets = mine(0), mine(1), mine(2), mine(3)
	}
	if !m.outOfPlace {
		offset := shape.InPlaceOffset(n.Rank)
		m.call.In = op.View{Buf: n.output, Off: out.Off + max(offset, 0)}
		m.call.Out.Off -= min(offset, 0)
	}
	return nil
}

// choose picks the algorithm.
func (n *native) choose(shape *coll.Shape, name string) error {
	if name == "" {
		shape.Algorithm = n.Selection.Select(*shape)
		return nil
	}
	var known bool
	if shape.Algorithm, known = coll.AlgorithmNamed(name); !known {
		return fmt.Errorf("algorithm: there is no %q", name)
	}
	return nil
}
