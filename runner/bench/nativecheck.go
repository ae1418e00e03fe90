package bench

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/host/op"
)

// check calls once more for each check, with patterns of its own, and counts
// elements that are wrong.
func (n *native) check(m *measured) (wrong int64, err error) {
	n.warm(m, true)
	for range n.Checks {
		n.salt += uint64(n.Size)
		if err = n.fill(m); err == nil {
			err = n.submit(m)
		}
		if err == nil {
			err = n.stream.Sync(device.Forever)
		}
		if err != nil {
			return wrong, err
		}
		mismatches, err := n.mismatches(m)
		wrong += mismatches
		if err == nil {
			err = n.Device.Barrier(device.Forever)
		}
		if err != nil {
			return wrong, err
		}
	}
	return wrong, nil
}

// region is a part of the output and where in a pattern it begins.
type region struct{ off, bytes, pattern int64 }

// mismatches looks at the whole output of a call.
func (n *native) mismatches(m *measured) (int64, error) {
	whole := region{m.checkOff + int64(n.Rank)*m.checkFactor, m.checkBytes, int64(n.Rank) * m.patternFactor}
	switch m.check {
	case checkRoot:
		return n.verify(m, m.callFields.root, whole)
	case checkLeft:
		return n.verify(m, n.left(), whole)
	case checkEach:
		return n.verifyEach(m, func(from int) region {
			return region{whole.off + int64(from)*m.checkBytes, m.checkBytes, whole.pattern}
		})
	case checkParts:
		size := int64(m.Type.Size())
		return n.verifyEach(m, func(from int) region {
			at := m.call.RecvOffsets[from] * size
			return region{whole.off + at, m.call.RecvCounts[from] * size, at}
		})
	case checkReduced:
		reduction := module.Reduction{Type: m.Type, Red: m.Red, At: whole.pattern}
		for rank := range n.Size {
			reduction.Seeds = append(reduction.Seeds, n.salt+uint64(rank))
		}
		mismatches, _, err := reduction.Verify(n.Device, n.Recorder, op.View{Buf: n.output, Off: whole.off}, whole.bytes)
		return mismatches, err
	}
	return 0, nil
}

// verifyEach compares what came from each rank.
func (n *native) verifyEach(m *measured, part func(from int) region) (wrong int64, err error) {
	for from := range n.Size {
		mismatches, err := n.verify(m, from, part(from))
		wrong += mismatches
		if err != nil {
			return wrong, err
		}
	}
	return wrong, nil
}

// verify compares a region with the pattern of a rank.
func (n *native) verify(m *measured, from int, r region) (int64, error) {
	result := new(op.Result)
	n.op = op.Op{
		Kind: op.Verify, Type: m.Type, Bytes: r.bytes, Value: n.salt + uint64(from), Result: result,
		Dst: op.View{Buf: n.output, Off: r.off}, Src: op.View{Off: r.pattern},
	}
	if err := n.stream.Submit(&n.op); err != nil {
		return 0, err
	}
	err := n.stream.Sync(device.Forever)
	return result.Mismatches, err
}
