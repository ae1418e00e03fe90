package module

import (
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// countingMemory is a device of which only memory works.
type countingMemory struct {
	device.Device
	used, peak, limit int64
}

type countedBuffer struct{ bytes int64 }

func (b *countedBuffer) Size() int64 { return b.bytes }
func (b *countedBuffer) Peer() int   { return -1 }

func (m *countingMemory) Alloc(bytes int64) (op.Buffer, error) {
	if m.used+bytes > m.limit {
		return nil, device.ErrNoMemory
	}
	m.used += bytes
	m.peak = max(m.peak, m.used)
	return &countedBuffer{bytes}, nil
}

func (m *countingMemory) Free(b op.Buffer) error {
	m.used -= b.Size()
	return nil
}

// What a pool takes of the device is at its most what buckets held at most, so
// that no copy beside the buckets ever fills the device,
// whatever sizes come and go.
func TestNoClonesBesideBuckets(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	for range 200 {
		d := &countingMemory{limit: 1 << 40}
		var pool stagingPool
		var held []op.Buffer
		live, peak, reused := int64(0), int64(0), 0
		for range 300 {
			if len(held) > 0 && (len(held) > 5 || random.IntN(2) == 0) {
				i := random.IntN(len(held))
				live -= held[i].Size()
				pool.give(held[i])
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
				continue
			}
			bytes := int64(1+random.IntN(4)) << 10
			asked := pool.asked
			b, err := pool.take(d, bytes)
			if err != nil || b.Size() != bytes {
				t.Fatalf("%d bytes: %v, %v", bytes, b, err)
			}
			if pool.asked == asked {
				reused++
			}
			held = append(held, b)
			live += bytes
			peak = max(peak, live)
			if d.peak != peak {
				t.Fatalf("the device gave %d bytes at most, buckets held %d", d.peak, peak)
			}
		}
		if reused == 0 {
			t.Error("nothing was used again")
		}
		for _, b := range held {
			pool.give(b)
		}
		if err := pool.drain(d); err != nil || d.used != 0 || pool.allocated != 0 {
			t.Errorf("left: %d of the device, %d of the pool, %v", d.used, pool.allocated, err)
		}
	}
}

// A device without room gets back what nobody holds before a bucket is refused.
func TestStagingPoolGivesBackBeforeItFails(t *testing.T) {
	d := &countingMemory{limit: 3 << 10}
	var pool stagingPool
	a, _ := pool.take(d, 2<<10)
	pool.give(a)
	if _, err := pool.take(d, 3<<10); err != nil {
		t.Errorf("%v, with %d bytes of the device in use", err, d.used)
	}
	if _, err := pool.take(d, 1); err == nil {
		t.Error("more than the device has")
	}
	if b, err := pool.take(d, 0); b != nil || err != nil {
		t.Errorf("no bytes: %v, %v", b, err)
	}
}
