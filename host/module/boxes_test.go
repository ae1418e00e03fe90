package module

import (
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

const (
	boxesAt = 16384
	boxOps  = 20480
)

// putBox writes the box structure of a matrix's columns.
func (r *testRank) putBox(at uint32, dst, src, rows, rowBytes, srcRow uint64) {
	box, _ := r.memory.Read(at, abi.BoxBytes)
	clear(box)
	for field, v := range map[int]uint64{0: dst, 16: rowBytes, 32: src, 40: 1, 48: srcRow, 64: 1, 72: rows, 80: rowBytes} {
		put64(box[field:], v)
	}
}

// TestBatchOfBoxes submits boxes of different shapes at once, behind a wait that
// is not over: each keeps its own.
func TestBatchOfBoxes(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	a, s, other := r.alloc(64), r.newStream(), r.newStream()
	r.memory.WriteString(dataAt, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.,")
	r.must("buffer_write", a, 0, dataAt, 64)
	want := []string{"bjrz7F", "bcdpqr345", "bcdefghi"}
	shapes := [][3]uint64{{6, 1, 8}, {3, 3, 14}, {1, 8, 0}}
	var targets []uint64
	ops, _ := r.memory.Read(boxOps, uint32(len(shapes))*abi.OpBytes)
	clear(ops)
	for i, shape := range shapes {
		targets = append(targets, r.alloc(uint64(len(want[i]))))
		at := uint32(boxesAt + i*abi.BoxBytes)
		r.putBox(at, targets[i], a, shape[0], shape[1], shape[2])
		put32(ops[i*abi.OpBytes:], uint32(op.CopyBox))
		put32(ops[i*abi.OpBytes+64:], at)
	}
	r.must("wait", s, 0, 1, 1)
	r.must("submit", s, boxOps, uint64(len(shapes)), outAt)
	boxes, _ := r.memory.Read(boxesAt, uint32(len(shapes))*abi.BoxBytes)
	clear(boxes) // the guest may use its memory again
	r.must("signal", other, 0, 1, 1)
	r.must("stream_sync", s, forever)
	for i, target := range targets {
		r.must("buffer_read", target, 0, dataAt, uint64(len(want[i])))
		if got, _ := r.memory.Read(dataAt, uint32(len(want[i]))); string(got) != want[i] {
			t.Errorf("box %d: %q, want %q", i, got, want[i])
		}
	}
}
