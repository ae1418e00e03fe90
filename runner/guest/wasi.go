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
}

// config grants real clocks, because a Go guest's timers need time to pass;
// that costs reproducibility of guests that look at WASI's clocks, and none of
// those that use ccrun's. Randomness comes from the seed, so that a run can be
// repeated.
func (w WASI) config(name string) wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithName(name).
		WithArgs(append([]string{name}, w.Args...)...).
		WithStdout(w.Stdout).
		WithStderr(w.Stderr).
		WithSysNanotime().
		WithSysWalltime().
		WithNanosleep(w.sleep).
		WithOsyield(runtime.Gosched).
		WithRandSource(randomness(w.Seed, w.Rank)).
		WithStartFunctions()
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
