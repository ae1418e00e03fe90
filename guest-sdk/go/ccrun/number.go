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

// fits reports whether n is from 0 to most.
func fits(n int, most int64) bool { return n >= 0 && int64(n) <= most }

// hostIndex is n, a rank, a slot or a channel, for the host. What does not fit
// becomes a number that the host refuses.
func hostIndex(n int) uint32 {
	if !fits(n, 1<<32-1) {
		return 1<<32 - 1
	}
	return uint32(n)
}

// MaxSources is how many sources one [Stream.Reduce] can read.
const MaxSources = 8
