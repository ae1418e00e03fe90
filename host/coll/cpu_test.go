package coll_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/op"
)

// cpuPatience is how long the ranks may take for all cases together.
const cpuPatience = 4 * time.Minute

// TestCPU carries out random calls on the cpu device: on ranks that are
// goroutines, on communicators of some of them in any order, by any algorithm
// that can carry out the call, in place and not, with guards around the
// outputs.
func TestCPU(t *testing.T) {
	cases := 125
	if testing.Short() {
		cases = 20
	}
	for size := 1; size <= 9; size++ {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			w := newCPUWorld(t, size)
			var all sync.WaitGroup
			for rank := range size {
				all.Go(func() {
					if err := w.run(rank, cases); err != nil {
						w.giveUp(t, rank, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// cpuWorld is ranks that carry out the same cases.
type cpuWorld struct {
	devices []device.Device
	groups  [][]int // ranks of each communicator
	once    sync.Once
}

func newCPUWorld(t *testing.T, size int) *cpuWorld {
	w, exchange := new(cpuWorld), new(devicetest.Exchange)
	for rank := range size {
		d, err := cpu.Open(device.Config{Rank: rank, Size: size, Exchange: exchange, MemoryBytes: 64 << 20, OpTimeout: cpuPatience / 4})
		if err != nil {
			t.Fatal(err)
		}
		w.devices = append(w.devices, d)
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	random := rand.New(rand.NewPCG(uint64(size), 77))
	everyone := make([]int, size)
	for rank := range everyone {
		everyone[rank] = rank
	}
	w.groups = [][]int{everyone}
	for range 3 {
		some := slices.Clone(everyone)
		random.Shuffle(size, func(i, j int) { some[i], some[j] = some[j], some[i] })
		w.groups = append(w.groups, some[:1+random.IntN(size)])
	}
	return w
}

// giveUp reports a failure and ends the waits of the others.
func (w *cpuWorld) giveUp(t *testing.T, rank int, err error) {
	w.once.Do(func() {
		t.Errorf("rank %d: %v", rank, err)
		for _, d := range w.devices {
			d.Abort(errors.New("another rank failed"))
		}
	})
}

// cpuRank is a rank of the test.
type cpuRank struct {
	device.Device
	world   int
	streams [2]device.Stream
	comms   []device.Comm // nil where it is none of the group
	buffer  op.Buffer
}

const cpuBufferBytes = 8 << 20

func (w *cpuWorld) run(rank, cases int) error {
	r := &cpuRank{Device: w.devices[rank], world: rank, comms: make([]device.Comm, len(w.groups))}
	var err error
	if r.buffer, err = r.Alloc(cpuBufferBytes); err != nil {
		return err
	}
	for i := range r.streams {
		if r.streams[i], err = r.NewStream(); err != nil {
			return err
		}
	}
	for i, ranks := range w.groups {
		if !slices.Contains(ranks, rank) {
			continue
		}
		if r.comms[i], err = r.Device.(device.Collectives).NewComm("group "+strconv.Itoa(i), ranks, cpuPatience); err != nil {
			return err
		}
	}
	random := rand.New(rand.NewPCG(uint64(len(w.devices)), 78)) // the same on all ranks
	for n := range cases {
		c := newCPUCase(random, w.groups)
		if r.comms[c.group] == nil {
			continue
		}
		if err := r.check(c); err != nil {
			return fmt.Errorf("case %d, %s: %w", n, c, err)
		}
	}
	for _, c := range r.comms {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// check carries the case out on this rank and compares the output.
func (r *cpuRank) check(c *cpuCase) error {
	rank := r.comms[c.group].Rank()
	call, placed, err := c.call(rank, r.buffer)
	if err != nil {
		return err
	}
	if err := c.fill(r, rank, placed); err != nil {
		return err
	}
	o := op.Op{Kind: op.CollectiveCall, Comm: r.comms[c.group], Call: call, Peer: -1}
	s := r.streams[c.stream]
	if err := s.Submit(&o); err != nil {
		return err
	}
	if err := s.Sync(cpuPatience); err != nil {
		return err
	}
	return c.compare(r, rank, placed)
}
