package sim

import (
	"errors"
	"math"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/preset"
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
