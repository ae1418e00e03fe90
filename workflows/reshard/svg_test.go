package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files")

// sample is a chart of what a sweep over channels could give.
func sample() chart {
	without := []point{{1, 16 << 20}, {2, 32 << 20}, {4, 64 << 20}, {8, 128 << 20}}
	with := []point{{1, 16 << 20}, {2, 16 << 20}, {4, 16 << 20}, {8, 16 << 20}}
	return chart{
		title: "a <title> & more", subtitle: "a subtitle",
		x: axis{label: "channels", log: true},
		panels: []panel{
			{axis{label: "peak staging memory", unit: byteUnit, log: true}, []series{{"no budget", without}, {"budget 16MiB", with}}},
			{axis{label: "GB/s", unit: rateUnit}, []series{
				{"no budget", []point{{1, 100}, {2, 190}, {4, 310}, {8, 312.5}}},
				{"budget 16MiB", []point{{1, 100}, {2, 180}, {4, 300}, {8, 305}}},
			}},
		},
	}
}

func TestSVG(t *testing.T) {
	var got strings.Builder
	if err := writeSVG(&got, sample()); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/chart.svg"
	if *rewrite {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\n%s has\n%s", got.String(), path, want)
	}
}

// Whatever is drawn, it is well-formed, no number is NaN or infinite, and it
// asks for nothing from elsewhere.
func TestSVGOfOddNumbers(t *testing.T) {
	for name, points := range map[string][]point{
		"none": nil, "one": {{1, 1}}, "zero": {{0, 0}}, "equal": {{3, 7}, {3, 7}}, "tiny": {{1e-9, 1e-9}, {1e-3, 2e-9}}, "huge": {{1, 1e18}, {1 << 40, 1}},
		"first zero": {{1, 0}, {2, 16 << 20}, {4, 64 << 20}}, "zeros": {{1, 0}, {2, 0}}, "few bytes": {{1, 1}, {3, 2}},
	} {
		for _, log := range []bool{false, true} {
			for _, unit := range []unit{plainUnit, byteUnit, rateUnit} {
				c := chart{title: name, x: axis{log: log, unit: unit}, panels: []panel{{axis{log: log, unit: unit}, []series{{"s", points}}}}}
				var b strings.Builder
				if err := writeSVG(&b, c); err != nil {
					t.Fatal(err)
				}
				checkSVG(t, name, b.String())
				checkTicks(t, fmt.Sprintf("%s, log %v, unit %d", name, log, unit), b.String())
			}
		}
	}
	named := chart{x: axis{names: []string{"serial", "pipelined"}}, panels: []panel{{axis{}, []series{{"s", []point{{0, 1}, {1, 2}}}}}}}
	var b strings.Builder
	if err := writeSVG(&b, named); err != nil {
		t.Fatal(err)
	}
	checkSVG(t, "named", b.String())
	if !strings.Contains(b.String(), ">pipelined</text>") || strings.Contains(b.String(), "polyline") {
		t.Errorf("an axis of names does not show them, or joins them:\n%s", b.String())
	}
}

// What is nothing lies at the bottom, below all that is something, and is said
// to be 0; where all is nothing, that is said.
func TestNothingIsDrawn(t *testing.T) {
	draw := func(points ...point) string {
		var b strings.Builder
		y := axis{unit: byteUnit, log: true}
		if err := writeSVG(&b, chart{x: axis{log: true}, panels: []panel{{y, []series{{"s", points}}}}}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	some := draw(point{1, 0}, point{2, 16 << 20}, point{4, 64 << 20})
	bottom := headHeight + panelHeight
	if want := fmt.Sprintf(`<title>s: 0B</title><circle cx="%d.0" cy="%d.0"`, marginLeft, bottom); !strings.Contains(some, want) {
		t.Errorf("a peak of 0 does not lie at the bottom (want %s):\n%s", want, some)
	}
	if want := fmt.Sprintf(`y="%d.0" text-anchor="end">0</text>`, bottom+4); !strings.Contains(some, want) || strings.Contains(some, "nothing staged") {
		t.Errorf("the bottom is not labelled 0 (want %s):\n%s", want, some)
	}
	if none := draw(point{1, 0}, point{2, 0}); !strings.Contains(none, ">nothing staged</text>") || strings.Contains(none, `text-anchor="end"`) {
		t.Errorf("nothing is not said, or has ticks:\n%s", none)
	}
}

// checkTicks checks that no two ticks of an axis have the same label. Those of
// the vertical axis end at it, those of the other one are centred.
func checkTicks(t *testing.T, name, text string) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(text-anchor="(?:end|middle)")>([^<]*)</text>`).FindAllStringSubmatch(text, -1) {
		if label := m[1] + m[2]; seen[label] {
			t.Errorf("%s: two ticks are labelled %s", name, m[2])
		} else {
			seen[label] = true
		}
	}
}

func checkSVG(t *testing.T, name, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "href", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("%s: contains %s:\n%s", name, bad, text)
		}
	}
	if ticks := strings.Count(text, "<line"); ticks > 40 {
		t.Errorf("%s: %d lines, an axis has too many ticks", name, ticks)
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		values        []float64
		log, grounded bool
		unit          unit
		want          string
	}{
		{[]float64{3, 319}, false, true, rateUnit, "0 50 100 150 200 250 300 350"},
		{[]float64{1, 64}, true, false, plainUnit, "1 2 4 8 16 32 64"},
		{[]float64{3 << 20, 100 << 20}, true, true, byteUnit, "2MiB 4MiB 8MiB 16MiB 32MiB 64MiB 128MiB"},
		{[]float64{1, 2, 3, 4}, false, false, plainUnit, "1 1.5 2 2.5 3 3.5 4"},
		{[]float64{0, 2 << 20, 4 << 20}, true, true, byteUnit, "0B 1MiB 2MiB 4MiB 8MiB"},
		{[]float64{1, 2}, false, true, byteUnit, "0B 1B 2B"},
		{[]float64{0, 3 << 20}, false, true, byteUnit, "0B 512KiB 1MiB 1.5MiB 2MiB 2.5MiB 3MiB"},
	} {
		var got []string
		s := scaleOf(c.values, c.log, c.grounded)
		for _, tick := range s.ticks(c.unit) {
			if at := s.at(tick); at < -1e-9 || at > 1+1e-9 {
				t.Errorf("%v: tick %v lies at %v", c.values, tick, at)
			}
			got = append(got, c.unit.format(tick))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: ticks %s, want %s", c.values, text, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 319.4: "319", 31.94: "31.9", 3.194: "3.19", 0.03194: "0.0319"} {
		if got := short(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0B", 512: "512B", 3 << 20: "3MiB", 1<<20 + 1: "1MiB", 123456789: "118MiB", 65 << 9: "32.5KiB"} {
		if got := shortBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
