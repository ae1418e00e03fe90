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
