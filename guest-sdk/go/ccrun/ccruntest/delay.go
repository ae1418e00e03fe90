package ccruntest

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// delayMax is how long an operation is held up at most.
const delayMax = 100 * time.Microsecond

// RunDelayed is [Run] with about every second operation held up before it is
// carried out; the seed says which ones and for how long. Ranks and streams
// then run ahead of and fall behind each other, which shows what a guest has
// forgotten to wait for.
func RunDelayed(t testing.TB, size int, seed uint64, guest func(*ccrun.World) error) *Result {
	t.Helper()
	w := newWorld(size)
	w.delays = func(rank int, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(rank)<<32|stream)) }
	return w.run(t, guest)
}

// hold holds the next operation up, if operations are, without the lock.
func (s *stream) hold() {
	if s.delays == nil {
		return
	}
	switch w := s.rank.world; s.delays.IntN(4) {
	case 0:
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	case 1:
		w.await(time.Duration(s.delays.Int64N(int64(delayMax))), func() bool { return false })
	}
}
