package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{5, 1}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 100}, 3.5},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

// The ratio is that of a round, not that of medians of different rounds.
func TestRatio(t *testing.T) {
	r := rounds{"a": {10, 200, 3000}, "b": {5, 100, 1000}}
	if got := r.ratio("a", "b"); got != 2 {
		t.Errorf("ratio %v, want 2", got)
	}
	if got := r.ratio("a", "none"); got != 0 {
		t.Errorf("ratio to what was not measured: %v", got)
	}
}

func TestEachRoundBeginsWithAnother(t *testing.T) {
	var order strings.Builder
	var list []contestant
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, contestant{name, func(context.Context, ccrun.ByteSize) (nanosBy, error) {
			order.WriteString(name)
			return nanosBy{name: float64(order.Len())}, nil
		}})
	}
	r, err := play(t.Context(), list, 4, 0)
	if err != nil || order.String() != "abcbcacababc" || median(r["a"]) != 7 {
		t.Errorf("order %s, times %v, %v", order.String(), r, err)
	}
	broken := errors.New("broken")
	list[1].run = func(context.Context, ccrun.ByteSize) (nanosBy, error) { return nil, broken }
	if _, err := play(t.Context(), list, 1, 0); !errors.Is(err, broken) || err.Error() != "b: broken" {
		t.Errorf("a contestant that fails: %v", err)
	}
}

func TestParseMPI(t *testing.T) {
	text := `{"what":"copy","bytes":64,"p50_ns":12}
{"what":"mpi in place","bytes":64,"p50_ns":34.5}
`
	got, err := parseMPI([]byte(text))
	if err != nil || len(got) != 2 || got["copy"] != 12 || got["mpi in place"] != 34.5 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"hello\n", "{}\n", `{"what":"copy","p50_ns":0}`, text + "\n"} {
		if got, err := parseMPI([]byte(bad)); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

func TestParseResult(t *testing.T) {
	const good = `{"verified":true,"collectives":[{"op":"barrier","count":20,"cct_s":{"p50":9}},` +
		`{"op":"all_gather","count":20,"cct_s":{"p50":0.0015}}],"records":{"written":5,"dropped":0}}`
	if nanos, err := parseResult([]byte(good), 20); err != nil || nanos != 1.5e6 {
		t.Errorf("%v ns, %v, want 1.5e6", nanos, err)
	}
	for what, change := range map[string][2]string{
		"not verified":     {`true`, `false`},
		"nothing verified": {`true`, `null`},
		"dropped records":  {`"dropped":0`, `"dropped":1`},
		"other count":      {`"count":20,"cct_s":{"p50":0`, `"count":19,"cct_s":{"p50":0`},
		"no JSON":          {`{"verified`, `verified`},
	} {
		if nanos, err := parseResult([]byte(strings.Replace(good, change[0], change[1], 1)), 20); err == nil {
			t.Errorf("%s: taken as %v ns", what, nanos)
		}
	}
}

func TestParsePingpong(t *testing.T) {
	const good = "hello\n64 bytes there and back: min 700 ns, median 812 ns\n"
	if nanos, err := parsePingpong([]byte(good), 64); err != nil || nanos != 812 {
		t.Errorf("%v ns, %v, want 812", nanos, err)
	}
	for _, bad := range []string{"", "32 bytes there and back: min 1 ns, median 2 ns\n", "64 bytes there and back: median 2 ns\n"} {
		if nanos, err := parsePingpong([]byte(bad), 64); err == nil {
			t.Errorf("%q is taken as %v ns", bad, nanos)
		}
	}
}
