package cpu

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/op"
)

func openPair(t *testing.T) [2]*Device {
	t.Helper()
	exchange := new(devicetest.Exchange)
	var pair [2]*Device
	for i := range pair {
		d, err := Open(device.Config{Rank: i, Size: 2, Exchange: exchange, MemoryBytes: 4 << 20, OpTimeout: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		pair[i] = d.(*Device)
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return pair
}

// TestHostileControlRegion lets a peer write noise over everything that it can
// reach, again and again, while this rank uses all of it. Anything may fail,
// and data be wrong, but nothing may crash, hang or reach outside.
func TestHostileControlRegion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		pair := openPair(t)
		good, bad := pair[0], pair[1]
		theirs, err := bad.Alloc(1000)
		if err != nil {
			t.Fatal(err)
		}
		h, err := bad.Export(op.View{Buf: theirs}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		imported, err := good.Import(1, h)
		if err != nil {
			t.Fatal(err)
		}
		mine, err := good.Alloc(1000)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bad.attach(0); err != nil {
			t.Fatal(err)
		}
		for _, a := range []*arena{bad.own, bad.peers[0].Load()} {
			scribble(random, a)
		}
		useAll(t, good, mine, imported)
	}
}

// scribble overwrites parts of a control region that are in use.
func scribble(random *rand.Rand, a *arena) {
	noise := func(at, bytes int64) {
		for i := range a.mem[at:][:bytes] {
			a.mem[at+int64(i)] = byte(random.Uint32())
		}
	}
	noise(0, pageBytes)
	noise(a.generations, 64)
	noise(a.presences, int64(a.ranks)*presenceBytes)
	for source := range int64(a.ranks) {
		noise(a.pads+source*signalSlots*lineBytes, 4*lineBytes)
		noise(a.mail+source*sendChannels*mailDepth*lineBytes, mailDepth*lineBytes)
		noise(a.pins+source*laneCount*lineBytes, 4*lineBytes)
	}
}

// useAll does everything that reads a control region. Errors are fine.
func useAll(t *testing.T, d *Device, mine, theirs op.Buffer) {
	t.Helper()
	for _, o := range []op.Op{
		{Kind: op.Put, Dst: op.View{Buf: theirs}, Src: op.View{Buf: mine}, Bytes: 1000},
		{Kind: op.Get, Dst: op.View{Buf: mine}, Src: op.View{Buf: theirs}, Bytes: 1000},
		{Kind: op.Signal, Peer: 1, Value: 5},
		{Kind: op.Wait, Peer: 1, Value: 1 << 63},
		{Kind: op.Recv, Peer: 1, Dst: op.View{Buf: mine}, Bytes: 1000},
		{Kind: op.Send, Peer: 1, Src: op.View{Buf: mine}, Bytes: 1000},
	} {
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Submit(&o); err != nil {
			continue
		}
		var failure *device.OpError // of the operation, which the run's limit ends, not of Sync
		if err := s.Sync(10 * time.Second); err != nil && !errors.As(err, &failure) {
			t.Errorf("%s: %v", o.Kind, err)
		}
	}
	_ = d.Barrier(time.Millisecond)
	_ = d.Free(mine)
	if b, err := d.Alloc(1000); err == nil {
		_ = d.Free(b)
	}
}

// TestAttachRefuses offers files that are no arenas.
func TestAttachRefuses(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unsealed, err := unix.MemfdCreate("test", unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(unsealed)
	small, err := unix.MemfdCreate("test", unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(small)
	if _, err := unix.FcntlInt(uintptr(small), unix.F_ADD_SEALS, arenaSeals); err != nil {
		t.Fatal(err)
	}
	other := openPair(t)[1].own // sealed and sized, of rank 1 of 2
	for name, c := range map[string]struct {
		rank, ranks int
		address     []byte
	}{
		"malformed":      {0, 2, []byte("here")},
		"no process":     {0, 2, []byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}},
		"regular file":   {0, 2, (&arena{fd: int(file.Fd())}).name()},
		"unsealed":       {0, 2, (&arena{fd: unsealed}).name()},
		"small":          {0, 2, (&arena{fd: small}).name()},
		"another rank":   {0, 2, other.name()},
		"another world":  {1, 3, other.name()},
		"no descriptor":  {0, 2, (&arena{fd: 1 << 20}).name()},
		"standard input": {0, 2, (&arena{fd: 0}).name()},
	} {
		if _, err := attachArena(c.rank, c.ranks, c.address); !errors.Is(err, device.ErrPeer) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if a, err := attachArena(1, 2, other.name()); err != nil {
		t.Error(err)
	} else if err := a.close(); err != nil {
		t.Error(err)
	}
}
