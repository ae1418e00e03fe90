package module

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
)

func TestEveryRowHasItsHandler(t *testing.T) {
	all, err := functions()
	if err != nil {
		t.Fatal(err)
	}
	for n, f := range all {
		if f.row != &abi.Table[n] || f.handle == nil {
			t.Errorf("row %d, %s, has no handler", n, abi.Table[n].Name)
		}
	}
}

// Decoding relies on this shape of the table.
func TestTableIsDecodable(t *testing.T) {
	for n := range abi.Table {
		row := &abi.Table[n]
		count := make(map[abi.Role]int)
		for i, p := range row.Params {
			count[p.Role]++
			if p.Role == abi.Len && (i == 0 || row.Params[i-1].Role != abi.In && row.Params[i-1].Role != abi.Out) {
				t.Errorf("%s: %s is the length of nothing", row.Name, p.Name)
			}
		}
		if count[abi.In]+count[abi.InStruct] > 1 || count[abi.Out] > 2 || count[abi.Buffer] > 2 || count[abi.Stream] > 1 || count[abi.EventH] > 1 {
			t.Errorf("%s: more parameters of a role than a call has room for", row.Name)
		}
	}
	for _, e := range abi.Enums {
		for n, v := range e.Values {
			if e.Name != "kind" && int(v.Value) != n {
				t.Errorf("enumeration %s: %s is %d, not %d: a parameter's check counts from 0", e.Name, v.Name, v.Value, n)
			}
		}
	}
}

// Every errno that errnoOf can give is accepted from every row, or unwinds.
func TestErrnoOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want abi.Errno
	}{
		{device.ErrNoMemory, abi.NoMemory}, {device.ErrStale, abi.Stale}, {device.ErrTimeout, abi.TimedOut},
		{device.ErrPeer, abi.NoRank}, {device.ErrSlot, abi.Invalid}, {device.ErrForeign, abi.Invalid},
		{device.ErrTooMany, abi.Limit}, {device.ErrClosed, abi.Stale}, {device.ErrMismatch, abi.Mismatch},
		{device.ErrMissing, abi.Unsupported}, {errors.New("disk on fire"), abi.Failed},
		{&device.OpError{Err: device.ErrStale}, abi.Failed}, {inField("dst", errStale), abi.Stale},
	} {
		if got := errnoOf(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestListed(t *testing.T) {
	for _, c := range []struct {
		row   string
		errno abi.Errno
		want  abi.Errno
		ok    bool
	}{
		{"put", abi.Stale, abi.Stale, true},
		{"put", abi.Unsupported, abi.Failed, true},
		{"buffer_alloc", abi.Failed, abi.Invalid, true},
		{"world", abi.Failed, 0, false},
		{"barrier", abi.Mismatch, 0, false},
	} {
		row, _ := abi.Lookup(c.row)
		if got, ok := listed(row, c.errno); got != c.want || ok != c.ok {
			t.Errorf("%s %v: %v %v, want %v %v", c.row, c.errno, got, ok, c.want, c.ok)
		}
	}
}

// A guest without a memory has a nil pointer for one in wazero.
func TestGuestWithoutMemory(t *testing.T) {
	m := proxyModule()
	m.pages = 0
	r := newLoneRank(t, newEngine(t, m), 1)
	if errno, err := r.call("world", 8); errno != abi.Fault || err != nil {
		t.Errorf("world: %v, %v, want fault", errno, err)
	}
	if errno, err := r.call("stream_sync", 0, 0); errno != abi.BadHandle || err != nil {
		t.Errorf("stream_sync: %v, %v, want bad_handle", errno, err)
	}
}

// Without its context a guest is a bug of the host: it is unwound.
func TestGuestWithoutInstance(t *testing.T) {
	e := newEngine(t, proxyModule())
	r := newLoneRank(t, e, 1)
	r.ctx = context.Background()
	if _, err := r.call("world", outAt); err == nil || !strings.Contains(err.Error(), "without the context of its module.Instance") {
		t.Errorf("world: %v", err)
	}
}

// An aborted rank's guest is unwound from the call that it is in, and from any
// later one, by an error that has the cause and the guest's stack.
func TestAbortUnwinds(t *testing.T) {
	e := newEngine(t, proxyModule())
	cause := errors.New("rank 3 was lost")
	for _, name := range []string{"stream_sync", "barrier", "share_lookup", "world"} {
		t.Run(name, func(t *testing.T) {
			world := newFakeWorld(2, false)
			r := newTestRank(t, e, Config{Size: 2, Device: world.devices[0], Exchange: newMemoryExchange()})
			forever := ^uint64(0)
			args := map[string][]uint64{"barrier": {forever}, "world": {outAt}}[name]
			switch name {
			case "stream_sync":
				s := r.newStream()
				r.must("wait", s, 1, 0, 1)
				args = []uint64{s, forever}
			case "share_lookup":
				pointer, length := r.text("x")
				args = []uint64{1, pointer, length, 0, forever, outAt, outAt + 8}
			}
			go r.Abort(cause)
			var err error
			for err == nil { // world returns until the abort is seen
				_, err = r.call(name, args...)
			}
			var unwound *UnwindError
			if !errors.As(err, &unwound) || unwound.Call != name || !errors.Is(err, device.ErrAborted) || !errors.Is(err, cause) {
				t.Errorf("unwound with %v", err)
			}
			if !strings.Contains(err.Error(), "wasm stack trace") {
				t.Errorf("no guest stack: %v", err)
			}
		})
	}
}
