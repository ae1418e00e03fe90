package sim

import (
	"math/rand/v2"
	"testing"
)

// Against byte after byte, of an allocation so small that a part is one byte.
func TestLinesOfBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const bytes, cores = 200, 3
	l := linesOf(bytes)
	var has [bytes][cores]bool
	for range 5000 {
		off, core := r.Int64N(bytes), r.IntN(cores)
		n := r.Int64N(bytes - off + 1)
		writes := r.IntN(2) == 0
		want := int64(0)
		for i := off; i < off+n; i++ {
			if !has[i][core] {
				want++
			}
			if writes {
				has[i] = [cores]bool{}
			}
			has[i][core] = true
		}
		if got := l.missing(off, n, core); got != want {
			t.Fatalf("core %d lacks %d of [%d:%d), want %d", core, got, off, off+n, want)
		}
		if writes {
			l.written(off, n, core)
		} else {
			l.read(off, n, core)
		}
	}
}

// Parts cover a region once, whatever the sizes.
func TestLinesCoverRegions(t *testing.T) {
	for _, bytes := range []int64{1, 255, 256, 257, 1 << 20, 1<<30 + 7} {
		l := linesOf(bytes)
		for _, region := range [][2]int64{{0, bytes}, {bytes / 3, bytes / 2}, {bytes - 1, 1}, {bytes / 2, 0}} {
			off, n := region[0], region[1]
			if got := l.missing(off, n, 0); got != n {
				t.Errorf("%d bytes: %d at %d, got %d", bytes, n, off, got)
			}
		}
		l.read(0, bytes, 64)
		if l.missing(0, bytes, 0) != 0 || l.missing(0, bytes, 1) != bytes {
			t.Errorf("%d bytes: cores 64 apart share a bit, others do not", bytes)
		}
		if len(l.holders) > partsMax {
			t.Errorf("%d bytes in %d parts", bytes, len(l.holders))
		}
	}
	empty := linesOf(0)
	if empty.written(0, 0, 0); empty.missing(0, 0, 0) != 0 {
		t.Error("nothing of nothing is missing")
	}
}
