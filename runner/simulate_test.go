package runner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner/wasm"
)

func simulatedConfig(t *testing.T, path string, ranks int) Config {
	t.Helper()
	config := testConfig(t, path, ranks)
	config.Device = "sim:h100"
	config.Self = "/no/such/program" // nothing is started
	return config
}

// TestSimulatedRuns has runs end on the simulator as they do in processes.
func TestSimulatedRuns(t *testing.T) {
	for _, c := range runCases() {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, t.Context(), simulatedConfig(t, write(t, c.body), c.ranks))
			got, at, _ := strings.Cut(verdictOf(r), "\nat ")
			if strings.Contains(c.want, "\nat main") {
				got = verdictOf(r)
			} else if strings.Contains(c.want, "112 deadlock") != strings.HasSuffix(at, "s of virtual time") {
				t.Errorf("at %q", at)
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s\nstderr %s", got, c.want, &r.stderr)
			}
			if r.ExitCode != 0 && len(r.Verdict.Ranks) != c.ranks {
				t.Errorf("the verdict has %d ranks", len(r.Verdict.Ranks))
			}
			if r.Simulation == nil || r.Simulation.Preset.Name != "h100" || r.Launcher != "simulate" {
				t.Errorf("%+v", r.Result)
			}
		})
	}
}

// gather is a guest of which rank 0 waits for a signal of each other rank, n
// times, with a barrier in between.
func gather(ranks, times int) []byte {
	body := newStream()
	for i := range times {
		for rank := 1; rank < ranks; rank++ {
			body = wasm.Code(body, only(awaitSignal(int32(rank), 4, int64(i+1))))
		}
		body = wasm.Code(body, result(signal, wasm.LoadI64(streamAt), wasm.PushI32(0), wasm.PushI32(4), wasm.PushI64(int64(i+1))), enterBarrier())
	}
	return wasm.Code(body, say())
}

// flightFiles gives what all ranks of a kept run recorded, and what they
// reported.
func flightFiles(t *testing.T, dir string, ranks int) []byte {
	t.Helper()
	var all []byte
	for rank := range ranks {
		for _, path := range []string{flightPath(dir, rank), reportPath(dir, rank)} {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
	}
	return all
}

// TestSimulatedRunsAreIdentical runs a guest twenty times on one processor and
// on two: not a byte differs of what is recorded, reported or printed.
func TestSimulatedRunsAreIdentical(t *testing.T) {
	const ranks, runs = 5, 20
	path := write(t, gather(ranks, 4))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	var id string
	for i := range runs {
		runtime.GOMAXPROCS(1 + i%2)
		config := simulatedConfig(t, path, ranks)
		config.Env = environment("GOMAXPROCS=1") // as it is
		config.Prefix, config.Keep, config.Fault = true, true, "jitter=*:20%"
		config.RunDir = filepath.Join(t.TempDir(), "run")
		r := start(t, t.Context(), config)
		if r.ExitCode != 0 {
			t.Fatalf("%s, stderr %s", verdictOf(r), &r.stderr)
		}
		got := append(flightFiles(t, config.RunDir, ranks), r.stdout.String()...)
		got = fmt.Append(got, r.Simulation.Virtual, r.Simulation.Stats)
		if i == 0 {
			first, id = got, r.RunID
		}
		if !bytes.Equal(got, first) || r.RunID != id {
			t.Fatalf("run %d (%s, %v of virtual time) is not what the first was (%s)", i, r.RunID, r.Simulation.Virtual, id)
		}
	}
	if n := strings.Count(string(first), "] hello\n"); n != ranks {
		t.Errorf("%d of %d ranks have said hello", n, ranks)
	}
}

// TestSimulatedRunsDiffer changes what a run depends on, one thing at a time.
func TestSimulatedRunsDiffer(t *testing.T) {
	path := write(t, gather(3, 2))
	seen := make(map[string]string)
	for name, change := range map[string]func(*Config){
		"nothing": func(*Config) {},
		"seed":    func(c *Config) { c.Seed = 7 },
		"args":    func(c *Config) { c.Args = []string{"x"} },
		"ranks":   func(c *Config) { c.Ranks = 4 },
		"preset":  func(c *Config) { c.Device = "sim:a100" },
		"set":     func(c *Config) { c.Set = []string{"link.nvlink.latency=3x"} },
		"fault":   func(c *Config) { c.Fault = "delay=1:3us,kind=signal" },
		"module":  func(c *Config) { c.WasmPath = write(t, gather(3, 1)) },
		"data":    func(c *Config) { c.Data = true },
	} {
		config := simulatedConfig(t, path, 3)
		change(&config)
		r := start(t, t.Context(), config)
		if other, taken := seen[r.RunID]; taken {
			t.Errorf("%s and %s: both are run %s", name, other, r.RunID)
		}
		seen[r.RunID] = name
	}
}

// TestSimulatedFaults slows down, kills and hangs a rank.
func TestSimulatedFaults(t *testing.T) {
	path := write(t, gather(3, 2))
	times := make(map[string]int64)
	for _, c := range []struct{ fault, want string }{
		{"", "0"},
		{"delay=2:100us,kind=signal", "0"},
		{"kill=1@2,kind=signal", "111 rank lost: rank 1 was lost: killed by SIGKILL; last operation: signal rank 0, slot 4 to 1"},
		{"hang=1@2,kind=signal", "112 deadlock: deadlock: no rank can move\nrank 0 has ended: its guest returned\n" +
			"rank 1 waits: stream_sync: wait for stream 1; stream 1: signal: wait for rank 0; last operation: signal rank 0, slot 4 to 1\n" +
			"rank 2 has ended: its guest returned\nbehind: rank 0 has ended"},
	} {
		config := simulatedConfig(t, path, 3)
		config.Fault = c.fault
		r := start(t, t.Context(), config)
		if got := verdictOf(r); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: got %s", c.fault, got)
		}
		times[c.fault] = int64(r.Simulation.Virtual)
	}
	if fast, slow := times[""], times["delay=2:100us,kind=signal"]; fast > 100_000 || slow < 200_000 {
		t.Errorf("two signals that take 100 µs longer each take the run from %d ns to %d ns", fast, slow)
	}
}

// TestSimulatedRefusals has what cannot be simulated refused in one line.
func TestSimulatedRefusals(t *testing.T) {
	path := write(t)
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Device = "sim:h1000" }, `--device sim:h1000: no such preset`},
		{func(c *Config) { c.Device = "sim:" }, "--device sim:: not a simulated device"},
		{func(c *Config) { c.Device = "sim:./none.yaml" }, "--device sim:./none.yaml: preset: open ./none.yaml"},
		{func(c *Config) { c.Set = []string{"link.nvlink.bandwith=2x"} }, "--set link.nvlink.bandwith=2x: link.nvlink.bandwith: unknown key"},
		{func(c *Config) { c.Device, c.Ranks = "sim:h100x2", 17 }, "-n 17: sim:h100x2 has 16 ranks"},
		{func(c *Config) { c.Ranks = 20_000 }, "20000 ranks: at most 16384 can be simulated"},
		{func(c *Config) { c.Fault = "kill=9" }, "fault: there is no rank 9 among 2"},
		{func(c *Config) { c.Native = "all_reduce" }, "sim:h100 cannot carry out a benchmark without a guest"},
		{func(c *Config) { c.WasmPath += "x" }, "no such file"},
	} {
		config := simulatedConfig(t, path, 2)
		config.Stdout, config.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
		c.change(&config)
		result, err := Run(t.Context(), config)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, %v\nwant %s", result, err, c.want)
		}
		if !isEmpty(t, config.TempDir) {
			t.Errorf("%s: files are left behind", c.want)
		}
	}
}

// TestSimulatedHints looks at what is advised: nothing twice, and nothing that
// does not help.
func TestSimulatedHints(t *testing.T) {
	const own = "give the path of a preset of your own, which may begin with one of ccrun's: base: h100"
	for _, c := range []struct {
		device string
		ranks  int
		want   string
	}{
		{"sim:", 0, "for example sim:h100 or sim:h100x16; `ccrun devices` lists presets"},
		{"sim:h100", 16_385, "give -n 1 to 16384"},
		{"sim:h100x99999", 0, "ask for fewer nodes, or give -n"},
		{"sim:./none.yaml", 0, own},
		{"simm", 0, "there are: auto, cpu, sim[:PRESET[xNODES]]"},
		{"Sim:H100", 0, "there are: auto, cpu, sim[:PRESET[xNODES]]"},
	} {
		config := simulatedConfig(t, write(t), c.ranks)
		config.Device = c.device
		config.Stdout, config.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
		_, err := Run(t.Context(), config)
		var refused *Error
		if !errors.As(err, &refused) || refused.Hint != c.want || strings.Contains(refused.Text, "for example") {
			t.Errorf("--device %s, %d ranks: got %+v, want the hint %q", c.device, c.ranks, refused, c.want)
		}
	}
}

// TestRecordingWithoutRoom has the file of a rank's operations be one that
// cannot be written: that is no trap of the guest.
func TestRecordingWithoutRoom(t *testing.T) {
	config := simulatedConfig(t, write(t, enterBarrier()), 2)
	config.Record = true
	config.Ready = func(s Start) error { return os.Mkdir(oplogPath(s.RunDir, 1), 0o700) }
	r := start(t, t.Context(), config)
	got := verdictOf(r)
	if !strings.HasPrefix(got, "104 setup failed: rank 1: its operations could not be written down: ") || !strings.HasSuffix(got, "; make room") {
		t.Errorf("got %s", got)
	}
}

// TestStuckSimulation describes a run whose cluster may still change: here there
// is none to look at.
func TestStuckSimulation(t *testing.T) {
	found, err := findTarget(&Config{Device: "sim:h100"})
	if err != nil {
		t.Fatal(err)
	}
	s := &simulator{target: found, ranks: make([]*rank, 8), stuck: true}
	if got := s.simulation(); got.Memory != nil || got.Phantoms || got.Nodes != 1 {
		t.Errorf("%+v", got)
	}
}

// TestSimulatedRanks counts the ranks of targets.
func TestSimulatedRanks(t *testing.T) {
	for _, c := range []struct {
		device       string
		asked        int
		ranks, nodes int
		lastPlace    string
	}{
		{"sim", 0, 8, 1, "7 of 8"},
		{"sim:h100", 3, 3, 1, "2 of 3"},
		{"sim:h100", 20, 20, 3, "3 of 4"},
		{"sim:h100x2", 0, 16, 2, "7 of 8"},
		{"sim:h100x2", 9, 9, 2, "0 of 1"},
		{"sim:gb200-nvl72", 0, 72, 1, "71 of 72"},
		{"sim:cpu", 0, DefaultRanks, 1, "3 of 4"},
		{"sim:cpux2", 6, 6, 2, "2 of 3"},
	} {
		found, err := findTarget(&Config{Device: c.device, Ranks: c.asked})
		if err != nil {
			t.Errorf("%s: %v", c.device, err)
			continue
		}
		local, size := found.place(found.ranks - 1)
		if place := fmt.Sprintf("%d of %d", local, size); found.ranks != c.ranks || found.nodes() != c.nodes || place != c.lastPlace {
			t.Errorf("%s with -n %d: %d ranks on %d nodes, the last is %s; want %d on %d, %s",
				c.device, c.asked, found.ranks, found.nodes(), place, c.ranks, c.nodes, c.lastPlace)
		}
	}
}

// TestSimulatedRunIsNotLaunched has a launcher's environment ignored, with a word.
func TestSimulatedRunIsNotLaunched(t *testing.T) {
	config := simulatedConfig(t, write(t, enterBarrier()), 0)
	config.Env = environment(torch)
	r := start(t, t.Context(), config)
	if r.Ranks != 8 || !strings.Contains(r.stderr.String(), "a simulated run is one process, whatever torchrun says of ranks") {
		t.Errorf("%d ranks, stderr %s", r.Ranks, &r.stderr)
	}
}

// TestSimulatedCancel stops ranks that go on for ever.
func TestSimulatedCancel(t *testing.T) {
	config := simulatedConfig(t, write(t, wasm.Forever(enterBarrier())), 3)
	config.TraceLevel = flight.LevelOff
	config.Timeout = 1 // at once
	r := start(t, t.Context(), config)
	if got := verdictOf(r); !strings.HasPrefix(got, "117 timeout: the run took longer than 1ns\nrank 0 ") {
		t.Errorf("got %s", got)
	}
}
