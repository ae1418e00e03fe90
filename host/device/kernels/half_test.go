package kernels

import (
	"math"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// TestWidenF16 compares every half with the definition.
func TestWidenF16(t *testing.T) {
	for h := range 1 << 16 {
		got, want := widenF16(uint16(h)), op.F32FromF16(uint16(h))
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%#04x: %x, want %x", h, math.Float32bits(got), math.Float32bits(want))
		}
	}
}
