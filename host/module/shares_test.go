package module

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
)

// shareDevices opens the device of a rank for the tests of shares: what they
// promise must hold on any.
var shareDevices = []struct {
	name string
	open func(t *testing.T, size int, x device.Exchange) []device.Device
}{
	{"fake", func(_ *testing.T, size int, _ device.Exchange) []device.Device {
		var all []device.Device
		for _, d := range newFakeWorld(size, false).devices {
			all = append(all, d)
		}
		return all
	}},
	{"cpu", func(t *testing.T, size int, x device.Exchange) []device.Device {
		var all []device.Device
		for rank := range size {
			recorder, err := newRecorder(t.TempDir(), rank, size)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { recorder.Close() })
			d, err := cpu.Open(device.Config{Rank: rank, Size: size, Exchange: x, Recorder: recorder, MemoryBytes: 16 << 20})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			all = append(all, d)
		}
		return all
	}},
}

// shareWorld is ranks that share memory, each run by a goroutine.
type shareWorld struct {
	t        *testing.T
	exchange *memoryExchange
	ranks    []*testRank
}

// forEachDevice runs a test on worlds of the given size.
func forEachDevice(t *testing.T, size int, test func(t *testing.T, w *shareWorld)) {
	for _, d := range shareDevices {
		t.Run(d.name, func(t *testing.T) {
			w := &shareWorld{t: t, exchange: newMemoryExchange()}
			e := newEngine(t, proxyModule())
			for rank, dev := range d.open(t, size, w.exchange) {
				w.ranks = append(w.ranks, newTestRank(t, e, Config{Rank: rank, Size: size, Device: dev, Exchange: w.exchange}))
			}
			test(t, w)
		})
	}
}

// together runs f on every rank at once.
func (w *shareWorld) together(f func(r *testRank)) {
	var all sync.WaitGroup
	for _, r := range w.ranks {
		all.Go(func() { f(r) })
	}
	all.Wait()
}

const forever = ^uint64(0)

func (r *testRank) publish(name string, epoch, buffer, offset, bytes uint64) {
	r.t.Helper()
	pointer, length := r.text(name)
	r.must("share_publish", pointer, length, epoch, buffer, offset, bytes)
}

// lookup gives the handle and the size.
func (r *testRank) lookup(peer int, name string, epoch uint64, timeout uint64) (handle, bytes uint64, errno abi.Errno) {
	pointer, length := r.text(name)
	errno, err := r.call("share_lookup", uint64(peer), pointer, length, epoch, timeout, outAt, outAt+8)
	if err != nil {
		r.t.Errorf("rank %d: share_lookup: %v", r.config.Rank, err)
	}
	bytes, _ = r.memory.ReadUint64Le(outAt + 8)
	return r.out(), bytes, errno
}

func (r *testRank) mustLookup(peer int, name string, epoch uint64) uint64 {
	r.t.Helper()
	handle, _, errno := r.lookup(peer, name, epoch, forever)
	if errno != abi.OK {
		r.t.Errorf("rank %d looks up %q of %d in epoch %d: %v (%s)", r.config.Rank, name, peer, epoch, errno, r.LastError())
	}
	return handle
}

func (r *testRank) write(buffer, offset uint64, text string) {
	r.t.Helper()
	pointer, length := r.text(text)
	r.must("buffer_write", buffer, offset, pointer, length)
}

func (r *testRank) read(buffer, offset uint64, bytes int) string {
	r.t.Helper()
	r.must("buffer_read", buffer, offset, dataAt, uint64(bytes))
	b, _ := r.memory.Read(dataAt, uint32(bytes))
	return string(b)
}

// contents is what a rank writes in an epoch.
func contents(rank int, epoch uint64) string { return fmt.Sprintf("rank %d epoch %d", rank, epoch) }

// Ranks that find a share in their cache and ranks that have to ask for it mix
// freely: nobody waits for anybody but the exporter.
func TestUnevenHits(t *testing.T) {
	const size = 4
	for _, missing := range []int{1, 2, size - 1} {
		t.Run(fmt.Sprintf("%d of %d miss", missing, size), func(t *testing.T) {
			forEachDevice(t, size, func(t *testing.T, w *shareWorld) {
				w.ranks[0].publish("x", 1, w.ranks[0].alloc(64), 0, 64)
				hitting := w.ranks[missing:]
				for _, r := range hitting {
					r.mustLookup(0, "x", 1)
				}
				messages := w.exchange.count()
				w.together(func(r *testRank) { r.mustLookup(0, "x", 1) })
				if got := w.exchange.count() - messages; got < missing {
					t.Errorf("%d ranks missed with %d messages", missing, got)
				}
				for _, r := range w.ranks {
					hits, misses := r.recorder.Counters().ShareHits, r.recorder.Counters().ShareMisses
					want := int64(0)
					if slices.Contains(hitting, r) {
						want = 1
					}
					if hits != want || misses != 1 {
						t.Errorf("rank %d: %d hits and %d misses, want %d and 1", r.config.Rank, hits, misses, want)
					}
				}
			})
		})
	}
}

// A full hit sends no message, and gives the same handle.
func TestFullHitIsSilent(t *testing.T) {
	forEachDevice(t, 3, func(t *testing.T, w *shareWorld) {
		w.together(func(r *testRank) { r.publish("x", 0, r.alloc(64), 0, 64) })
		first := make([][]uint64, len(w.ranks))
		w.together(func(r *testRank) {
			for peer := range w.ranks {
				first[r.config.Rank] = append(first[r.config.Rank], r.mustLookup(peer, "x", 0))
			}
		})
		messages := w.exchange.count()
		w.together(func(r *testRank) {
			for range 100 {
				for peer := range w.ranks {
					if h := r.mustLookup(peer, "x", 0); h != first[r.config.Rank][peer] {
						t.Errorf("rank %d has another handle to %d", r.config.Rank, peer)
					}
				}
			}
		})
		if sent := w.exchange.count() - messages; sent != 0 {
			t.Errorf("%d messages for look-ups that all hit", sent)
		}
	})
}

// Memory that is freed and allocated again lies at the same address: the old
// share is stale to who holds it, and the new one is not taken for it.
func TestFreeAndReallocate(t *testing.T) {
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		owner, peer := w.ranks[0], w.ranks[1]
		for epoch := range uint64(50) {
			b := owner.alloc(4096)
			owner.write(b, 0, contents(0, epoch))
			owner.publish("x", epoch, b, 0, 4096)
			h := peer.mustLookup(0, "x", epoch)
			if got, want := peer.read(h, 0, len(contents(0, epoch))), contents(0, epoch); got != want {
				t.Fatalf("epoch %d: read %q, want %q", epoch, got, want)
			}
			owner.must("buffer_free", b)
			if errno, _ := peer.call("buffer_read", h, 0, dataAt, 8); errno != abi.Stale {
				t.Fatalf("epoch %d: reading what was freed: %v", epoch, errno)
			}
			if _, _, errno := peer.lookup(0, "x", epoch, forever); errno != abi.Stale {
				t.Fatalf("epoch %d: looking up what was freed: %v", epoch, errno)
			}
			peer.must("buffer_free", h)
		}
		if c := peer.recorder.Counters(); c.ShareHits != 0 {
			t.Errorf("%d hits on freed memory", c.ShareHits)
		}
	})
}

// An exporter may be epochs ahead: it waits for nobody, and overwrites nothing.
func TestExporterAhead(t *testing.T) {
	const epochs = 20
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		owner, peer := w.ranks[0], w.ranks[1]
		for epoch := range uint64(epochs) {
			b := owner.alloc(64)
			owner.write(b, 0, contents(0, epoch))
			owner.publish("x", epoch, b, 0, 64)
		}
		for epoch := range uint64(epochs) {
			h := peer.mustLookup(0, "x", epoch)
			if got, want := peer.read(h, 0, len(contents(0, epoch))), contents(0, epoch); got != want {
				t.Errorf("epoch %d: read %q, want %q", epoch, got, want)
			}
		}
	})
}

// An importer may come first: it waits for that exporter only, and is told
// when its own deadline passes.
func TestImporterFirst(t *testing.T) {
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		owner, peer := w.ranks[0], w.ranks[1]
		if _, _, errno := peer.lookup(0, "x", 0, 60e6); errno != abi.TimedOut {
			t.Fatalf("nothing is published: %v", errno)
		}
		found := make(chan uint64)
		go func() { found <- peer.mustLookup(0, "x", 0) }()
		b := owner.alloc(64)
		owner.write(b, 0, "late")
		owner.publish("x", 0, b, 0, 64)
		if got := peer.read(<-found, 0, 4); got != "late" {
			t.Errorf("read %q", got)
		}
	})
}

// Ranks publish, then look up, their neighbours in opposite orders.
func TestOppositeOrder(t *testing.T) {
	const size = 6
	forEachDevice(t, size, func(t *testing.T, w *shareWorld) {
		w.together(func(r *testRank) {
			rank := r.config.Rank
			b := r.alloc(64)
			for epoch := range uint64(20) {
				neighbours := []int{(rank + 1) % size, (rank + size - 1) % size}
				if rank%2 == 1 {
					slices.Reverse(neighbours)
				}
				r.publish("x", epoch, b, 0, 64)
				for _, peer := range neighbours {
					r.must("buffer_free", r.mustLookup(peer, "x", epoch))
				}
			}
		})
	})
}

// A region that begins inside a buffer is reached where it begins and ends
// where it ends.
func TestViewAtOffset(t *testing.T) {
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		owner, peer := w.ranks[0], w.ranks[1]
		b := owner.alloc(1024)
		owner.write(b, 250, "before<inside>after")
		owner.publish("x", 0, b, 256, 8)
		h, size, errno := peer.lookup(0, "x", 0, forever)
		if errno != abi.OK || size != 8 {
			t.Fatalf("%v, %d bytes", errno, size)
		}
		if got := peer.read(h, 0, 8); got != "<inside>" {
			t.Errorf("read %q", got)
		}
		if errno, _ := peer.call("buffer_read", h, 1, dataAt, 8); errno != abi.Range {
			t.Errorf("reading past the region: %v", errno)
		}
		s, mine := peer.newStream(), peer.alloc(8)
		peer.write(mine, 0, "[INSIDE]")
		peer.must("put", s, h, 0, mine, 0, 8)
		peer.must("stream_sync", s, forever)
		if got := owner.read(b, 250, 19); got != "before[INSIDE]after" {
			t.Errorf("after the put the owner has %q", got)
		}
	})
}

// A ring runs for 10,000 iterations without a barrier or a host-side wait
// between them, while one rank dawdles: numbered signals lose nothing. Each
// rank checks what its neighbour wrote in each iteration.
func TestRingWithOneRankDelayed(t *testing.T) {
	const size, iterations = 3, 10000
	for _, protocol := range []string{"get", "put"} {
		t.Run(protocol, func(t *testing.T) {
			w := &shareWorld{t: t, exchange: newMemoryExchange()}
			e := newEngine(t, proxyModule())
			for rank, dev := range shareDevices[1].open(t, size, w.exchange) {
				w.ranks = append(w.ranks, newTestRank(t, e, Config{Rank: rank, Size: size, Device: dev, Exchange: w.exchange}))
			}
			w.together(func(r *testRank) { newRing(r, size, protocol).run(iterations) })
		})
	}
}

// ring passes 8 bytes to the next rank and checks those of the previous one.
type ring struct {
	*testRank
	rank, next, previous     uint64
	stream, source, dest     uint64 // dest is where the previous rank's bytes arrive
	nextDest, previousSource uint64
	put                      bool
	delay                    *rand.Rand
}

// Slots of the ring's signals.
const (
	readySlot = iota // the bytes of iteration n are there
	takenSlot        // and were used
)

func newRing(r *testRank, size int, protocol string) *ring {
	rank := r.config.Rank
	g := &ring{
		testRank: r, rank: uint64(rank), next: uint64((rank + 1) % size), previous: uint64((rank + size - 1) % size),
		stream: r.newStream(), source: r.alloc(8), dest: r.alloc(8), put: protocol == "put",
	}
	if rank == 1 {
		g.delay = rand.New(rand.NewPCG(1, 2))
	}
	r.publish("source", 0, g.source, 0, 8)
	r.publish("dest", 0, g.dest, 0, 8)
	g.nextDest = r.mustLookup(int(g.next), "dest", 0)
	g.previousSource = r.mustLookup(int(g.previous), "source", 0)
	return g
}

func (g *ring) run(iterations uint64) {
	for n := uint64(1); n <= iterations && !g.t.Failed(); n++ {
		g.dawdle()
		// The bytes of the last iteration must have been taken, then these go out.
		g.must("wait", g.stream, g.next, takenSlot, n-1)
		g.must("buffer_fill", g.stream, g.source, 0, 8, 0, n<<8|g.rank)
		if g.put {
			g.must("put", g.stream, g.nextDest, 0, g.source, 0, 8)
		}
		g.must("signal", g.stream, g.next, readySlot, n)
		g.must("wait", g.stream, g.previous, readySlot, n)
		if !g.put {
			g.must("get", g.stream, g.dest, 0, g.previousSource, 0, 8)
		}
		g.must("buffer_verify", g.stream, g.dest, 0, 8, 0, n<<8|g.previous, 0, outAt)
		if g.out() != 0 {
			g.t.Errorf("rank %d iteration %d: wrong bytes", g.rank, n)
		}
		g.must("signal", g.stream, g.previous, takenSlot, n)
	}
	g.must("stream_sync", g.stream, forever)
}

// dawdle spends time now and then, on one rank.
func (g *ring) dawdle() {
	if g.delay == nil || g.delay.IntN(100) > 0 {
		return
	}
	for range g.delay.IntN(200) {
		g.must("world", outAt)
	}
}

func TestHandleEncoding(t *testing.T) {
	h := device.Handle{Allocation: 1 << 31, Generation: 7, Offset: 1 << 40, Bytes: 1<<63 - 1, Extra: [64]byte{0: 1, 63: 2}}
	b := h.Encode()
	got, err := decodeHandle(b)
	if err != nil || got != h {
		t.Errorf("%+v, %v", got, err)
	}
	negative := bytes.Clone(b)
	negative[15] = 0x80 // the top of Offset
	for _, bad := range [][]byte{nil, b[1:], append(b, 0), negative} {
		var refused *refusal
		if _, err := decodeHandle(bad); !errors.As(err, &refused) || refused.errno != abi.Failed {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

// TestLookupRounds shows how long a look-up waits before it looks around: in
// virtual time until its end.
func TestLookupRounds(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		virtual                      bool
		timeout, limit, waited, want time.Duration
	}{
		{false, device.Forever, 0, 0, lookupRound},
		{false, device.Forever, 0, s, lookupRound},
		{false, s, 0, 0, lookupRound},
		{false, s, 0, s - 1, 1},
		{false, s, 0, 2 * s, 0},
		{false, 0, 0, 0, 0},
		{false, device.Forever, s, s - 2, 2},
		{true, device.Forever, 0, 0, device.Forever},
		{true, device.Forever, s, 0, s},
		{true, 3 * s, 0, s, 2 * s},
		{true, 3 * s, 2 * s, s, s},
		{true, s, 2 * s, 0, s},
		{true, 0, 0, 0, 0},
	} {
		call := call{Instance: &Instance{facts: device.Facts{Virtual: c.virtual}, config: Config{OpTimeout: c.limit}}}
		if got := call.lookupRound(c.timeout, c.waited); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
