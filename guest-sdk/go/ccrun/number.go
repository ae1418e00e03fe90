package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// Dtype is an element type.
type Dtype uint8

// The element types; U8 is plain bytes.
const (
	U8   Dtype = raw.DtypeU8
	I32  Dtype = raw.DtypeI32
	I64  Dtype = raw.DtypeI64
	F16  Dtype = raw.DtypeF16
	BF16 Dtype = raw.DtypeBf16
	F32  Dtype = raw.DtypeF32
	F64  Dtype = raw.DtypeF64
)

// RedOp is a reduction operator.
type RedOp uint8

// The operators; Avg is the sum divided by the number of sources.
const (
	Sum  RedOp = raw.RedopSum
	Prod RedOp = raw.RedopProd
	Min  RedOp = raw.RedopMin
	Max  RedOp = raw.RedopMax
	Avg  RedOp = raw.RedopAvg
)

// MaxSources is how many sources one [Stream.Reduce] can read.
const MaxSources = 8
