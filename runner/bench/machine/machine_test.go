package machine_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/runner/bench/machine"
	"github.com/ccrun/ccrun/runner/bench/script"
)

// simulated runs a script on the simulator.
func simulated(t *testing.T, s *script.Script, device string, set ...string) *script.Results {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.wasm")
	if err := os.WriteFile(path, s.Guest(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := s.NewResults()
	result, err := runner.Run(t.Context(), runner.Config{
		WasmPath: path, Ranks: s.Ranks, Device: device, Set: set, TraceLevel: flight.LevelOff, Seed: 1,
		Stdout: r, Stderr: os.Stderr, Env: func(string) string { return "" }, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Remove(); err != nil {
		t.Error(err)
	}
	if result.Verdict != nil || r.Err() != nil {
		t.Fatalf("%v, %v", result.Verdict, r.Err())
	}
	return r
}

// known is a machine of numbers that nobody tunes.
const known = "../../../host/device/sim/preset/testdata/cores.yaml"

// numbers are what the tests simulate: none is the file's own.
var numbers = []string{"host.call=60ns", "host.wake=250ns", "cpu.op=90ns", "cpu.signal=310ns", "cpu.switch=2us", "cpu.pattern=3GB/s", "cpu.copy=1.5x", "cpu.reduce=0.7x", "cpu.local=2x", "cpu.sharing=1.6"}

// A simulated machine has known numbers, and these are found: of one core, of
// as many as are measured and of more.
func TestFitFindsWhatWasSimulated(t *testing.T) {
	for _, cores := range []string{"1", "2", "3", "5", "6", "12"} {
		set := append(slices.Clone(numbers), "cpu.cores="+cores)
		if cores == "1" {
			set = append(set, "cpu.signal=0s") // nothing is on its way to another core
		}
		t.Run(cores+" cores", func(t *testing.T) { testFit(t, set) })
	}
}

func testFit(t *testing.T, numbers []string) {
	want, err := preset.Find(known)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range numbers {
		if err := want.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	plan := machine.NewPlan(want.CPU.Cores, true)
	for i, s := range plan.Scripts {
		plan.Add(i, simulated(t, s, "sim:"+known, numbers...))
	}
	n := plan.Fit()
	if c := &want.CPU; c.Cores == 1 { // no bytes come from another core, and none shares the memory
		c.Copy, c.Reduce, c.Sharing = c.Local, c.Local, []preset.Point{{X: 1, Y: 1}}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"call", n.Call, want.Host.Call}, {"wake", n.Wake, want.Host.Wake}, {"op", n.Op, want.CPU.Op},
		{"signal", n.Signal, want.CPU.Signal}, {"switch", n.Switch, want.CPU.Switch}, {"pattern", n.Pattern, want.CPU.Pattern},
	} {
		if c.got != c.want && !near(c.got, c.want, 0.07) { // the small copies have some bytes
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct {
		name      string
		got, want []preset.Point
	}{{"copy", n.Copy, want.CPU.Copy}, {"reduce", n.Reduce, want.CPU.Reduce}, {"local", n.Local, want.CPU.Local}, {"sharing", n.Shared, want.CPU.Sharing}} {
		for _, p := range c.got {
			if w := at(c.want, p.X); !near(p.Y, w, 0.03) {
				t.Errorf("%s at %v: %v, want %v", c.name, p.X, p.Y, w)
			}
		}
	}
}

func near(got, want, error float64) bool { return math.Abs(got/want-1) <= error }

// at is a table's value, between points by logarithm as the simulator has it.
func at(points []preset.Point, x float64) float64 {
	for i, p := range points {
		if p.X < x && i+1 < len(points) && points[i+1].X >= x {
			part := math.Log(x/p.X) / math.Log(points[i+1].X/p.X)
			return p.Y + part*(points[i+1].Y-p.Y)
		}
	}
	if x <= points[0].X {
		return points[0].Y
	}
	return points[len(points)-1].Y
}

// What is written is what is read again, and rings on it take as long as on the
// machine that was measured.
func TestPresetOfFit(t *testing.T) {
	plan := machine.NewPlan(2, true)
	for i, s := range plan.Scripts {
		plan.Add(i, simulated(t, s, "sim:"+known, numbers...))
	}
	fit := plan.Fit()
	p, err := fit.Preset("a machine", "measured by a test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cpu.yaml")
	if err := os.WriteFile(path, []byte(p.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := preset.Find(path)
	if err != nil || again.String() != p.String() {
		t.Fatalf("%v\n%s\nwant\n%s", err, again, p)
	}
	if source := again.Sources["cpu.signal"]; !strings.HasPrefix(source, "measured by a test: ") {
		t.Errorf("cpu.signal is from %q", source)
	}
	check := machine.NewCheck([]int{2, 4}, true)
	for i, s := range check.Scripts {
		check.Predict(i, simulated(t, check.Simulated[i], "sim:"+path))
		check.Add(i, simulated(t, s, "sim:"+known, numbers...))
	}
	// The quick fit has three sizes; between them the tables of the two differ.
	if e := check.MedianError(); e > 0.1 || e == 0 {
		t.Errorf("median error %v", e)
	}
}

func TestCheckTable(t *testing.T) {
	c := machine.NewCheck([]int{2}, true)
	told := func(nanos ...string) *script.Results {
		r := c.Simulated[0].NewResults()
		for piece, n := range nanos {
			for sample := range 2 {
				for rank := range 2 {
					_, _ = r.Write([]byte(strings.Join([]string{string('0' + rune(piece)), string('0' + rune(rank)), string('0' + rune(sample)), n}, " ") + "\n"))
				}
			}
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		return r
	}
	c.Predict(0, told("4000", "8000", "10000", "4000", "8000", "10000"))
	c.Add(0, told("4000", "4000", "8000", "8000", "8000", "10000"))
	var got strings.Builder
	if err := c.Write(&got); err != nil {
		t.Fatal(err)
	}
	want := `  collective  ranks   KiB  measured us  predicted us  error %
  all_reduce      2    64         8.19          8.19     +0.0
  all_reduce      2   512         8.19         16.38   +100.0
  all_reduce      2  4096        16.38         32.77   +100.0
  all_gather      2    64        16.38          8.19    -50.0
  all_gather      2   512        16.38         16.38     +0.0
  all_gather      2  4096        32.77         32.77     +0.0
median error 25.0 %, largest 100.0 %, of 6 rings
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	band := preset.Band{What: "6 rings of 64 KiB to 4 MiB on this machine, half of them within 25.0 %", Error: 1, HeldOut: true, Source: "ccrun calibrate"}
	if c.Band() != band {
		t.Errorf("got %+v, want %+v", c.Band(), band)
	}
}
