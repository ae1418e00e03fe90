package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// native is the ring in Go, in processes that this program starts from itself.
type native struct {
	options
	self string
	dir  string
	runs int
}

func newNative(o options, dir string) (*native, error) {
	self, err := os.Executable()
	return &native{options: o, self: self, dir: dir}, err
}

func (n *native) put(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	return n.gather(ctx, "put", size)
}

func (n *native) get(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	return n.gather(ctx, "get", size)
}

func (n *native) gather(ctx context.Context, protocol string, size ccrun.ByteSize) (nanosBy, error) {
	nanos, err := n.run(ctx, rankConfig{
		size: n.ranks, protocol: protocol, chunkBytes: int64(size), sliceBytes: int64(n.slice),
		iters: n.iterations(size), warmup: n.warmup(size),
	})
	return nanosBy{"native " + protocol: nanos}, err
}

// run starts the ranks that c describes and gives the median time of their
// iterations.
func (n *native) run(ctx context.Context, c rankConfig) (nanos float64, err error) {
	n.runs++
	c.dir = filepath.Join(n.dir, "native-"+strconv.Itoa(n.runs))
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(c.dir)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	commands := ranksOfSelf(ctx, n.self, c.size, func(rank int) []string {
		c.rank = rank
		return append([]string{rankCommand}, c.args()...)
	})
	if err := startPinned(commands); err != nil {
		return 0, err
	}
	times, err := collect[rankTimes](commands, stop)
	if err != nil {
		return 0, err
	}
	return medianCCT(times), nil
}

// ranksOfSelf prepares processes of this program with what ccrun's ranks have.
func ranksOfSelf(ctx context.Context, self string, size int, args func(rank int) []string) []*exec.Cmd {
	commands := make([]*exec.Cmd, size)
	for rank := range commands {
		c := exec.CommandContext(ctx, self, args(rank)...)
		c.Env = append(os.Environ(), "GOMAXPROCS=2")
		c.Stdout, c.Stderr = new(bytes.Buffer), new(bytes.Buffer)
		commands[rank] = c
	}
	return commands
}

// startPinned starts rank i on processor i, as ccrun's launcher does. A child
// inherits the affinity of the thread that starts it.
func startPinned(commands []*exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	defer unix.SchedSetaffinity(0, &all)
	var processors []int
	for i := range 1024 {
		if all.IsSet(i) {
			processors = append(processors, i)
		}
	}
	for i, c := range commands {
		var one unix.CPUSet
		one.Set(processors[i%len(processors)])
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
	}
	return nil
}

// rankTimes is what a rank prints: when each counted iteration began and ended
// there, on the clock that all ranks share.
type rankTimes struct {
	Start []int64 `json:"start"`
	End   []int64 `json:"end"`
}

// collect waits for all ranks and gives what each has printed; stop ends the
// others when one fails.
func collect[T any](commands []*exec.Cmd, stop func()) ([]T, error) {
	printed, failed := make([]T, len(commands)), make(chan error, len(commands))
	for rank, c := range commands {
		go func() {
			err := c.Wait()
			if err == nil {
				err = json.Unmarshal(c.Stdout.(*bytes.Buffer).Bytes(), &printed[rank])
			}
			if err != nil {
				err = fmt.Errorf("rank %d: %w\n%s", rank, err, c.Stderr)
				stop()
			}
			failed <- err
		}()
	}
	var errs []error
	for range commands {
		errs = append(errs, <-failed)
	}
	return printed, errors.Join(errs...)
}

// medianCCT is the median over the iterations of the time from the first
// rank's start to the last rank's end.
func medianCCT(times []rankTimes) float64 {
	var ccts []float64
	for i := range times[0].Start {
		start, end := times[0].Start[i], times[0].End[i]
		for _, rank := range times[1:] {
			start, end = min(start, rank.Start[i]), max(end, rank.End[i])
		}
		ccts = append(ccts, float64(end-start))
	}
	return median(ccts)
}
