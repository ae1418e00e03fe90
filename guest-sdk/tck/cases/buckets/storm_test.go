package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

// text is what all ranks write.
type text struct {
	sync.Mutex
	bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	return t.Buffer.Write(p)
}

// What the guest expects and what the stand-in of the host does agree, though
// one knows of elements and the other of boxes.
func TestStorm(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7, 12} {
		var out text
		result := ccruntest.Run(t, ranks, func(w *ccrun.World) error {
			return storm(w, strings.Fields(fmt.Sprintf("-cases 40 -seed %d", ranks)), &out, &host{})
		})
		if err := errors.Join(result.Errs...); err != nil || !strings.Contains(out.String(), "40 cases: ") {
			t.Errorf("%d ranks: %v\n%s", ranks, err, &out)
		}
	}
}

// A byte that is wrong fails its case, wherever it is.
func TestStormSeesAWrongByte(t *testing.T) {
	for _, buffer := range []string{"source", "target"} {
		for _, place := range []func(int) int{
			func(int) int { return 0 },
			func(n int) int { return n / 2 },
			func(n int) int { return n - 1 },
		} {
			spoil := func(name string, image []byte) {
				if name == buffer && len(image) > 0 {
					image[place(len(image))] ^= 0x10
				}
			}
			found := fmt.Sprintf("case 6 (repeat it with -seed 1 -first 6 -cases 1): %s buffer: 1 of ", buffer)
			expectFailure(t, &host{spoil: spoil}, found)
		}
	}
}

// A host that stages buckets and tells of no peaks is seen through: that of the
// tests is one.
func TestStormSeesPeaksThatAreTooLow(t *testing.T) {
	expectFailure(t, &host{stages: true}, "a bucket and peak of buckets: 1, more than 0")
	expectFailure(t, &host{stages: true}, "largest bucket and peak of bytes: ")
}

// expectFailure has both of two ranks find something in the cases from 5 to 7.
func expectFailure(t *testing.T, h *host, found string) {
	t.Helper()
	var out text
	result := ccruntest.Run(t, 2, func(w *ccrun.World) error {
		return storm(w, []string{"-cases", "3", "-first", "5"}, &out, h)
	})
	for rank, err := range result.Errs {
		seen := false
		for line := range strings.Lines(out.String()) {
			seen = seen || strings.HasPrefix(line, fmt.Sprintf("rank %d: ", rank)) && strings.Contains(line, found)
		}
		if err == nil || !seen {
			t.Errorf("%s: rank %d: %v\n%s", found, rank, err, &out)
		}
	}
}

// A case alone is the case within the storm.
func TestCasesAreAFunctionOfTheirSeed(t *testing.T) {
	about := func(args ...string) string {
		var out text
		ccruntest.Run(t, 3, func(w *ccrun.World) error {
			return storm(w, append(args, "-v"), &out, &host{})
		})
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "case 4:") {
				return line
			}
		}
		return ""
	}
	all, alone := about("-cases", "6"), about("-first", "4", "-cases", "1")
	if all == "" || all != alone {
		t.Errorf("in the storm %q, alone %q", all, alone)
	}
}

// A storm comes by everything that a pipeline can be told.
func TestStormIsVaried(t *testing.T) {
	seen := map[string]int{}
	ccruntest.Run(t, 8, func(w *ccrun.World) error {
		for seed := range uint64(400) {
			c, err := drawCase(w, seed)
			if err != nil {
				return err
			}
			if w.Rank() == 0 {
				for _, what := range traits(c) {
					seen[what]++
				}
			}
		}
		return nil
	})
	for what, n := range map[string]int{
		"policy": 5, "publish": 3, "checksums": 2, "budget": len(budgets), "streams": streamsMax, "per channel": 5, "runs": 2, "ordered": 2,
		"joined": 2, "script": len(scripts), "transport": 4, "parts": 2, "type": 7, "operator": 4, "stays": 2, "many": 2,
	} {
		count := 0
		for key, times := range seen {
			if strings.HasPrefix(key, what+" ") && times >= 5 {
				count++
			}
		}
		if count < n {
			t.Errorf("%d kinds of %s, want %d: %v", count, what, n, seen)
		}
	}
}

// traits are what a case is like, each a word with its value.
func traits(c *kase) []string {
	o := c.setup.options
	all := []string{
		fmt.Sprintf("policy %d", o.Policy), fmt.Sprintf("publish %d", o.Publish), fmt.Sprintf("checksums %t", o.Checksums),
		fmt.Sprintf("budget %d", c.setup.budget), fmt.Sprintf("streams %d", c.setup.streams), fmt.Sprintf("per channel %d", o.MaxInFlight),
		fmt.Sprintf("runs %d", c.setup.runs), fmt.Sprintf("ordered %t", o.Order != nil), fmt.Sprintf("joined %t", o.BucketBytes > 0),
	}
	if o.Admit != nil {
		all = append(all, fmt.Sprintf("script %d", c.setup.script))
	}
	for i, e := range c.load.entries() {
		all = append(all,
			fmt.Sprintf("transport %d", c.setup.transport(i, &e)), fmt.Sprintf("parts %t", len(e.Parts) > 1), fmt.Sprintf("type %d", e.Dtype),
			fmt.Sprintf("stays %t", slices.Equal(e.Destinations, []int{e.Source})), fmt.Sprintf("many %t", len(e.Destinations) > 1))
		if len(e.Parts) > 1 {
			all = append(all, fmt.Sprintf("operator %d", e.RedOp))
		}
	}
	return all
}

func TestBadArguments(t *testing.T) {
	ccruntest.Run(t, 1, func(w *ccrun.World) error {
		if err := storm(w, []string{"-cases", "x"}, io.Discard, &host{}); err == nil {
			t.Error("not a number of cases")
		}
		return nil
	})
}

func TestNumbersAreExact(t *testing.T) {
	for v := int64(-600); v <= 600; v++ {
		var b [8]byte
		encode(b[:], ccrun.F16, v)
		h := binary.LittleEndian.Uint16(b[:])
		sign, exponent, fraction := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)/1024
		if got := sign * math.Ldexp(1+fraction, exponent-15); v != 0 && got != float64(v) || v == 0 && h != 0 {
			t.Errorf("%d is %g in F16", v, got)
		}
		encode(b[:], ccrun.BF16, v)
		if got := math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[:])) << 16); v >= -256 && v <= 256 && got != float32(v) {
			t.Errorf("%d is %g in BF16", v, got)
		}
	}
	for _, dtype := range dtypes {
		for _, red := range redOps {
			sum := int64(0)
			for i := range uint64(2000) {
				for part := range 60 {
					v := element{1, 2, i}.part(dtype, red, part)
					sum = max(sum, v, -v)
				}
			}
			most := map[ccrun.RedOp]int64{ccrun.Sum: 256 / 60, ccrun.Prod: 100, ccrun.Min: 200, ccrun.Max: 200}[red]
			if sum > most || sum == 0 {
				t.Errorf("type %d, operator %d: numbers of up to %d", dtype, red, sum)
			}
		}
	}
}

// A part that is left out shows: in the sum, or the like, of some element.
func TestEveryPartShows(t *testing.T) {
	for _, dtype := range dtypes {
		for _, red := range []ccrun.RedOp{ccrun.Sum, ccrun.Prod} {
			for lost := range 60 {
				shows := false
				for i := range uint64(200) {
					v := element{1, 2, i}.part(dtype, red, lost)
					shows = shows || red == ccrun.Sum && v != 0 || red == ccrun.Prod && v != 1
				}
				if !shows {
					t.Errorf("type %d, operator %d: part %d of 60 changes nothing", dtype, red, lost)
				}
			}
		}
	}
	for i := range uint64(2000) {
		product := int64(1)
		for part := range 60 {
			product *= element{1, 2, i}.part(ccrun.U8, ccrun.Prod, part)
		}
		if product > 255 {
			t.Errorf("element %d: a product of %d", i, product)
		}
	}
}
