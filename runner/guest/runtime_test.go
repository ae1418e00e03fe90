package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/runner/wasm"
)

const wasi = "wasi_snapshot_preview1"

var procExit = wasm.Import{Module: wasi, Name: "proc_exit", Params: []wasm.ValType{wasm.I32}}

func command(pages uint32, imports []wasm.Import, body ...[]byte) *wasm.Module {
	return &wasm.Module{
		Imports: imports, MemoryPages: pages,
		Functions: []wasm.Function{{Name: "main.start", Export: "_start", Body: wasm.Code(body...)}},
	}
}

// load compiles a module with a limit of 64 pages.
func load(t *testing.T, wasm []byte) (*Runtime, error) {
	t.Helper()
	ctx := context.Background()
	r, err := New(ctx, nil, 64*pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(ctx) })
	_, err = r.Compile(ctx, "g.wasm", wasm)
	return r, err
}

func TestCompileRefuses(t *testing.T) {
	good := command(1, nil).Bytes()
	library := command(1, nil)
	library.Functions[0].Export = "_initialize"
	nothing := command(1, nil)
	nothing.Functions[0].Export = "run"
	for _, c := range []struct {
		name   string
		wasm   []byte
		reason Reason
		text   string
		hint   string
	}{
		{"good", good, 0, "", ""},
		{"empty module", good[:8], BadFile, "exports no _start", "WASI command"},
		{"truncated", good[:len(good)/2], BadFile, "not a valid WebAssembly module", "truncated"},
		{"type error", command(1, nil, wasm.Drop()).Bytes(), BadFile, "not a valid WebAssembly module", "build it again"},
		{"library", library.Bytes(), BadFile, "is a library", "c-shared"},
		{"no start", nothing.Bytes(), BadFile, "exports no _start", "GOOS=wasip1"},
		{"too big", command(65, nil).Bytes(), TooBig, "needs at least 4259840 bytes of memory and its limit is 4194304", "--memory 5MiB"},
		{"javascript", command(1, []wasm.Import{{Module: "gojs", Name: "runtime.ticks"}}).Bytes(), BadImport, "imports gojs.runtime.ticks", "GOOS=wasip1"},
		{"unknown module", command(1, []wasm.Import{{Module: "env", Name: "f"}}).Bytes(), BadImport, "imports env.f", "ccrun_v1"},
	} {
		_, err := load(t, c.wasm)
		var refused *Error
		switch {
		case c.text == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.text == "":
		case !errors.As(err, &refused):
			t.Errorf("%s: %v is no *Error", c.name, err)
		case refused.Reason != c.reason || !strings.Contains(refused.Text, c.text) || !strings.Contains(refused.Hint, c.hint):
			t.Errorf("%s: %d %q, hint %q", c.name, refused.Reason, refused.Text, refused.Hint)
		case strings.Contains(refused.Text+refused.Hint, "\n"):
			t.Errorf("%s: more than one line: %q", c.name, refused.Text)
		}
	}
}

// run runs a command and gives its exit, what it printed and the runtime.
func run(t *testing.T, m *wasm.Module, w WASI) (Exit, string, *Runtime) {
	t.Helper()
	ctx := context.Background()
	r, err := New(ctx, nil, 64*pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(ctx) })
	compiled, err := r.Compile(ctx, "g.wasm", m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w.Stdout, w.Stderr = &out, &out
	exit := r.Run(ctx, compiled, "dir/g.wasm", w)
	return exit, out.String(), r
}

func TestExits(t *testing.T) {
	grow := func(pages int32) []byte { return wasm.Code(wasm.Grow(pages), wasm.Drop()) }
	exit := []wasm.Import{procExit}
	for _, c := range []struct {
		name string
		m    *wasm.Module
		want string
	}{
		{"return", command(2, nil), "code 0 trap \"\" stack [] peak 2 refused false"},
		{"exit 0", command(1, exit, wasm.PushI32(0), wasm.Call(0)), "code 0 trap \"\" stack [] peak 1 refused false"},
		{"exit 7", command(1, exit, wasm.PushI32(7), wasm.Call(0)), "code 7 trap \"\" stack [] peak 1 refused false"},
		{"trap", command(1, nil, wasm.Unreachable()), "code 0 trap \"unreachable\" stack [main.start] peak 1 refused false"},
		{"grow", command(1, nil, grow(10)), "code 0 trap \"\" stack [] peak 11 refused false"},
		{"grow to the limit", command(1, nil, grow(63)), "code 0 trap \"\" stack [] peak 64 refused false"},
		{"grow past the limit", command(1, nil, grow(64)), "code 0 trap \"\" stack [] peak 1 refused true"},
	} {
		e, _, r := run(t, c.m, WASI{})
		got := fmt.Sprintf("code %d trap %q stack %v peak %d refused %v", e.Code, e.Trap, e.Stack, r.Memory().PeakBytes()/pageBytes, r.Memory().Refused())
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The guest prints eight random bytes.
func TestRandomnessComesFromSeedAndRank(t *testing.T) {
	imports := []wasm.Import{
		{Module: wasi, Name: "random_get", Params: []wasm.ValType{wasm.I32, wasm.I32}, Results: []wasm.ValType{wasm.I32}},
		{Module: wasi, Name: "fd_write", Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32, wasm.I32}, Results: []wasm.ValType{wasm.I32}},
	}
	m := command(1, imports,
		wasm.PushI32(64), wasm.PushI32(8), wasm.Call(0), wasm.Drop(),
		wasm.PushI32(1), wasm.PushI32(0), wasm.PushI32(1), wasm.PushI32(32), wasm.Call(1), wasm.Drop())
	m.Data = []wasm.Data{{Offset: 0, Bytes: "\x40\x00\x00\x00\x08\x00\x00\x00"}} // one vector: 8 bytes at 64
	seen := make(map[string]string)
	for _, w := range []WASI{{Seed: 1, Rank: 0}, {Seed: 1, Rank: 1}, {Seed: 2, Rank: 0}, {Seed: 0, Rank: 1}} {
		_, first, _ := run(t, m, w)
		_, again, _ := run(t, m, w)
		name := fmt.Sprintf("seed %d rank %d", w.Seed, w.Rank)
		if len(first) != 8 || first != again {
			t.Errorf("%s: %x, then %x", name, first, again)
		}
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s have the same bytes", name, other)
		}
		seen[first] = name
	}
}

var errGivenUp = errors.New("given up")

// The guest sleeps for an hour in poll_oneoff, and is stopped.
func TestSleepEndsWithTheRun(t *testing.T) {
	params := []wasm.ValType{wasm.I32, wasm.I32, wasm.I32, wasm.I32}
	imports := []wasm.Import{{Module: wasi, Name: "poll_oneoff", Params: params, Results: []wasm.ValType{wasm.I32}}}
	m := command(1, imports, wasm.PushI32(0), wasm.PushI32(64), wasm.PushI32(1), wasm.PushI32(128), wasm.Call(0), wasm.Drop())
	subscription := make([]byte, 48) // clock 1 (monotonic), relative
	subscription[16] = 1
	copy(subscription[24:], "\x00\xa0\xb8\x30\x46\x03\x00\x00") // 3.6e12 ns
	m.Data = []wasm.Data{{Offset: 0, Bytes: string(subscription)}}
	stop := make(chan struct{})
	time.AfterFunc(time.Millisecond, func() { close(stop) })
	began := time.Now()
	exit, _, _ := run(t, m, WASI{Stop: stop, Cause: func() error { return errGivenUp }})
	if !errors.Is(exit.Err, errGivenUp) || exit.Trap != "given up" || Culprit(exit.Stack) != "main.start" {
		t.Errorf("got %+v", exit)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the sleeper woke after %v", took)
	}
}

func TestCacheIsSharedAndHarmless(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir() + "/cache"
	for range 2 {
		cache, err := OpenCache(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(ctx, cache, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Compile(ctx, "g.wasm", command(1, nil).Bytes()); err != nil {
			t.Error(err)
		}
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

func TestHeapMemoryGrowsWithoutReservation(t *testing.T) {
	m := newMemory(3 * pageBytes)
	h := &heapMemory{owner: m}
	first := h.Reallocate(pageBytes)
	first[5] = 42
	if second := h.Reallocate(3 * pageBytes); len(second) != 3*pageBytes || second[5] != 42 {
		t.Errorf("grown to %d bytes, content %d", len(second), second[5])
	}
	if h.Reallocate(4*pageBytes) != nil || !m.Refused() {
		t.Error("grew past the limit")
	}
}
