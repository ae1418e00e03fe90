package ccruntest

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// fillVectors are the patterns that package op of the host guards.
const fillVectors = "../../../../host/op/testdata/vectors.txt"

var dtypeNames = map[string]uint8{
	"u8": raw.DtypeU8, "i32": raw.DtypeI32, "i64": raw.DtypeI64, "f16": raw.DtypeF16, "bf16": raw.DtypeBf16,
	"f32": raw.DtypeF32, "f64": raw.DtypeF64,
}

func TestPatternsAreTheHosts(t *testing.T) {
	text, err := os.ReadFile(fillVectors)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		var dtype string
		var seed, start, bytes uint64
		line, hex, _ := strings.Cut(block, "\n----\n")
		if n, _ := fmt.Sscanf(line, "fill type=%s seed=%d start=%d bytes=%d", &dtype, &seed, &start, &bytes); n != 4 {
			continue
		}
		got := make([]byte, bytes)
		fill(got, dtypeNames[dtype], seed, start)
		if want := strings.ReplaceAll(strings.TrimSpace(hex), "\n", ""); fmt.Sprintf("%x", got) != want {
			t.Errorf("%s:\ngot  %x\nwant %s", line, got, want)
		}
		seen[dtype] = true
	}
	if len(seen) != len(dtypeNames) {
		t.Errorf("%s has patterns of %v", fillVectors, seen)
	}
}

func TestShortFloats(t *testing.T) {
	const half, tiny = 1.0 / (1 << 11), 1.0 / (1 << 40)
	for _, c := range []struct {
		value     float64
		f16, bf16 uint16
	}{
		{0, 0, 0}, {math.Copysign(0, -1), 0x8000, 0x8000}, {1, 0x3c00, 0x3f80}, {-2, 0xc000, 0xc000},
		{1 + half, 0x3c00, 0x3f80}, {1 + half + tiny, 0x3c01, 0x3f80}, {1 + 3*half, 0x3c02, 0x3f80},
		{1 + 1.0/256, 0x3c04, 0x3f80}, {1 + 1.0/256 + tiny, 0x3c04, 0x3f81}, {1 + 3.0/256, 0x3c0c, 0x3f82},
		{65519.9, 0x7bff, 0x4780}, {65520, 0x7c00, 0x4780}, {-1e300, 0xfc00, 0xff80}, {math.Inf(1), 0x7c00, 0x7f80},
		{1.0 / (1 << 24), 1, 0x3380}, {1.0 / (1 << 25), 0, 0x3300}, {math.NaN(), 0x7e00, 0x7fc0},
	} {
		if f16, bf16 := toF16(c.value), toBF16(c.value); f16 != c.f16 || bf16 != c.bf16 {
			t.Errorf("%v: %#x %#x, want %#x %#x", c.value, f16, bf16, c.f16, c.bf16)
		}
	}
	for h := range uint16(0x7c01) {
		for _, h := range []uint16{h, h | 0x8000} {
			if got := toF16(fromF16(h)); got != h {
				t.Errorf("f16 %#x becomes %#x", h, got)
			}
		}
	}
}
