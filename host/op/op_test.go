package op_test

import (
	"errors"
	"math"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// memory is a buffer of a device that has only sizes.
type memory int64

func (m memory) Size() int64 { return int64(m) }
func (m memory) Peer() int   { return -1 }

// moment is an event of a device that has no time.
type moment struct{}

func (moment) Recorded() bool { return true }

func at(size, off int64) op.View { return op.View{Buf: memory(size), Off: off} }

func TestCheck(t *testing.T) {
	reduce := func(change func(*op.Op)) op.Op {
		o := op.Op{Kind: op.Reduce, Type: op.F32, Red: op.Max, Bytes: 64, Dst: at(64, 0), SourceCount: 2}
		o.Sources[0], o.Sources[1] = at(64, 0), at(128, 64)
		change(&o)
		return o
	}
	fill := func(t op.Dtype, size, off int64) op.Op {
		return op.Op{Kind: op.Fill, Type: t, Bytes: size, Dst: at(64, 0), Src: op.View{Off: off}}
	}
	const last = math.MaxInt64
	cases := []struct {
		name string
		o    op.Op
		want error
	}{
		{"no kind", op.Op{}, op.ErrKind},
		{"a kind of records only", op.Op{Kind: op.Collective}, op.ErrKind},
		{"unknown kind", op.Op{Kind: 255}, op.ErrKind},

		{"copy", op.Op{Kind: op.Copy, Bytes: 8, Dst: at(8, 0), Src: at(16, 8)}, nil},
		{"copy of nothing at the end", op.Op{Kind: op.Copy, Dst: at(8, 8), Src: at(0, 0)}, nil},
		{"copy without destination", op.Op{Kind: op.Copy, Bytes: 8, Src: at(8, 0)}, op.ErrRange},
		{"copy without source", op.Op{Kind: op.Copy, Bytes: 8, Dst: at(8, 0)}, op.ErrRange},
		{"put past the destination", op.Op{Kind: op.Put, Bytes: 9, Dst: at(8, 0), Src: at(16, 0)}, op.ErrRange},
		{"get past the source", op.Op{Kind: op.Get, Bytes: 9, Dst: at(16, 0), Src: at(16, 8)}, op.ErrRange},
		{"negative bytes", op.Op{Kind: op.Copy, Bytes: -1, Dst: at(8, 0), Src: at(8, 0)}, op.ErrRange},
		{"negative offset", op.Op{Kind: op.Copy, Bytes: 1, Dst: at(8, -1), Src: at(8, 0)}, op.ErrRange},
		{"sum overflows", op.Op{Kind: op.Copy, Bytes: last, Dst: at(8, last), Src: at(8, last)}, op.ErrRange},
		{"sum overflows by one", op.Op{Kind: op.Copy, Bytes: 1, Dst: at(last, last), Src: at(8, 0)}, op.ErrRange},
		{"least offset", op.Op{Kind: op.Copy, Bytes: 1, Dst: at(last, math.MinInt64), Src: at(8, 0)}, op.ErrRange},

		{"signal", op.Op{Kind: op.Signal, Peer: 1, Value: 1}, nil},
		{"wait", op.Op{Kind: op.Wait, Peer: 1, Value: 1}, nil},
		{"send", op.Op{Kind: op.Send, Bytes: 8, Src: at(8, 0)}, nil},
		{"send past its buffer", op.Op{Kind: op.Send, Bytes: 8, Src: at(8, 1)}, op.ErrRange},
		{"receive", op.Op{Kind: op.Recv, Bytes: 8, Dst: at(8, 0)}, nil},
		{"receive past its buffer", op.Op{Kind: op.Recv, Bytes: 8, Dst: at(7, 0)}, op.ErrRange},

		{"reduce", reduce(func(*op.Op) {}), nil},
		{"reduce of no source", reduce(func(o *op.Op) { o.SourceCount = 0 }), op.ErrSources},
		{"reduce of nine sources", reduce(func(o *op.Op) { o.SourceCount = 9 }), op.ErrSources},
		{"reduce of 255 sources", reduce(func(o *op.Op) { o.SourceCount = 255 }), op.ErrSources},
		{"reduce of an empty view", reduce(func(o *op.Op) { o.SourceCount = 3 }), op.ErrRange},
		{"reduce past a source", reduce(func(o *op.Op) { o.Sources[1].Off = 65 }), op.ErrRange},
		{"reduce past the destination", reduce(func(o *op.Op) { o.Dst.Off = 1 }), op.ErrRange},
		{"reduce of parts of elements", reduce(func(o *op.Op) { o.Bytes = 62 }), op.ErrRange},
		{"reduce of an unknown type", reduce(func(o *op.Op) { o.Type = 200 }), op.ErrType},
		{"reduce by an unknown operator", reduce(func(o *op.Op) { o.Red = 200 }), op.ErrRedOp},

		{"fill", fill(op.F32, 64, 4096), nil},
		{"fill of bytes at an odd place", fill(op.U8, 63, 5), nil},
		{"fill past its buffer", fill(op.U8, 65, 0), op.ErrRange},
		{"fill of parts of elements", fill(op.F32, 63, 0), op.ErrRange},
		{"fill from within an element", fill(op.F32, 64, 2), op.ErrRange},
		{"fill from before the pattern", fill(op.U8, 64, -1), op.ErrRange},
		{"fill past the end of the pattern", fill(op.U8, 64, last-63), op.ErrRange},
		{"fill with an unknown type", fill(9, 64, 0), op.ErrType},
		{"verify of parts of elements", op.Op{Kind: op.Verify, Type: op.I64, Bytes: 12, Dst: at(64, 0)}, op.ErrRange},
		{"digest", op.Op{Kind: op.Digest, Bytes: 13, Dst: at(13, 0)}, nil},
		{"digest without buffer", op.Op{Kind: op.Digest}, op.ErrRange},

		{"record", op.Op{Kind: op.EventRecord, Event: moment{}}, nil},
		{"record of no event", op.Op{Kind: op.EventRecord}, op.ErrEvent},
		{"wait for no event", op.Op{Kind: op.EventWait}, op.ErrEvent},
	}
	for _, c := range cases {
		if err := c.o.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// FuzzCheck checks arbitrary operations: whatever Check lets through has its
// views inside their buffers, by arithmetic that cannot overflow.
func FuzzCheck(f *testing.F) {
	f.Add(uint8(op.Copy), uint8(0), uint8(0), uint8(0), int64(8), int64(0), int64(0), int64(8))
	f.Add(uint8(op.Reduce), uint8(op.F32), uint8(op.Sum), uint8(2), int64(8), int64(0), int64(0), int64(8))
	f.Add(uint8(op.Put), uint8(0), uint8(0), uint8(0), int64(math.MaxInt64), int64(math.MaxInt64), int64(1), int64(math.MaxInt64))
	f.Add(uint8(op.Fill), uint8(op.F16), uint8(0), uint8(0), int64(2), int64(4), int64(math.MinInt64), int64(8))
	f.Fuzz(func(t *testing.T, kind, dtype, red, sources uint8, size, dst, src, buffer int64) {
		if buffer < 0 {
			return // no device has such a buffer
		}
		o := op.Op{Kind: op.Kind(kind), Type: op.Dtype(dtype), Red: op.RedOp(red), Bytes: size,
			Dst: at(buffer, dst), Src: at(buffer, src), SourceCount: sources}
		for i := range o.Sources {
			o.Sources[i] = at(buffer, src)
		}
		if o.Check() != nil {
			return
		}
		inside := func(off int64) bool { return off >= 0 && size >= 0 && uint64(off)+uint64(size) <= uint64(buffer) }
		writes := o.Kind == op.Copy || o.Kind == op.Put || o.Kind == op.Get || o.Kind == op.Recv ||
			o.Kind == op.Reduce || o.Kind == op.Fill || o.Kind == op.Verify || o.Kind == op.Digest
		reads := o.Kind == op.Copy || o.Kind == op.Put || o.Kind == op.Get || o.Kind == op.Send || o.Kind == op.Reduce
		if writes && !inside(dst) || reads && !inside(src) || size < 0 {
			t.Fatalf("%v of %d bytes from %d to %d of %d passes", o.Kind, size, src, dst, buffer)
		}
	})
}

// TestNamesOfNumbers walks every possible number: names are distinct, and
// exactly the unknown numbers are called unknown.
func TestNamesOfNumbers(t *testing.T) {
	known := map[string]int{"kind": 25, "dtype": 7, "redop": 5, "collective": 12}
	seen := make(map[string]map[string]bool)
	for enum := range known {
		seen[enum] = make(map[string]bool)
	}
	record := func(enum, name string) {
		if name != "unknown" && seen[enum][name] {
			t.Errorf("two numbers of %s are called %s", enum, name)
		}
		seen[enum][name] = true
	}
	for i := range 256 {
		record("kind", op.Kind(i).String())
		record("dtype", op.Dtype(i).String())
		record("redop", op.RedOp(i).String())
		record("collective", op.CollectiveOp(i).String())
	}
	for enum, names := range seen {
		if len(names) != known[enum]+1 || !names["unknown"] {
			t.Errorf("%s: %d names, want %d and unknown: %v", enum, len(names), known[enum], names)
		}
	}
	if op.Dtype(200).Size() != 1 || op.Kind(200).Moves() || !op.Put.Moves() || !op.Send.HasPeer() || op.Put.HasPeer() {
		t.Error("properties of kinds and types")
	}
}
