package sim

import (
	"errors"
	"math"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// openAll opens all ranks of a cluster of a preset without a limit of memory.
func openAll(t *testing.T, ranks int) (*Cluster, []device.Device) {
	t.Helper()
	p, err := preset.Find("cpu")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Preset: p, Ranks: ranks, RealBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	devices := make([]device.Device, ranks)
	for rank := range devices {
		if devices[rank], err = c.Open(device.Config{Rank: rank, Size: ranks}); err != nil {
			t.Fatal(err)
		}
	}
	return c, devices
}

// TestTooLarge asks for buffers of data that no computer has: it is told so, and
// the process lives.
func TestTooLarge(t *testing.T) {
	_, devices := openAll(t, 1)
	for _, bytes := range []int64{1 << 42, 1 << 49, memoryBytesMax, math.MaxInt64} {
		if b, err := devices[0].Alloc(bytes); !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("%d bytes: %v, %v", bytes, b, err)
		}
	}
	if most := realMost(); most < 1<<28 || most > realBytesMost {
		t.Errorf("%d bytes at most", most)
	}
}

// TestRealMost has two ranks use up what there is for both.
func TestRealMost(t *testing.T) {
	c, devices := openAll(t, 2)
	c.realMost = 1000
	a, err := devices[0].Alloc(600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := devices[1].Alloc(401); !errors.Is(err, device.ErrNoMemory) {
		t.Errorf("401 bytes of 400: %v", err)
	}
	if _, err := devices[1].Alloc(400); err != nil {
		t.Error(err)
	}
	if _, err := devices[0].Alloc(1); !errors.Is(err, device.ErrNoMemory) {
		t.Errorf("1 byte of 0: %v", err)
	}
	if err := devices[0].Free(a); err != nil {
		t.Fatal(err)
	}
	if err := devices[1].Close(); err != nil {
		t.Fatal(err)
	}
	if c.realHeld != 0 {
		t.Errorf("%d bytes are held", c.realHeld)
	}
	if _, err := devices[0].Alloc(1000); err != nil {
		t.Error(err)
	}
}

// TestLaggard asks for barriers that are over, about to be over, and neither.
func TestLaggard(t *testing.T) {
	c, _ := openAll(t, 2)
	c.devices[0].barriers, c.devices[1].barriers = 3, 2
	c.passed, c.rounds = 1, []round{{entered: 2}, {entered: 1}}
	for number, want := range []int{1: -1, 2: -1, 3: 1} {
		if number == 0 {
			continue
		}
		rank, entered := c.laggard(uint64(number))
		if rank != want || rank >= 0 && entered != 2 || rank < 0 && entered != uint64(number) {
			t.Errorf("barrier %d: rank %d has entered %d, want rank %d", number, rank, entered, want)
		}
	}
}

// TestLater goes to the end of time and past it.
func TestLater(t *testing.T) {
	for _, c := range []struct{ from, nanos, want int64 }{
		{5, 2, 2005},
		{0, math.MaxInt64, timeMax},
		{timeMax - 500, 1, timeMax},
		{timeMax, 1, timeMax},
		{timeMax + 5, 1, timeMax + 5},
		{timeMax + 5, 0, timeMax + 5},
	} {
		if got := later(c.from, c.nanos); got != c.want {
			t.Errorf("%d ns after %d ps: %d, want %d", c.nanos, c.from, got, c.want)
		}
	}
}

// TestQueuedForEngine gives a stream up that waits for a copy engine: its number
// is there for another one, later.
func TestQueuedForEngine(t *testing.T) {
	p, err := preset.Find("h100")
	if err == nil {
		err = p.Set("launch.engines=1")
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Preset: p, Ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	devices := make([]device.Device, 2)
	for rank := range devices {
		if devices[rank], err = c.Open(device.Config{Rank: rank, Size: 2}); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Run([]func(){func() {
		d := devices[0]
		b, err := d.Alloc(1 << 20)
		must(err)
		far, err := devices[1].Alloc(1 << 20)
		must(err)
		h, err := devices[1].Export(op.View{Buf: far}, 1<<20)
		must(err)
		to, err := d.Import(1, h)
		must(err)
		var streams []device.Stream
		for range 3 {
			s, err := d.NewStream()
			must(err)
			must(s.Submit(&op.Op{Kind: op.Put, Peer: -1, Dst: op.View{Buf: to}, Src: op.View{Buf: b}, Bytes: 1 << 20}))
			streams = append(streams, s)
		}
		must(c.Sleep(0, 100)) // the first is under way
		d.Abort(errors.New("enough"))
		for _, s := range streams {
			if err := s.Close(); !errors.Is(err, device.ErrAborted) {
				t.Error(err)
			}
		}
	}, func() {}}))
	if len(c.unused) != 3 {
		t.Errorf("%d numbers of streams have been given back", len(c.unused))
	}
}
