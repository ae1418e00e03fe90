package op

// Dtype is an element type. The numbers are part of the guest ABI.
type Dtype uint8

// The element types; U8 is plain bytes.
const (
	U8 Dtype = iota
	I32
	I64
	F16
	BF16
	F32
	F64
	dtypeCount
)

var dtypes = [...]struct {
	name string
	size int
}{U8: {"u8", 1}, I32: {"i32", 4}, I64: {"i64", 8}, F16: {"f16", 2}, BF16: {"bf16", 2}, F32: {"f32", 4}, F64: {"f64", 8}}

// Valid reports whether t is one of the types above.
func (t Dtype) Valid() bool { return t < dtypeCount }

// Size is the length of one element in bytes, 1 for an unknown type.
func (t Dtype) Size() int {
	if !t.Valid() {
		return 1
	}
	return dtypes[t].size
}

// String is the short name: "f32".
func (t Dtype) String() string {
	if !t.Valid() {
		return "unknown"
	}
	return dtypes[t].name
}

// RedOp is a reduction operator. The numbers are part of the guest ABI.
type RedOp uint8

// The operators. Avg is the sum divided by the number of sources.
const (
	Sum RedOp = iota
	Prod
	Min
	Max
	Avg
	redOpCount
)

var redOps = [...]string{Sum: "sum", Prod: "prod", Min: "min", Max: "max", Avg: "avg"}

// Valid reports whether r is one of the operators above.
func (r RedOp) Valid() bool { return r < redOpCount }

// String is the name as nccl-tests prints it.
func (r RedOp) String() string {
	if !r.Valid() {
		return "unknown"
	}
	return redOps[r]
}
