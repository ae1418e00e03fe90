package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner/wasm"
)

// The test binary is also the program whose ranks it starts, and one of
// several processes that another launcher has started.
const joinVariable = "CCRUN_TEST_JOIN"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "__rank":
		os.Exit(RankMain(context.Background(), os.Getenv, os.Stdout, os.Stderr))
	case os.Getenv(joinVariable) != "":
		os.Exit(joinMain())
	}
	os.Exit(m.Run())
}

const (
	wasi = "wasi_snapshot_preview1"
	i32  = wasm.I32
	i64  = wasm.I64
)

// Imports of the test guests, in the order of their indices.
var imports = []wasm.Import{
	{Module: wasi, Name: "proc_exit", Params: []wasm.ValType{i32}},
	{Module: wasi, Name: "fd_write", Params: []wasm.ValType{i32, i32, i32, i32}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "world", Params: []wasm.ValType{i32}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "barrier", Params: []wasm.ValType{i64}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "stream_create", Params: []wasm.ValType{i32}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "wait", Params: []wasm.ValType{i64, i32, i32, i64}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "signal", Params: []wasm.ValType{i64, i32, i32, i64}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "stream_sync", Params: []wasm.ValType{i64, i64}, Results: []wasm.ValType{i32}},
	{Module: "ccrun_v1", Name: "abort", Params: []wasm.ValType{i32, i32, i32}, Results: []wasm.ValType{i32}},
}

const (
	procExit = iota
	fdWrite
	world
	barrier
	streamCreate
	wait
	signal
	streamSync
	abort
)

// Places in a test guest's memory.
const (
	worldAt  = 1024 // rank first
	streamAt = 2048
	vectorAt = 3072
	textAt   = 4096
)

// result calls a function and drops what it returns.
func result(function int, args ...[]byte) []byte {
	return wasm.Code(wasm.Code(args...), wasm.Call(function), wasm.Drop())
}

// only runs body on rank 0.
func only(body ...[]byte) []byte {
	return wasm.Code(result(world, wasm.PushI32(worldAt)), wasm.Unless(wasm.LoadI32(worldAt), body...))
}

func exit(code int32) []byte {
	return wasm.Code(wasm.PushI32(code), wasm.Call(procExit))
}

func enterBarrier() []byte { return result(barrier, wasm.PushI64(-1)) }

func newStream() []byte { return result(streamCreate, wasm.PushI32(streamAt)) }

func awaitSignal(peer, slot int32, value int64) []byte {
	return wasm.Code(
		result(wait, wasm.LoadI64(streamAt), wasm.PushI32(peer), wasm.PushI32(slot), wasm.PushI64(value)),
		result(streamSync, wasm.LoadI64(streamAt), wasm.PushI64(-1)))
}

func say() []byte {
	return result(fdWrite, wasm.PushI32(1), wasm.PushI32(vectorAt), wasm.PushI32(1), wasm.PushI32(worldAt+512))
}

const greeting = "hello\nworld\n"

// write makes a module file of a start function that calls main.work.
func write(t *testing.T, body ...[]byte) string {
	t.Helper()
	m := wasm.Module{
		Imports: imports, MemoryPages: 1,
		Functions: []wasm.Function{
			{Name: "runtime.start", Export: "_start", Body: wasm.Call(len(imports) + 1)},
			{Name: "main.work", Body: wasm.Code(body...)},
		},
		Data: []wasm.Data{
			{Offset: vectorAt, Bytes: fmt.Sprintf("\x00\x10\x00\x00%c\x00\x00\x00", len(greeting))},
			{Offset: textAt, Bytes: greeting},
		},
	}
	path := filepath.Join(t.TempDir(), "guest.wasm")
	if err := os.WriteFile(path, m.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// testRun is a run with all that it printed.
type testRun struct {
	*Result
	stdout, stderr bytes.Buffer
}

func testConfig(t *testing.T, path string, ranks int) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		WasmPath: path, Ranks: ranks, Device: "auto", Timeout: time.Minute, MemoryBytes: 4 << 20, BufferMemoryBytes: 16 << 20,
		TraceLevel: flight.LevelSlice, Pin: true, Self: self, Env: func(string) string { return "" }, Environ: os.Environ(),
		CacheDir: filepath.Join(t.TempDir(), "cache"), TempDir: t.TempDir(),
		stopGrace: 20 * time.Second, // busy machines need longer than users want to wait
	}
}

// start runs c and checks that nothing is left of it.
func start(t *testing.T, ctx context.Context, c Config) *testRun {
	t.Helper()
	var r testRun
	c.Stdout, c.Stderr = &r.stdout, &r.stderr
	result, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Remove(); err != nil {
		t.Error(err)
	}
	if !isEmpty(t, c.TempDir) {
		t.Error("the run left files behind")
	}
	r.Result = result
	return &r
}

func verdictOf(r *testRun) string {
	if r.Verdict == nil {
		return fmt.Sprintf("%d", r.ExitCode)
	}
	return fmt.Sprintf("%d %s: %s", r.ExitCode, r.Verdict.Kind, r.Verdict.Text)
}

// runCase is a guest and how its run ends, on whatever device.
type runCase struct {
	name  string
	ranks int
	body  []byte
	want  string
}

func runCases() []runCase {
	return []runCase{
		{"return", 3, nil, "0"},
		{"barrier", 4, wasm.Code(enterBarrier(), enterBarrier()), "0"},
		{"exit code", 3, only(exit(7)), "7 exit: rank 0 exited with code 7"},
		{"exit code while others wait", 3, wasm.Code(only(exit(7)), enterBarrier()), "7 exit: rank 0 exited with code 7"},
		{"exit code that is ours", 1, exit(112), "107 trap: rank 0 trapped: exited with code 112, and a guest's own are 1 to 95"},
		{"trap while others wait", 2, wasm.Code(only(wasm.Unreachable()), enterBarrier()),
			"107 trap: rank 0 trapped: unreachable\nat main.work\nat runtime.start"},
		{"abort", 2, wasm.Code(only(result(abort, wasm.PushI32(42), wasm.PushI32(textAt), wasm.PushI32(11))), enterBarrier()),
			"42 abort: rank 0 aborted the run: hello world\nin main.work"},
		{"memory limit", 1, wasm.Code(wasm.Grow(64), wasm.Drop(), wasm.Unreachable()),
			"115 limit exceeded: limit exceeded: rank 0: its memory limit is used up: it has 65536 bytes and asked for more\nat main.work\nat runtime.start"},
		{"barrier that one does not enter", 3, wasm.Code(only(exit(0)), enterBarrier()), "112 deadlock: deadlock: no rank can move\n" +
			"rank 0 has ended: its guest returned\n" +
			"rank 1 waits in main.work: barrier 1: wait for rank 0, which has entered 0\n" +
			"rank 2 waits in main.work: barrier 1: wait for rank 0, which has entered 0\n" +
			"behind: rank 0 has ended (its guest returned) and ranks 1 and 2 wait for it"},
		{"signal that nobody sends", 2, wasm.Code(newStream(), only(awaitSignal(1, 5, 3)), enterBarrier()), "112 deadlock: deadlock: no rank can move\n" +
			"rank 0 waits in main.work: stream_sync: wait for stream 1; stream 1: wait for rank 1 to raise signal slot 5 to 3 (it is 0)\n" +
			"rank 1 waits in main.work: barrier 1: wait for rank 0, which has entered 0\n" +
			"cycle: rank 0 waits for rank 1 waits for rank 0\n" +
			"behind: rank 0 has not entered the barrier that others wait in: waiting for rank 1"},
		{"operations left running", 2, wasm.Code(newStream(),
			only(result(wait, wasm.LoadI64(streamAt), wasm.PushI32(1), wasm.PushI32(0), wasm.PushI64(1)), exit(0)),
			result(signal, wasm.LoadI64(streamAt), wasm.PushI32(0), wasm.PushI32(0), wasm.PushI64(1))), "0"},
	}
}

func TestRuns(t *testing.T) {
	for _, c := range append(runCases(), runCase{
		"endless loop", 2, wasm.Forever(), "117 timeout: the run took longer than 500ms\nrank 0 computes\nrank 1 computes",
	}) {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, write(t, c.body), c.ranks)
			if strings.Contains(c.want, "500ms") {
				config.Timeout, config.stopGrace = 500*time.Millisecond, 0
			}
			r := start(t, t.Context(), config)
			if got := verdictOf(r); got != c.want {
				t.Errorf("got\n%s\nwant\n%s\nstderr %s", got, c.want, &r.stderr)
			}
			if r.ExitCode != 0 && len(r.Verdict.Ranks) != c.ranks {
				t.Errorf("the verdict has %d ranks", len(r.Verdict.Ranks))
			}
		})
	}
}

func TestOutputIsPrefixed(t *testing.T) {
	config := testConfig(t, write(t, say()), 2)
	config.Prefix = true
	r := start(t, t.Context(), config)
	got := make(map[string]int)
	for l := range strings.Lines(r.stdout.String()) {
		got[l]++
	}
	if fmt.Sprint(got) != "map[[0] hello\n:1 [0] world\n:1 [1] hello\n:1 [1] world\n:1]" || r.stderr.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", &r.stdout, &r.stderr)
	}
}

func TestResultAndKeptRunDirectory(t *testing.T) {
	config := testConfig(t, write(t, enterBarrier()), 3)
	config.Keep = true
	config.RunDir = filepath.Join(t.TempDir(), strings.Repeat("long", 40), "run")
	r := start(t, t.Context(), config)
	if r.Ranks != 3 || r.Device != "cpu" || r.Launcher != "launch" || len(r.RunID) != 16 || r.Verified != nil || r.Wall <= 0 {
		t.Errorf("%+v", r.Result)
	}
	for i, peak := range r.GuestPeakBytes {
		if peak != 65536 {
			t.Errorf("rank %d: peak of %d bytes", i, peak)
		}
	}
	for i := range 3 {
		log, err := flight.Open(flightPath(r.RunDir, i))
		if err != nil {
			t.Fatal(err)
		}
		if log.State() != flight.StateDone || log.Rank != i {
			t.Errorf("rank %d: %v, %v", i, log.State(), log.Meta)
		}
		log.Close()
		data, err := os.ReadFile(reportPath(r.RunDir, i))
		if err != nil {
			t.Fatal(err)
		}
		if rep, err := parseReport(data); err != nil || rep.Rank != i || rep.Kind != "" {
			t.Errorf("rank %d: %+v, %v", i, rep, err)
		}
	}
	for _, name := range []string{lockName, tokenName, socketName} {
		if _, err := os.Stat(filepath.Join(r.RunDir, name)); err == nil {
			t.Errorf("%s is left in a kept run directory", name)
		}
	}
}

func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	config := testConfig(t, write(t, wasm.Forever()), 2)
	config.stopGrace = 0
	config.RunDir = filepath.Join(config.TempDir, "run")
	go func() {
		awaitRunning(t, config.RunDir, 2)
		cancel()
	}()
	r := start(t, ctx, config)
	if got := verdictOf(r); got != "105 signal: stopped by a signal" {
		t.Errorf("got %s", got)
	}
}

// awaitRunning waits until the guests run and gives their process ids.
func awaitRunning(t *testing.T, dir string, ranks int) []int {
	return awaitLogs(t, dir, ranks, func(log *flight.Log) bool { return log.State() == flight.StateRunning })
}

// awaitLogs waits until the flight file of each rank is as it should be.
func awaitLogs(t *testing.T, dir string, ranks int, ready func(*flight.Log) bool) []int {
	pids := make([]int, ranks)
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for rank := 0; rank < ranks; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Error("the ranks do not start")
			return pids
		}
		log, err := flight.Open(flightPath(dir, rank))
		if err != nil {
			continue
		}
		if ready(log) {
			pids[rank] = log.PID
			rank++
		}
		log.Close()
	}
	return pids
}

func TestKilledRank(t *testing.T) {
	config := testConfig(t, write(t, newStream(), wasm.Forever(
		result(signal, wasm.LoadI64(streamAt), wasm.PushI32(1), wasm.PushI32(9), wasm.PushI64(7)), enterBarrier())), 4)
	config.RunDir = filepath.Join(config.TempDir, "run")
	killed := make(chan time.Time, 1)
	var pids []int
	go func() {
		pids = awaitLogs(t, config.RunDir, 4, func(log *flight.Log) bool { return log.Counters().Records > 0 })
		checkPinned(t, pids)
		killed <- time.Now()
		_ = unix.Kill(pids[2], unix.SIGKILL)
	}()
	r := start(t, t.Context(), config)
	if took := time.Since(<-killed); took > 2*time.Second {
		t.Errorf("the others stopped after %v", took)
	}
	if got := verdictOf(r); !strings.HasPrefix(got, "111 rank lost: rank 2 was lost: killed by SIGKILL; last operation: signal rank 1, slot 9 to 7") {
		t.Errorf("got %s", got)
	}
	if r.Verdict.Ranks[2].State != "lost" {
		t.Errorf("%+v", r.Verdict.Ranks)
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

// checkPinned checks that rank i may only use processor i, modulo what there is.
func checkPinned(t *testing.T, pids []int) {
	_, cpus := allowedCPUs()
	for rank, pid := range pids {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(pid, &set); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		} else if set.Count() != 1 || !set.IsSet(cpus[rank%len(cpus)]) {
			t.Errorf("rank %d may use %d processors, wanted only number %d", rank, set.Count(), cpus[rank%len(cpus)])
		}
	}
}

// Ranks die with a launcher that had no time to tell them.
func TestKilledLauncher(t *testing.T) {
	config := testConfig(t, write(t, wasm.Forever()), 0)
	config.RunDir = filepath.Join(config.TempDir, "run")
	cmd := exec.Command(config.Self)
	cmd.Env = append(os.Environ(), joinVariable+"="+encode(t, config))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := awaitRunning(t, config.RunDir, DefaultRanks)
	_ = cmd.Process.Kill() // Wait tells
	_ = cmd.Wait()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, pid := range pids {
		for !hasEnded(pid) {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
}

// hasEnded reports whether a process is gone, or is kept by a parent that does
// not look.
func hasEnded(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err != nil || strings.Contains(string(status), "State:\tZ")
}

func TestRefusedRuns(t *testing.T) {
	good := write(t)
	bad := filepath.Join(t.TempDir(), "bad.wasm")
	m := wasm.Module{Imports: []wasm.Import{{Module: "ccrun_v1", Name: "barier"}}, MemoryPages: 1,
		Functions: []wasm.Function{{Name: "f", Export: "_start"}}}
	if err := os.WriteFile(bad, m.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		code   int
		text   string
	}{
		{"no file", func(c *Config) { c.WasmPath += "x" }, ExitUsage, "no such file"},
		{"unknown import", func(c *Config) { c.WasmPath = bad }, ExitABI, "barier"},
		{"too little memory", func(c *Config) { c.MemoryBytes = 100 }, ExitLimit, "needs at least 65536 bytes"},
		{"too many ranks", func(c *Config) { c.Ranks = 100000 }, ExitUsage, "at most 256 ranks"},
		{"no such device", func(c *Config) { c.Device = "tpu" }, ExitUsage, `no device "tpu"`},
		{"run directory is a file", func(c *Config) { c.RunDir = good }, ExitUsage, "run directory"},
		{"no such program", func(c *Config) { c.Self = "/no/such/program" }, ExitUsage, "cannot start rank 0"},
		{"variables disagree", func(c *Config) { c.Env = environment(torch + "PMI_RANK=1 PMI_SIZE=8") }, ExitUsage, "launchers disagree"},
		{"-n disagrees", func(c *Config) { c.Ranks = 3; c.Env = environment(torch) }, ExitUsage, "-n 3, but WORLD_SIZE=4"},
	} {
		config := testConfig(t, good, 0)
		config.Stdout, config.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
		c.change(&config)
		result, err := Run(t.Context(), config)
		var refused *Error
		switch {
		case !errors.As(err, &refused):
			t.Errorf("%s: %v, %v", c.name, result, err)
		case refused.Code != c.code || !strings.Contains(refused.Text, c.text) || strings.Contains(refused.Text, "\n"):
			t.Errorf("%s: %d %q, hint %q", c.name, refused.Code, refused.Text, refused.Hint)
		case !isEmpty(t, config.TempDir):
			t.Errorf("%s: files are left behind", c.name)
		}
	}
}

func TestUnusableCacheIsDoneWithout(t *testing.T) {
	config := testConfig(t, write(t), 2)
	if err := os.Mkdir(config.CacheDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(config.CacheDir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := start(t, t.Context(), config)
	if r.ExitCode != 0 || !strings.Contains(r.stderr.String(), "compiled workflows are not kept") {
		t.Errorf("%d, %q", r.ExitCode, &r.stderr)
	}
}
