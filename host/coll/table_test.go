package coll

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

func TestTableText(t *testing.T) {
	for _, want := range []Table{nil, DefaultTable()} {
		got, err := ParseTable(want.String())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v became %v, %v", want, got, err)
		}
	}
	got, err := ParseTable("# of this machine\n\n all_gather\tbytes_max=5 algorithm=pull # measured\r\nbarrier ranks_max=3 algorithm=oneshot")
	want := Table{{Collective: op.AllGather, BytesMax: 5, Algorithm: Pull}, {Collective: op.BarrierAll, RanksMax: 3, Algorithm: Oneshot}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTableErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"all_of_them algorithm=ring", `line 1: "all_of_them" is no collective`},
		{"\nscatter algorithm=ring", `line 2: algorithm: scatter has no "ring"`},
		{"scatter algorithm=auto", `line 1: algorithm: scatter has no "auto"`},
		{"all_reduce ranks_max=4", `line 1: algorithm: missing`},
		{"all_reduce direct", `line 1: "direct" is not a key and a value`},
		{"all_reduce ranks_max=0 algorithm=ring", `line 1: ranks_max: "0" is not a whole number above 0`},
		{"all_reduce bytes_max=16K algorithm=ring", `line 1: bytes_max: "16K" is not a whole number above 0`},
		{"all_reduce bytes_max=9223372036854775808 algorithm=ring", `line 1: bytes_max: "9223372036854775808" is not a whole number above 0`},
		{"all_reduce size=1 algorithm=ring", `line 1: size: unknown key`},
		{"all_reduce bytes_max=1 bytes_max=2 algorithm=ring", `line 1: bytes_max: given twice`},
		{strings.Repeat("all_reduce algorithm=ring\n", RulesMax+1), `line 257: more than 256 rules`},
	} {
		_, err := ParseTable(c.text)
		if !errors.Is(err, ErrTable) || err.Error() != c.want+": "+ErrTable.Error() {
			t.Errorf("%q: got %q, want %q", c.text, err, c.want)
		}
	}
}

func TestTableOrDefault(t *testing.T) {
	mine := append(make(Table, 0, 9), Rule{Collective: op.AllReduce, RanksMax: 4, Algorithm: Ring})
	table := mine.OrDefault()
	if got := table[1:]; table[0] != mine[0] || !reflect.DeepEqual(got, DefaultTable()) {
		t.Errorf("%v", table)
	}
	for ranks, want := range map[int]Algorithm{4: Ring, 5: Oneshot} {
		if got := table.Select(Shape{Collective: op.AllReduce, Type: op.F32, Ranks: ranks, Count: 2}); got != want {
			t.Errorf("%d ranks: %v, want %v", ranks, got, want)
		}
	}
	if text := mine[:2].String(); text != "all_reduce ranks_max=4 algorithm=ring\ncustom algorithm=auto\n" {
		t.Errorf("the default was written behind the table: %s", text)
	}
}

// TestSelectionCanBeCarriedOut: whatever a table says, the choice has a
// program.
func TestSelectionCanBeCarriedOut(t *testing.T) {
	for _, table := range []Table{nil, DefaultTable()} {
		for _, ranks := range []int{1, 2, 9, 64} {
			for _, count := range []int64{0, 1, 300, 5000, 1 << 20} {
				eachShape(ranks, count, func(s Shape) {
					s.Algorithm = table.Select(s)
					if s.Collective == op.AllToAllV && s.InPlace {
						return
					}
					if _, err := Plan(s, ranks-1); err != nil {
						t.Errorf("%+v: %v", s, err)
					}
				})
			}
		}
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add(DefaultTable().String())
	f.Add("all_reduce ranks_max=4")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ParseTable(text)
		if err != nil {
			return
		}
		again, err := ParseTable(table.String())
		if err != nil || !reflect.DeepEqual(again, table) {
			t.Errorf("%q became %v and then %v, %v", text, table, again, err)
		}
	})
}
