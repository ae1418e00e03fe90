package module

import (
	"testing"

	"github.com/ccrun/ccrun/host/abi"
)

// TestRepeatedCall makes the same call again and again: what it names is looked
// up anew once something was given back.
func TestRepeatedCall(t *testing.T) {
	r := newHotRank(t, false)
	b, _ := r.memory.Read(hotCallAt, abi.CallBytes)
	expect := func(when string, want abi.Errno, kept bool) {
		t.Helper()
		if got, err := r.call("collective", hotStream, hotCallAt); err != nil || got != want {
			t.Errorf("%s: errno %v, want %v (%s)", when, got, want, r.LastError())
		}
		if (r.Instance.call.repeated(b) != nil) != kept {
			t.Errorf("%s: kept is %v", when, !kept)
		}
	}
	expect("first", abi.OK, true)
	expect("second", abi.OK, true)
	put32(b[68:], 7)
	put32(b[64:], hotNameAt+64)
	r.memory.WriteString(hotNameAt+64, "oneshot")
	expect("with a name", abi.OK, false)
	put32(b[68:], 0)
	put64(b[88:], 1)
	expect("with a reserved field", abi.Invalid, false)
	put64(b[88:], 0)
	expect("as before", abi.OK, true)
	r.must("buffer_free", hotShare)
	if r.Instance.call.repeated(b) != nil {
		t.Error("kept although a buffer was given back")
	}
	expect("after another buffer was given back", abi.OK, true)
	r.must("buffer_free", hotB)
	expect("after its buffer was given back", abi.Stale, false)
	put64(b[48:], hotA)
	put64(b[56:], 512)
	expect("with another buffer", abi.OK, true)
	r.must("comm_free", hotComm)
	expect("after its communicator was given back", abi.Stale, false)
}
