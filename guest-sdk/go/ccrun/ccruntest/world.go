// Package ccruntest runs guest code natively, in unit tests: [Run] makes a
// world of n ranks, goroutines of this process, and calls a function on each.
// It carries out the calls that package ccrun makes, plainly and under one
// lock; it checks less than ccrun does and says nothing about speed.
package ccruntest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Seed is the seed of every world of this package.
const Seed = 1

// limit is how long a world may run before Run calls it stuck.
const limit = 20 * time.Second

// Result is what a world leaves.
type Result struct {
	Errs       []error             // by rank, what the function returned
	Digests    map[string][]string // by name and rank, as in ccrun's result
	Mismatches int                 // elements that differed in any Verify
	Ops        [][]raw.Op          // by rank, everything submitted, in order
	Begun      [][]raw.Collective  // by rank, the collectives that the guest carries out itself
	Calls      [][]raw.Call        // by rank, those that the host carries out
}

var (
	errStuck   = errors.New("the world is stuck: some rank waits for what nobody does")
	errAborted = errors.New("a rank has aborted the world")
	errEnded   = errors.New("all ranks have ended")
)

// Run runs guest on size ranks and returns when all have ended. A world that
// makes no end is a failure of the test.
func Run(t testing.TB, size int, guest func(*ccrun.World) error) *Result {
	t.Helper()
	return newWorld(size).run(t, guest)
}

func (w *world) run(t testing.TB, guest func(*ccrun.World) error) *Result {
	t.Helper()
	timer := time.AfterFunc(limit, func() { _ = w.abort(errStuck) })
	defer timer.Stop()
	var ended sync.WaitGroup
	for _, r := range w.ranks {
		ended.Go(func() {
			defer r.close()
			w.result.Errs[r.number] = r.run(guest)
		})
	}
	ended.Wait()
	cause := w.abort(errEnded)
	w.workers.Wait()
	if errors.Is(cause, errStuck) {
		t.Fatalf("%v (ranks return %v)", cause, w.result.Errs)
	}
	return &w.result
}

// world is what all ranks share. Its lock guards everything of the package.
type world struct {
	mu        sync.Mutex
	changed   *sync.Cond // whenever anything has
	ranks     []*rank
	shares    map[share]*buffer
	posts     map[channel][]*post // sent and not received yet
	slots     map[slot]uint64
	votes     map[string][]*vote // by split, then by rank
	groups    map[string]uint32
	meetings  map[meeting][]*call
	conveyors []*conveyor // by number of the pipeline
	entered   []int       // barriers that each rank has entered
	cause     error       // why the world was aborted
	workers   sync.WaitGroup
	delays    func(rank int, stream uint64) *rand.Rand // nil for none
	result    Result
}

type share struct {
	rank  int
	name  string
	epoch uint64
}

type channel struct {
	from, to int
	number   uint32
}

type slot struct {
	from, to int
	number   uint32
}

func newWorld(size int) *world {
	w := &world{
		shares: map[share]*buffer{}, posts: map[channel][]*post{}, slots: map[slot]uint64{},
		votes: map[string][]*vote{}, groups: map[string]uint32{}, meetings: map[meeting][]*call{},
		entered: make([]int, size),
	}
	w.changed = sync.NewCond(&w.mu)
	w.result = Result{
		Errs: make([]error, size), Digests: map[string][]string{},
		Ops: make([][]raw.Op, size), Begun: make([][]raw.Collective, size), Calls: make([][]raw.Call, size),
	}
	for number := range size {
		w.ranks = append(w.ranks, newRank(w, number))
	}
	return w
}

// abort ends all waits and returns why, which is what the first one said.
func (w *world) abort(cause error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause == nil {
		w.cause = cause
	}
	w.changed.Broadcast()
	return w.cause
}

// await waits, the lock held, until ready holds. A negative timeout is none.
func (w *world) await(timeout time.Duration, ready func() bool) raw.Errno {
	expired := false
	if timeout >= 0 {
		timer := time.AfterFunc(timeout, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			expired = true
			w.changed.Broadcast()
		})
		defer timer.Stop()
	}
	for !ready() {
		if w.cause != nil {
			return raw.ErrnoFailed
		}
		if expired {
			return raw.ErrnoTimedOut
		}
		w.changed.Wait()
	}
	return raw.OK
}
