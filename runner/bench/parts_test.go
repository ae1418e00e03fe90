package bench

import (
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

func TestParts(t *testing.T) {
	for _, c := range []struct {
		share        int64
		ranks, bytes int
		spread       float64
		want         string
	}{
		{16, 4, 4, 1, "[0 8 20 32]"},
		{16, 4, 4, 0, "[16 16 16 16]"},
		{16, 4, 4, 0.5, "[8 12 16 24]"},
		{12, 3, 1, 1, "[0 0 16]"},
		{7, 1, 4, 1, "[4]"},
		{0, 3, 8, 1, "[0 0 0]"},
	} {
		if got := fmt.Sprint(partsOf(c.share, c.ranks, c.bytes, c.spread)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestTables holds that what one rank sends is what the other receives, and
// that parts do not overlap.
func TestTables(t *testing.T) {
	row := Row{Type: op.F32, Ranks: 3, Parts: []int64{1, 20, 300}}
	tables := row.tables()
	of := func(rank, table int) []int64 { return tables[table][3-rank:][:3] }
	const want = `rank 0 sends [1 20 300] at [0 1 21], receives [1 300 20] at [0 21 1]
rank 1 sends [300 1 20] at [21 0 1], receives [20 1 300] at [1 0 21]
rank 2 sends [20 300 1] at [1 21 0], receives [300 20 1] at [21 1 0]
`
	got := ""
	for rank := range 3 {
		got += fmt.Sprintf("rank %d sends %v at %v, receives %v at %v\n", rank, of(rank, 0), of(rank, 1), of(rank, 2), of(rank, 3))
	}
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
