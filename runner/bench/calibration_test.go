package bench

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// calibrated feeds a calibration with times in microseconds, given for a call
// of an algorithm and a round.
func calibrated(ranks int, rounds int, micros func(row *Row, l layout, round int) float64) *Calibration {
	c := NewCalibration(ranks, []Size{{8, 1}, {1 << 10, 1}, {16 << 10, 1}, {1 << 20, 1}})
	for round := range rounds {
		for _, row := range c.Rows(round) {
			var timings [2]*Timing
			for _, l := range row.layouts() {
				timings[l] = &Timing{Secs: micros(&row, l, round) / 1e6}
			}
			c.Add(&row, timings[0], timings[1])
		}
	}
	return c
}

// TestCalibration writes a table: all_reduce by ring is faster in the middle,
// broadcast by tree only by 9 %, all_gather by pull in too few rounds,
// all_to_all by oneshot in both layouts.
func TestCalibration(t *testing.T) {
	all := Calibrations{}
	for _, ranks := range []int{2, 4} {
		all = append(all, calibrated(ranks, 8, func(row *Row, _ layout, round int) float64 {
			switch {
			case row.Collective.Op == op.AllReduce && row.Algorithm == "ring" && ranks == 2 && row.Bytes() == 1<<10:
				return 8
			case row.Collective.Op == op.Broadcast && row.Algorithm == "tree":
				return 9.2
			case row.Collective.Op == op.AllGather && row.Algorithm == "pull" && round%8 > 2:
				return 5
			case row.Collective.Op == op.AllGather && row.Algorithm == "pull":
				return 11
			case row.Collective.Op == op.AllToAll && row.Algorithm == "oneshot" && ranks == 2:
				return 5
			case row.Collective.Op == op.Gather && row.Algorithm == "direct" && row.Bytes() == 1<<20 && ranks == 4:
				return 12
			}
			return 10
		}))
	}
	var b strings.Builder
	if err := all.Write(&b, []string{"machine: none"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "calibration.txt", b.String())
	table, err := coll.ParseTable(b.String())
	if err != nil || !reflect.DeepEqual(table, all.Rules()) {
		t.Errorf("read %v, %v", table, err)
	}
	if rounds := all[1].Rounds(); rounds != 8 {
		t.Errorf("%d rounds", rounds)
	}
}

// TestCalibrationWithoutAdvantage writes no rule when all algorithms are alike.
func TestCalibrationWithoutAdvantage(t *testing.T) {
	all := Calibrations{calibrated(3, 4, func(*Row, layout, int) float64 { return 10 })}
	if rules := all.Rules(); len(rules) > 0 {
		t.Errorf("%v", rules)
	}
	if rules := (Calibrations{NewCalibration(3, []Size{{8, 1}, {1 << 20, 1}})}).Rules(); len(rules) > 0 {
		t.Errorf("of nothing measured: %v", rules)
	}
}

// TestCalibrationSelects holds that a table selects, in the end, what was
// chosen for each call that was measured.
func TestCalibrationSelects(t *testing.T) {
	var all Calibrations
	for _, ranks := range []int{2, 3, 8} {
		all = append(all, calibrated(ranks, 3, func(row *Row, _ layout, _ int) float64 {
			return float64(10 + (len(row.Algorithm)*7+int(row.Bytes()>>9)*13+ranks*5)%50)
		}))
	}
	table := all.Rules().OrDefault()
	for _, c := range all {
		for i := range c.contests {
			k := &c.contests[i]
			for l, want := range k.choose() {
				if got := table.Select(k.row.shape(layout(l))); got != want {
					t.Errorf("%s", fmt.Sprint(c.Ranks, " ranks ", k.row.Collective.Name, " ", k.row.Bytes(), " bytes, layout ", l, ": ", got, ", want ", want))
				}
			}
		}
	}
}
