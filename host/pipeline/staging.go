package pipeline

import (
	"math"
	"math/bits"
)

// Class rounds a size so that memory can be used again for others of about that
// size: to multiples of 256 up to 4 KiB, then to eighths of the power of two
// below. So at most an eighth is wasted.
func Class(bytes int64) int64 {
	if bytes <= 0 {
		return 0
	}
	step := int64(256)
	if bytes > 4096 {
		step = 1 << (bits.Len64(uint64(bytes)) - 1 - 3)
	}
	return roundUp(bytes, step)
}

// roundUp is the least multiple of step, a power of two, that is no less than n.
func roundUp(n, step int64) int64 {
	if n > math.MaxInt64-step {
		return math.MaxInt64
	}
	return (n + step - 1) &^ (step - 1)
}
