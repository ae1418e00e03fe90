package guest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero/sys"
)

func TestStack(t *testing.T) {
	const trace = `aborted: deadlock (recovered by wazero)
wasm stack trace:
	ccrun_v1.stream_sync(i64,i64) i32
	.github.com_ccrun_ccrun_guest_sdk_go_ccrun.__Stream_.Sync(i32) i32
	.main.ring(i32) i32
	.main.main(i32) i32
	.runtime.main(i32) i32
	.wasm_pc_f_loop()
	._rt0_wasm_wasip1()`
	exit := exitOf("", errors.New(trace))
	if exit.Trap != "aborted: deadlock" || len(exit.Stack) != 7 || Culprit(exit.Stack) != "main.ring" {
		t.Errorf("got %q, %q, culprit %q", exit.Trap, exit.Stack, Culprit(exit.Stack))
	}
}

// The names on the left are what `go build` writes for those on the right.
func TestGoNamesAreReadable(t *testing.T) {
	for name, want := range map[string]string{
		"main.__gather_.prepare":       "main.(*gather).prepare",
		"main.__gather_.prepare.func1": "main.(*gather).prepare.func1",
		"main.__my_type_.step":         "main.(*my_type).step",
		"main.gather.prepare":          "main.gather.prepare",
		"main.main":                    "main.main",
		"main.init.0.func1":            "main.init.0.func1",
		"main.sum_go.shape.int_":       "main.sum[...]",
		"main.__ring_go.shape.struct___main.a_int__main.b__string____.step": "main.(*ring[...]).step",
		"main.__ring_go.shape.int__.step":                                   "main.(*ring[...]).step",
		"main.ring_go.shape.float64_.step":                                  "main.ring[...].step",
		"main.pair_go.shape.int_go.shape.uint8_.both":                       "main.pair[...].both",
		"github.com_a_b_c.__T_.Run":                                         "github.com_a_b_c.(*T).Run",
		"github.com_ccrun_ccrun_guest_sdk_go_ccrun.__Stream_.Sync":          "github.com_ccrun_ccrun_guest_sdk_go_ccrun.(*Stream).Sync",
		"__main_void":     "__main_void",
		"__wasi_fd_write": "__wasi_fd_write",
		"ring_all_gather": "ring_all_gather",
	} {
		if got := functionName("", "."+name+"(i32,i64) i32"); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	frames := []Frame{{Function: functionName("", ".github.com_ccrun_ccrun_guest_sdk_go_ccrun.__Stream_.Sync(i32) i32")}, {Function: "main.(*gather).run"}}
	if got := Culprit(frames); got != "main.(*gather).run" {
		t.Errorf("culprit %s", got)
	}
}

func TestStackOfC(t *testing.T) {
	const trace = `wasm error: unreachable
wasm stack trace:
	ring.wasm.inner(i32,i32) i32
		0x1f: /home/u/ring.c:4:70 (inlined)
		      /home/u/ring.c:9:3
	ring.wasm.strange(name)(i64) (i32,i64)
	ring.wasm.__main_void() i32
	ring.wasm._start()
	... maybe followed by omitted frames

Go runtime stack trace:
goroutine 1 [running]:`
	exit := exitOf("ring.wasm", errors.New(trace))
	got := fmt.Sprintf("%s: %q", exit.Trap, exit.Stack)
	want := `unreachable: ["inner /home/u/ring.c:4:70" "strange(name)" "__main_void" "_start" "... maybe followed by omitted frames"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestExitIsNoTrap(t *testing.T) {
	if e := exitOf("", sys.NewExitError(3)); e.Code != 3 || e.Trap != "" {
		t.Errorf("exit 3: %+v", e)
	}
	if e := exitOf("", sys.NewExitError(0)); e.Err != nil {
		t.Errorf("exit 0: %+v", e)
	}
	if Culprit([]Frame{{Function: "runtime.main"}}) != "" {
		t.Error("a runtime function was blamed")
	}
}
