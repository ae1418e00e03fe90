package cpu

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// openComms makes a communicator of two ranks.
func openComms(t *testing.T, pair [2]*Device) [2]*comm {
	t.Helper()
	var comms [2]*comm
	var both sync.WaitGroup
	for i, d := range pair {
		both.Go(func() {
			c, err := d.NewComm("pair", []int{0, 1}, time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			comms[i] = c.(*comm)
		})
	}
	both.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return comms
}

// TestHostileCall lets a peer enter the same call with noise for its areas and
// its parts. The call may fail, and data be wrong, but nothing may crash, hang
// or reach outside.
func TestHostileCall(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		pair := openPair(t)
		comms := openComms(t, pair)
		mine, err := pair[0].Alloc(1000)
		if err != nil {
			t.Fatal(err)
		}
		call := hostileCall(mine)
		enterNoise(random, comms[1], wordsOf(call))
		s, err := pair[0].NewStream()
		if err != nil {
			t.Fatal(err)
		}
		o := op.Op{Kind: op.CollectiveCall, Comm: comms[0], Call: call}
		if err := s.Submit(&o); err != nil {
			t.Logf("submit: %v", err)
			continue
		}
		var failure *device.OpError
		if err := s.Sync(10 * time.Second); err != nil && !errors.As(err, &failure) {
			t.Errorf("sync: %v", err)
		}
		if err := comms[0].Close(); err != nil && !errors.As(err, &failure) {
			t.Errorf("close: %v", err)
		}
	}
}

// hostileCall reads and writes the peer's areas in every way.
func hostileCall(b op.Buffer) *op.Call {
	here, there := op.Place{Rank: 0, Area: op.AreaOut}, op.Place{Rank: 1, Area: op.AreaIn}
	out := op.Place{Rank: 1, Area: op.AreaOut, Off: 100}
	return &op.Call{
		Collective: op.AllToAllV, Program: &op.Program{Steps: []op.Step{
			{Kind: op.StepEnter, Peer: -1},
			{Kind: op.StepMeet, Peer: -1},
			{Kind: op.StepTake, Peer: 1},
			{Kind: op.StepMove, Bytes: 100, Sources: []op.Place{there}, Dests: []op.Place{here}},
			{Kind: op.StepMove, Bytes: 100, Sources: []op.Place{here}, Dests: []op.Place{out}},
			{Kind: op.StepLeave, Peer: -1},
			{Kind: op.StepPart, Peer: -1},
		}},
		In: op.View{Buf: b}, Out: op.View{Buf: b, Off: 500},
		SendCounts: []int64{1, 1}, SendOffsets: []int64{0, 0}, RecvCounts: []int64{1, 1}, RecvOffsets: []int64{0, 1},
	}
}

// enterNoise enters the first call as a peer that lies.
func enterNoise(random *rand.Rand, c *comm, w callWords) {
	own := &c.peers[c.rank].block
	noise := func(valid int64) int64 {
		if random.IntN(4) > 0 {
			return valid
		}
		choices := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(random.Uint64()), c.device.own.heap, random.Int64N(1 << 22)}
		return choices[random.IntN(len(choices))]
	}
	p := &own.places[1]
	for i := range p.locations.of {
		p.locations.of[i] = location{noise(c.device.own.heap), noise(1000), uint32(noise(0)), uint32(noise(1))}
	}
	p.locations.broken.Store(uint32(noise(0)))
	*own.vector(1, 0) = vector{sends: 1, recvs: 1, offset: noise(0)}
	p.header.what, p.header.count, p.header.slice = w.what, w.count, w.slice
	p.header.entered.set(uint64(noise(1)) | 1)
	own.left.set(uint64(noise(1)))
	for i := range c.peers {
		c.peers[i].block.raised[0].set(uint64(noise(1)))
	}
}

// TestHostileAddress offers communicator addresses that are none.
func TestHostileAddress(t *testing.T) {
	good := openPair(t)[0]
	for name, address := range map[string][]byte{
		"short":      {1, 2, 3},
		"zero":       make([]byte, 16),
		"far":        {0, 0, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0},
		"negative":   {0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0},
		"misaligned": {1, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if err := good.exchange.Set(commKey(name, 1), address); err != nil {
			t.Fatal(err)
		}
		if _, err := good.NewComm(name, []int{0, 1}, time.Minute); !errors.Is(err, device.ErrPeer) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
