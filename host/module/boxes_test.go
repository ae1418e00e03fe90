package module

import (
	"strings"
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

// submitBox submits one op structure of a box, and says what came of it.
func (r *testRank) submitBox(stream uint64, kind op.Kind, dst, src, rows, rowBytes, srcRow uint64) string {
	r.putBox(boxesAt, dst, src, rows, rowBytes, srcRow)
	o, _ := r.memory.Read(boxOps, abi.OpBytes)
	clear(o)
	put32(o, uint32(kind))
	put32(o[64:], boxesAt)
	errno, err := r.call("submit", stream, boxOps, 1, outAt)
	if err != nil {
		r.t.Error(err)
	}
	if errno == abi.OK {
		return "ok"
	}
	return errno.String() + ": " + strings.TrimPrefix(r.LastError(), "submit: op 0: ")
}

// TestGetBox has two ranks get columns of each other's matrices, and of their
// own, and try everything else with a peer's buffer. In the end a rank frees what
// the other still wants of it.
func TestGetBox(t *testing.T) {
	const srcPeer = "invalid: src: a peer's buffer; only get, get_box and reduce read from one"
	const dstPeer = "invalid: dst: a peer's buffer; only put writes to one"
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		w.together(func(r *testRank) {
			rank := r.config.Rank
			mine, packed, s := r.alloc(32), r.alloc(16), r.newStream()
			r.write(mine, 1, []string{"abcdefghijklmnopqrstuvwxyz01234", "ABCDEFGHIJKLMNOPQRSTUVWXYZ56789"}[rank])
			r.publish("m", 0, mine, 1, 31)
			theirs, own := r.mustLookup(1-rank, "m", 0), r.mustLookup(rank, "m", 0)
			for _, c := range []struct {
				kind            op.Kind
				dst, src        uint64
				rows, row, step uint64
				want            string
				bytes           [2]string // at each rank
			}{
				{op.GetBox, packed, theirs, 4, 2, 8, "ok", [2]string{"BCJKRSZ5", "bcjkrsz0"}},
				{op.GetBox, packed, theirs, 3, 3, 13, "ok", [2]string{"BCDOPQ678", "bcdopq123"}},
				{op.GetBox, packed, own, 4, 2, 8, "ok", [2]string{"bcjkrsz0", "BCJKRSZ5"}},
				{op.GetBox, packed, mine, 4, 2, 8, "ok", [2]string{"abijqryz", "ABIJQRYZ"}},
				{op.GetBox, packed, theirs, 0, 2, 8, "ok", [2]string{"abijqryz", "ABIJQRYZ"}},
				{op.CopyBox, packed, theirs, 4, 2, 8, srcPeer, [2]string{}},
				{op.GetBox, theirs, packed, 4, 2, 2, dstPeer, [2]string{}},
				{op.GetBox, packed, theirs, 4, 2, 10, "range: src: 32 bytes at 1 of a buffer of 31", [2]string{}},
				{op.GetBox, packed, theirs, 4, 5, 5, "range: dst: 20 bytes at 0 of a buffer of 16", [2]string{}},
				{op.GetBox, packed, 0, 4, 2, 8, "bad_handle: src: not a handle, or one of another kind", [2]string{}},
				{op.GetBox + 1, packed, theirs, 4, 2, 8, "invalid: kind: not an operation", [2]string{}},
			} {
				if got := r.submitBox(s, c.kind, c.dst, c.src, c.rows, c.row, c.step); got != c.want {
					t.Errorf("rank %d: %+v: %s", rank, c, got)
				}
				r.must("stream_sync", s, forever)
				if want := c.bytes[rank]; r.read(packed, 0, len(want)) != want {
					t.Errorf("rank %d: %+v: got %q", rank, c, r.read(packed, 0, len(want)))
				}
			}
			r.must("barrier", forever)
			r.must("buffer_free", mine)
			r.must("barrier", forever)
			got := r.submitBox(s, op.GetBox, packed, theirs, 4, 2, 8)
			if errno, _ := r.call("stream_sync", s, forever); !strings.HasPrefix(got, "stale: ") && errno != abi.Failed {
				t.Errorf("rank %d: of a buffer that was freed: %s", rank, got)
			}
		})
	})
}
