package guest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
)

// WASI is what one guest sees of the world.
type WASI struct {
	Args           []string // after the program's name
	Stdout, Stderr io.Writer
	Seed           uint64 // of its random numbers, together with Rank
	Rank           int
	// Stop is closed when the run is given up: a sleeping guest is then
	// unwound with Cause.
	Stop  <-chan struct{}
	Cause func() error
	// Time is the guest's in place of the machine's, nil for the machine's.
	Time Time
	// Memory accounts what this guest uses, nil for the runtime's own.
	Memory *Memory
}

// Time is the time of a guest that lives in another than the machine's.
type Time interface {
	// Now is the time in nanoseconds.
	Now() int64
	// Sleep returns when that many nanoseconds have passed; an error unwinds the
	// guest.
	Sleep(nanos int64) error
}

// config names no module, since guests of one runtime may be many of one name.
// It grants real clocks, because a Go guest's timers need time to pass; that
// costs reproducibility of guests that look at WASI's clocks, and none of those
// that use ccrun's. Randomness comes from the seed, so that a run can be
// repeated.
func (w WASI) config(name string) wazero.ModuleConfig {
	config := wazero.NewModuleConfig().
		WithName("").
		WithArgs(append([]string{name}, w.Args...)...).
		WithStdout(w.Stdout).
		WithStderr(w.Stderr).
		WithRandSource(randomness(w.Seed, w.Rank)).
		WithStartFunctions()
	if w.Time != nil {
		t := &virtualTime{time: w.Time}
		return config.
			WithNanotime(t.nanotime, 1).
			WithWalltime(t.walltime, 1).
			WithNanosleep(t.sleep).
			WithOsyield(t.yield)
	}
	return config.
		WithSysNanotime().
		WithSysWalltime().
		WithNanosleep(w.sleep).
		WithOsyield(runtime.Gosched)
}

// errStopped unwinds a guest if Cause is not set.
var errStopped = errors.New("the run was given up")

// sleep is called by WASI on the guest's goroutine; a panic with an error is
// how a host function unwinds its guest.
func (w WASI) sleep(nanos int64) {
	timer := time.NewTimer(time.Duration(nanos))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.Stop:
		if w.Cause == nil {
			panic(errStopped)
		}
		panic(w.Cause())
	}
}

// randomness is a stream of random bytes of its own for each seed and rank.
func randomness(seed uint64, rank int) io.Reader {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(rank))
	return rand.NewChaCha8(sha256.Sum256(b[:]))
}
