package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// workflow runs reshard with its tables on one writer.
func workflow(w *ccrun.World, args []string, out io.Writer) error {
	return run(w, args, out, io.Discard)
}

func TestEveryByteArrives(t *testing.T) {
	for _, c := range []struct {
		ranks int
		args  string
	}{
		{1, "-tensor 5x3:f32"},
		{2, "-from 2:S0 -to 2:R -tensor 5:u8 -tensor 7x3:bf16:3"},
		{4, "-from 2x2:S0,S1 -to 4:S1 -tensor 33x17:f32"},
		{4, "-from 3:S0 -to 4:S0 -tensor 1000x3:i32 -split 512B"},
		{4, "-from 2@0:S0 -to 2@2:S1 -tensor 6x10:f64 -fan rank"},
		{4, "-from 2:S0 -to 4:R -tensor 6x10:f16 -transport chain"},
		{4, "-from 2:S1 -to 2x2:R,S0 -tensor 6x10x3:u8 -transport scattered"},
		{4, "-from 4:P(sum) -to 4:S0 -tensor 13x5:f32"},
		{4, "-from 2x2:S0,P(max) -to 2x2:S1,R -tensor 9x8:bf16 -publish in-order -checksum"},
		{3, "-policy windowed -window 2 -order largest"},
		{3, "-policy credits -order formed -max-buckets 2"},
		{3, "-policy scripted -window 3"},
		{3, "-policy serialized -verify all -publish one-by-one"},
	} {
		args := c.args + " -iters 2"
		if !strings.Contains(args, "-tensor") {
			args += " -tensor 40x30:f32:4 -split 256B -bucket 1KiB"
		}
		result, out := ccruntest.Workflow(workflow).Check(t, c.ranks, 0, args)
		if !strings.Contains(out, " 0 elements wrong\n") {
			t.Errorf("%s: not verified:\n%s", args, out)
		}
		if len(result.Digests["out"]) != c.ranks {
			t.Errorf("%s: digests %v", args, result.Digests)
		}
	}
}

// The digest is that of the targets: where tensors come from and how is not in
// it.
func TestDigestIsThatOfTheTargets(t *testing.T) {
	digests := map[string]string{}
	for _, args := range []string{
		"-from 4:S0 -to 4:S1", "-from 2x2:S0,S1 -to 4:S1 -bucket 64B", "-from 1:R -to 4:S1 -split 32B -mode serial", "-from 4:S0 -to 4:S0", "-from 4:S0 -to 4:R",
	} {
		result, _ := ccruntest.Workflow(workflow).Check(t, 4, 0, args+" -tensor 9x11:f32 -iters 1")
		digests[args] = result.Digests["out"][0]
	}
	if digests["-from 4:S0 -to 4:S1"] != digests["-from 2x2:S0,S1 -to 4:S1 -bucket 64B"] || digests["-from 4:S0 -to 4:S1"] != digests["-from 1:R -to 4:S1 -split 32B -mode serial"] {
		t.Errorf("the same targets differ: %v", digests)
	}
	if digests["-from 4:S0 -to 4:S1"] == digests["-from 4:S0 -to 4:S0"] || digests["-from 4:S0 -to 4:S1"] == digests["-from 4:S0 -to 4:R"] {
		t.Errorf("different targets do not differ: %v", digests)
	}
}

// jobOf is the job of flags, with wrong tensors told to errors.
func jobOf(w *ccrun.World, flags string, errors io.Writer) (*job, error) {
	o, err := parse(strings.Fields(flags), w.Size(), "cpu", io.Discard)
	if err != nil {
		return nil, err
	}
	plans, err := o.plans(w)
	if err != nil {
		return nil, err
	}
	s, err := newSite(w, o)
	if err != nil {
		return nil, err
	}
	s.errors = errors
	return s.newJob(plans[0])
}

// What has not arrived, or not where it belongs, is found.
func TestWrongBytesAreFound(t *testing.T) {
	result := ccruntest.Run(t, 2, func(w *ccrun.World) error {
		j, err := jobOf(w, "-tensor 6x6:u8 -iters 1", io.Discard)
		if err != nil {
			return err
		}
		if _, err := j.run(j.site.setting); err != nil {
			return err
		}
		if w.Rank() == 1 {
			if err := j.target.buffer.Write([]byte{1, 2}, 7); err != nil {
				return err
			}
		}
		c := newCounts(1)
		if err := j.check(c); err != nil {
			return err
		}
		if want := []int64{0, 2}[w.Rank()]; c.bad != want || c.verified != 18 {
			t.Errorf("rank %d: %d of %d bytes are wrong, want %d of 18", w.Rank(), c.bad, c.verified, want)
		}
		return nil
	})
	if result.Errs[0] != nil || result.Errs[1] != nil || result.Mismatches != 2 {
		t.Errorf("%v, %d mismatches", result.Errs, result.Mismatches)
	}
}

// A rank tells of a few wrong tensors, and then how many more there were.
func TestFewWrongTensorsAreTold(t *testing.T) {
	result := ccruntest.Run(t, 1, func(w *ccrun.World) error {
		var told strings.Builder
		j, err := jobOf(w, "-tensor 6x6:u8:5", &told)
		if err != nil {
			return err
		}
		if err := j.check(newCounts(1)); err != nil { // nothing has been moved
			return err
		}
		if err := j.close(); err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSpace(told.String()), "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[2], "reshard: rank 0: tensor 2 (6x6:u8) is wrong, first at element ") || lines[3] != "reshard: rank 0: and 2 more times a tensor was wrong" {
			t.Errorf("told:\n%s", told.String())
		}
		return nil
	})
	if result.Errs[0] != nil {
		t.Error(result.Errs[0])
	}
}

// The budget of the table is all that it is; of a plot, what its points share.
func TestBudgetIsSaid(t *testing.T) {
	for _, c := range []struct {
		bytes   int64
		buckets int
		want    string
	}{{0, 0, "-"}, {64 << 20, 0, "64MiB"}, {0, 1, "1 bucket"}, {1 << 10, 2, "1KiB, 2 buckets"}} {
		m := measured{setting: setting{maxBytes: c.bytes, maxBuckets: c.buckets}}
		if got := m.budgetText(); got != c.want {
			t.Errorf("%d bytes, %d buckets: %s, want %s", c.bytes, c.buckets, got, c.want)
		}
	}
	one, two := measured{setting: setting{maxBytes: 1 << 20}}, measured{setting: setting{maxBytes: 2 << 20}}
	s := site{options: newOptions("sim")}
	if got := s.budgetLabel([]pair{{with: one}, {with: one}}); got != "budget of 1MiB" {
		t.Errorf("one budget: %s", got)
	}
	if got := s.budgetLabel([]pair{{with: one}, {with: two}}); got != "budget of 1/4 of the peak" {
		t.Errorf("a part: %s", got)
	}
	s.options.sweep.name = "max-bytes"
	if got := s.budgetLabel([]pair{{with: one}, {with: two}}); got != "that budget over all channels" {
		t.Errorf("many: %s", got)
	}
}

// What needs more memory than there is says what to do.
func TestOutOfMemory(t *testing.T) {
	for args, want := range map[string]string{
		"-model llama3-8b -scale 2": "try -scale 16, or ccrun --device sim:h100x2",
		"":                          "try a smaller -tensor, or ccrun --device sim:h100x2",
	} {
		o, err := parse(strings.Fields(args), 4, "cpu", io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.smaller("cpu"); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		if got := o.smaller("sim"); strings.Contains(got, "sim") {
			t.Errorf("%s: on sim it is to %s", args, got)
		}
	}
}

// Where nothing is staged it is said, and no budget is run that bounds nothing.
func TestNothingStagedIsSaid(t *testing.T) {
	for args, want := range map[string]bool{"": false, "-max-bytes 1MiB": true, "-max-buckets 2": true, "-mode budget": false} {
		_, out := ccruntest.Workflow(workflow).Check(t, 4, 0, "-iters 1 -tensor 8x8:f32 -transport direct "+args)
		if !strings.HasSuffix(out, "\nreshard: nothing was staged (direct), so there is no peak to bound; try -transport packed\n") {
			t.Errorf("%s: it is not said that nothing was staged:\n%s", args, out)
		}
		if got := strings.Contains(out, "\n  budget "); got != want {
			t.Errorf("%s: a budget is run: %v, want %v:\n%s", args, got, want, out)
		}
	}
	for _, c := range []struct {
		args string
		peak int64
		want string
	}{
		{"-transport packed", 1, ""},
		{"-transport packed", 0, "reshard: nothing was staged, so there is no peak to bound\n"},
		{"-mode serial", 0, ""},
	} {
		o, err := parse(strings.Fields(c.args), 2, "cpu", io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		s := site{options: o}
		s.conclude(&out, []measured{{}, {peak: c.peak}})
		if want := "reshard: 0 bytes verified after 0 runs, 0 elements wrong\n" + c.want; out.String() != want {
			t.Errorf("%s, peak %d: got\n%swant\n%s", c.args, c.peak, out.String(), want)
		}
	}
}

func TestGoldenResult(t *testing.T) {
	ccruntest.Workflow(workflow).CheckGolden(t, 4, "-tensor 100x77:f32 -tensor 31x8:bf16:5 -split 1KiB -bucket 4KiB -iters 1", "out")
}

// figures are what differs from run to run.
var figures = regexp.MustCompile(` *[-+]?\d[.0-9e-]*( ms| %)`)

func TestOutput(t *testing.T) {
	_, got := ccruntest.Workflow(workflow).Check(t, 2, 0, "-tensor 4x6:u8:3 -iters 1 -verify off -mode serial")
	want := "reshard: 2 ranks, 3 tensors, 72B, from 2:S0 to 2:S1\n" +
		"reshard: 12 entries: 6 stay, 6 go to one rank, 0 to several, 0 are added up; 36B between ranks\n" +
		"reshard: buckets of 256KiB, 2 in flight per channel, 1 warm-up and 1 iterations\n" +
		"  mode    time  GB/s  gain  buckets  channels  in flight  peak  rank  mean  budget  stalled for\n" +
		"  serial #     #     1.00       12         4          0    0B     0    0B       -\n" +
		"reshard: not verified (-verify off)\n"
	got = regexp.MustCompile(`(?m)^(  serial).*(1\.00 .*)$`).ReplaceAllString(figures.ReplaceAllString(got, " #"), "$1 #     #     $2")
	got = regexp.MustCompile(`(?m)^(  mode +time).*(gain.*)$`).ReplaceAllString(got, "  mode    time  GB/s  $2")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// combined is what two ranks count, the first of which has the higher peak.
func combined() measured {
	a, b := newCounts(3), newCounts(3)
	a.last.MeanBytes, a.last.MeanBuckets, a.last.SentBytes = 1<<20, 1.5, 100
	a.last.Stalls[ccrun.StallBytes], b.last.Stalls[ccrun.StallBytes] = 50, 10
	b.last.Stalls[ccrun.StallOrder] = 2
	a.peakBytes, b.peakBytes, a.peakBuckets, b.peakBuckets = 4<<20, 3<<20, 2, 7
	a.largest, b.largest, a.verified, b.verified, b.bad, a.phantom = 10, 20, 6, 7, 1, 5
	a.times, b.times = []time.Duration{100, 300, 100}, []time.Duration{200, 100, 100}
	return combine([][]uint64{a.words(), b.words()})
}

func TestCountsAreCombined(t *testing.T) {
	m := combined()
	m.bytes = 400
	switch {
	case m.took != 200: // the median of 200, 300 and 100
		t.Errorf("took %d", m.took)
	case m.peak != 4<<20 || m.peakRank != 0 || m.mean != 1<<20 || m.meanBuckets != 1.5 || m.peakBuckets != 7:
		t.Errorf("peak %d of rank %d, mean %d, %v buckets, peak %d", m.peak, m.peakRank, m.mean, m.meanBuckets, m.peakBuckets)
	case m.verified != 13 || m.bad != 1 || m.phantom != 5 || m.wire != 100 || m.largest != 20:
		t.Errorf("verified %d, bad %d, phantom %d, wire %d, largest %d", m.verified, m.bad, m.phantom, m.wire, m.largest)
	case m.stalledFor() != "bytes 30 %, order 1 %":
		t.Errorf("stalled for %s", m.stalledFor())
	case math.Round(m.rate()) != 400/200e-9:
		t.Errorf("%v bytes per second", m.rate())
	}
}

func TestPlots(t *testing.T) {
	for _, sweep := range []string{"channels", "max-bytes=1/4..1", "bucket=1KiB..4KiB", "in-flight"} {
		for _, plot := range []string{"svg", "csv"} {
			args := "-tensor 100x77:f32 -split 1KiB -iters 1 -sweep " + sweep + " -plot " + plot
			var out, aside bytes.Buffer
			result := ccruntest.Run(t, 4, func(w *ccrun.World) error { return run(w, strings.Fields(args), &out, &aside) })
			for rank, err := range result.Errs {
				if err != nil {
					t.Fatalf("%s: rank %d: %v", args, rank, err)
				}
			}
			if !strings.HasPrefix(aside.String(), "reshard: 4 ranks") {
				t.Errorf("%s: the table is not aside:\n%s", args, aside.String())
			}
			if plot == "svg" {
				checkSVG(t, args, out.String())
				continue
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			for _, line := range lines {
				if got, want := strings.Count(line, ","), len(csvHead)-1; got != want {
					t.Errorf("%s: %d commas, want %d: %s", args, got, want, line)
				}
			}
			if len(lines) < 4 {
				t.Errorf("%s: %d lines", args, len(lines))
			}
		}
	}
}

func TestBudgets(t *testing.T) {
	for text, want := range map[string]string{"64MiB": "64MiB: 67108864", "1/4": "1/4: 25", "25%": "25%: 25", "1/1": "1: 100", "0": "0B: 0"} {
		var b budget
		if err := b.Set(text); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s: %d", b.String(), b.of(100)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	huge := budget{part: 3, all: 4}
	if got := huge.of(1 << 62); got != 3<<60 {
		t.Errorf("three quarters of 2^62 are %d", got)
	}
	if got := huge.of(0); got != 0 {
		t.Errorf("a part of nothing is %d, want no limit", got)
	}
}

func TestSweeps(t *testing.T) {
	for text, want := range map[string]string{
		"channels=1..6":        "channels=1,2,4,6",
		"channels=3..5":        "channels=3,5",
		"channels":             "channels=1,2,4,6", // of six ranks
		"in-flight":            "in-flight=1,2,3,4",
		"in-flight=2,1":        "in-flight=2,1",
		"bucket=64KiB..256KiB": "bucket=64KiB,128KiB,256KiB",
		"bucket=3..10":         "bucket=3B,6B,10B",
		"max-bytes=1/8..1":     "max-bytes=1/8,1/4,1/2,1",
		"max-bytes=1/3..2/3":   "max-bytes=1/3,2/3",
		"max-bytes=1MiB,50%":   "max-bytes=1MiB,50%",
		"max-bytes=25%..1":     "max-bytes=25%,50%,1",
		"max-bytes=1MiB..4MiB": "max-bytes=1MiB,2MiB,4MiB",
	} {
		var s sweep
		err := s.Set(text)
		if err == nil {
			err = s.check(6)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := s.String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-iters 0":                "-iters 0 -warmup 1: want at least 1 and 0, at most 65536",
		"-in-flight 0":            "-in-flight 0 -max-buckets 0 -window 4: want at least 1, 0 and 1",
		"-policy some":            "-policy some: want all-at-once, windowed, serialized, credits, scripted",
		"-plot png":               "-plot png: want svg, csv",
		"-scale 2":                "-scale 2: it is for -model",
		"-streams -1":             "-streams -1: want 0 to 63, as a rank has 64 and the pipeline needs one itself",
		"-streams 64":             "-streams 64: want 0 to 63, as a rank has 64 and the pipeline needs one itself",
		"-model a -tensor 2:u8":   "-model a -tensor 2:u8: want one of them",
		"-max-bytes 1/0":          `invalid value "1/0" for flag -max-bytes: not a size such as 64MiB, nor a part of the peak such as 1/4 or 25%: "1/0"`,
		"-sweep size=1..2":        `invalid value "size=1..2" for flag -sweep: want channels, max-bytes, bucket or in-flight, not "size"`,
		"-sweep in-flight=4..1":   `invalid value "in-flight=4..1" for flag -sweep: 4..1 is no range`,
		"-sweep in-flight=1..100": `invalid value "in-flight=1..100" for flag -sweep: 1..100 has more than 64 values`,
		"-sweep bucket=1/4":       `invalid value "bucket=1/4" for flag -sweep: "1/4": a part of the peak is for max-bytes`,
		"-sweep max-bytes=1..1/2": `invalid value "max-bytes=1..1/2" for flag -sweep: 1..1/2 is no range`,
		"-sweep bucket=0":         `invalid value "bucket=0" for flag -sweep: "0": want at least 1`,
		"-sweep mode":             `invalid value "mode" for flag -sweep: want channels, max-bytes, bucket or in-flight, not "mode"`,
		"-sweep in-flight=":       `invalid value "in-flight=" for flag -sweep: in-flight has no values; write in-flight=1..4, or in-flight alone`,
		"-sweep bucket=":          `invalid value "bucket=" for flag -sweep: bucket has no values; write bucket=64KiB..16MiB, or bucket alone`,
		"-sweep channels=":        `invalid value "channels=" for flag -sweep: channels has no values; write channels=1..64, or channels alone`,
		"-sweep in-flight=1MiB":   `invalid value "in-flight=1MiB" for flag -sweep: "1MiB" is not a number`,
		"-sweep max-bytes=1..":    `invalid value "max-bytes=1.." for flag -sweep: "" is not a number`,
		"-sweep max-bytes=1/2..2": `invalid value "max-bytes=1/2..2" for flag -sweep: 2/1 is more than the peak without a budget`,
		"-max-bytes 5/4":          `invalid value "5/4" for flag -max-bytes: 5/4 is more than the peak without a budget`,
		"-max-bytes 101%":         `invalid value "101%" for flag -max-bytes: 101% is more than the peak without a budget`,
		"-nothing":                "flag provided but not defined: -nothing",
		"-sweep channels=1..8":    "-sweep channels=8: each channel goes to a rank of its own, and there are 4; start more with ccrun -n",
		"more":                    `unexpected argument "more"`,
	} {
		var out strings.Builder
		if _, err := parse(strings.Fields(args), 4, "cpu", &out); err == nil || err.Error() != want || out.Len() > 0 {
			t.Errorf("%s: %v, want %s; it says %q", args, err, want, out.String())
		}
	}
}

// What would do nothing is refused in a line that says so.
func TestIdleFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-mode pipelined -max-buckets 1":    "-max-buckets does nothing with -mode pipelined: there is no budget; try -mode budget",
		"-mode serial -max-bytes 1MiB":      "-max-bytes does nothing with -mode serial: there is no budget; try -mode budget",
		"-mode serial -bucket 1MiB":         "-bucket does nothing with -mode serial: one chunk goes after the other there; leave it out, or -mode",
		"-window 2":                         "-window does nothing with -policy all-at-once: try -policy windowed",
		"-sweep bucket -mode serial":        "-mode does nothing with -sweep bucket: a sweep runs each value, without the budget and with it",
		"-sweep in-flight -in-flight 3":     "-in-flight does nothing with -sweep in-flight: a sweep runs each value, without the budget and with it",
		"-sweep max-bytes -max-bytes 1/2":   "-max-bytes does nothing with -sweep max-bytes: a sweep runs each value, without the budget and with it",
		"-sweep channels -from 4:S0":        "-from does nothing with -sweep channels: rank 0 sends tensors of -tensor to each rank",
		"-sweep channels -model llama3-8b":  "-model does nothing with -sweep channels: rank 0 sends tensors of -tensor to each rank",
		"-transport direct -checksum":       "-checksum does nothing with -transport direct: receivers copy from where it lies; try -transport packed",
		"-plot csv -title x":                "-title does nothing with -plot csv: it stands above -plot svg",
		"-title x":                          "-title does nothing with -plot: it stands above -plot svg",
		"-policy windowed -window 2":        "",
		"-mode budget -max-buckets 2":       "",
		"-sweep channels -max-bytes 64MiB":  "",
		"-mode serial -transport scattered": "",
	} {
		_, err := parse(strings.Fields(args), 4, "cpu", io.Discard)
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// The usage is for who asks for it.
func TestUsage(t *testing.T) {
	var out strings.Builder
	if _, err := parse([]string{"-h"}, 4, "cpu", &out); !errors.Is(err, flag.ErrHelp) || strings.Count(out.String(), "Usage of reshard:") != 1 {
		t.Errorf("%v, and it says\n%s", err, out.String())
	}
}

// What cannot be planned is refused in the words of the flags, before anything
// is asked of the host.
func TestBadPlans(t *testing.T) {
	for args, want := range map[string]string{
		"-tensor 2x2":                      `-tensor: tensor "2x2": write shape and type, like 4096x4096:bf16`,
		"-tensor 2x0:u8":                   "-tensor 2x0:u8: it has no elements",
		"-tensor 2:f8":                     `-tensor: tensor "2:f8": element type "f8" is none of u8 i32 i64 f16 bf16 f32 f64`,
		"-tensor 2:u8:0":                   "-tensor 2:u8:0: want 1 to 1048576 of them, such as 512x512:f32:64",
		"-from 2x8:S0,S1":                  "-from 2x8:S0,S1 needs ranks 0 to 15, there are 4: start more with ccrun -n 16",
		"-to 2@3:S0":                       "-to 2@3:S0 needs ranks 3 to 4, there are 4: start more with ccrun -n 5",
		"-model llama3-8b -to tp=8":        "-to tp=8 needs ranks 0 to 7, there are 4: start more with ccrun -n 8",
		"-from some":                       `-from: layout "some" has no colon`,
		"-tensor 512x512:f32:64 -to 4:S2":  "tensor 0 (512x512:f32): ",
		"-tensor 9999999999999999x9999:u8": `-tensor: tensor "9999999999999999x9999:u8": `,
	} {
		ccruntest.Run(t, 4, func(w *ccrun.World) error {
			if w.Rank() > 0 {
				return nil
			}
			if err := run(w, strings.Fields(args), io.Discard, io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", args, err, want)
			}
			return nil
		})
	}
}

// Runs of a box cover it once, and are as long as they can be.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		box   reshard.Box
		want  string
	}{
		{nil, reshard.Box{}, "0 from 0: 1"},
		{[]int64{4}, reshard.Box{Start: []int64{1}, Size: []int64{2}}, "0 from 1: 2"},
		{[]int64{3, 4}, reshard.Box{Start: []int64{1, 0}, Size: []int64{2, 4}}, "0 from 4: 8"},
		{[]int64{3, 4}, reshard.Box{Start: []int64{1, 1}, Size: []int64{2, 2}}, "0 from 5: 2, 2 from 9: 2"},
		{[]int64{2, 3, 4}, reshard.Box{Start: []int64{0, 1, 0}, Size: []int64{2, 2, 4}}, "0 from 4: 8, 8 from 16: 8"},
		{[]int64{2, 2, 5}, reshard.Box{Start: []int64{0, 0, 3}, Size: []int64{2, 2, 1}}, "0 from 3: 1, 1 from 8: 1, 2 from 13: 1, 3 from 18: 1"},
		{[]int64{3}, reshard.Box{Start: []int64{3}, Size: []int64{0}}, ""},
	} {
		var got []string
		for r := range runs(c.shape, c.box) {
			got = append(got, fmt.Sprintf("%d from %d: %d", r.local, r.global, r.count))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%v of %v: %s, want %s", c.box, c.shape, text, c.want)
		}
	}
}

func TestOrders(t *testing.T) {
	buckets := []ccrun.Bucket{{Bytes: 5}, {Bytes: 9}, {Bytes: 5}, {Bytes: 7}}
	if got := formed(buckets); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("formed: %v", got)
	}
	if got := largest(buckets); !slices.Equal(got, []int{1, 3, 0, 2}) {
		t.Errorf("largest: %v", got)
	}
	admit := inRounds(4)
	for published, want := range map[int]int{0: 4, 3: 4, 4: 8, 9: 12} {
		if got := admit(ccrun.PipelineStatus{Published: published}); got != want {
			t.Errorf("%d published: %d, want %d", published, got, want)
		}
	}
}
