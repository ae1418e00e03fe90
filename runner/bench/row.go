package bench

import (
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// Row is a row of the table: a call, measured out of place and in place.
type Row struct {
	Collective Collective
	Type       op.Dtype
	Red        op.RedOp // of collectives that reduce
	Root       int      // of rooted ones, -1 of others
	Count      int64    // elements, as [op.Call] counts them; of alltoallv a rank's in equal parts
	Parts      []int64  // of alltoallv: elements from each rank to the one that is 0, 1, 2... on
	Ranks      int
	Iterations int
	Algorithm  string // "" for what the host selects
}

// layout is where input and output of a call lie.
type layout int

const (
	outOfPlace layout = iota
	together          // nccl-tests says in place
)

// layouts are those that are measured: both, unless only one can be carried
// out.
func (r *Row) layouts() []layout {
	both := []layout{outOfPlace, together}
	if r.Collective.inPlace == missing {
		return both[:1]
	}
	a, known := coll.AlgorithmNamed(r.Algorithm)
	if !known {
		return both
	}
	for i, other := range []layout{together, outOfPlace} {
		if r.carriedOut(a, both[i]) && !r.carriedOut(a, other) {
			return both[i : i+1]
		}
	}
	return both
}

// carriedOut reports whether an algorithm has a program for the call.
func (r *Row) carriedOut(a coll.Algorithm, l layout) bool {
	shape := r.shape(l)
	shape.Algorithm = a
	return shape.Check() == nil
}

// shape is what rank 0's program for the call depends on, but for the
// algorithm.
func (r *Row) shape(l layout) coll.Shape {
	s := coll.Shape{Collective: r.Collective.Op, Type: r.Type, Ranks: r.Ranks, Root: max(r.Root, 0), Count: r.Count, InPlace: l == together}
	if r.Parts != nil {
		s.Count = 0
	}
	return s
}

// Bytes is the size of the whole array, as nccl-tests counts it.
func (r *Row) Bytes() int64 {
	if r.Parts != nil {
		elements := int64(0)
		for _, part := range r.Parts {
			elements += part
		}
		return elements * int64(r.Type.Size())
	}
	return r.shareBytes() * r.Collective.shares(r.Ranks)
}

// shareBytes is what one rank has of the array, or the whole array where ranks
// have no shares.
func (r *Row) shareBytes() int64 { return r.Count * int64(r.Type.Size()) }

// redName is the operator's name as nccl-tests prints it.
func (r *Row) redName() string {
	if !r.Collective.reduces {
		return "none"
	}
	return r.Red.String()
}

// bandwidth gives what nccl-tests makes of a time, in GB/s of 10^9 bytes. No
// time gives no bandwidth.
func (r *Row) bandwidth(secs float64) (algbw, busbw float64) {
	if secs <= 0 {
		return 0, 0
	}
	algbw = float64(r.Bytes()) / 1e9 / secs
	return algbw, algbw * r.Collective.Op.BusFactor(r.Ranks)
}

// typeNames are the element types as nccl-tests prints them, in the order of
// `-d all`.
var typeNames = []struct {
	dtype op.Dtype
	name  string
}{{op.U8, "uint8"}, {op.I32, "int32"}, {op.I64, "int64"}, {op.F16, "half"}, {op.F32, "float"}, {op.F64, "double"}, {op.BF16, "bfloat16"}}

func typeName(t op.Dtype) string {
	for _, n := range typeNames {
		if n.dtype == t {
			return n.name
		}
	}
	return "unknown"
}

// ParseTypes reads `-d`: a type as nccl-tests or ccrun call it, or all. False
// means that there is no such type.
func ParseTypes(word string) ([]op.Dtype, bool) {
	var types []op.Dtype
	for _, n := range typeNames {
		if word == "all" || word == n.name || word == n.dtype.String() {
			types = append(types, n.dtype)
		}
	}
	return types, len(types) > 0
}

// redOps are in nccl-tests' order of `-o all`.
var redOps = []op.RedOp{op.Sum, op.Prod, op.Max, op.Min, op.Avg}

// ParseRedOps reads `-o`: an operator, or all. False means that there is none
// of that name.
func ParseRedOps(word string) ([]op.RedOp, bool) {
	var reds []op.RedOp
	for _, r := range redOps {
		if word == "all" || word == r.String() {
			reds = append(reds, r)
		}
	}
	return reds, len(reds) > 0
}
