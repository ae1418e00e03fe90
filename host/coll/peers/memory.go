package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/kernels"
)

// memoryCommand is the first argument of a process that copies.
const memoryCommand = "__memory"

// What is measured beside the peers: as many processes as ranks, pinned as
// ccrun's are, copy at once, each from and to memory of its own.
const (
	// plainCopy is a copy of as much as the array.
	plainCopy = "copy"
	// memoryBound is a copy of so much that all processes together load and
	// store as many bytes as ccrun's algorithm does of inputs and outputs: no
	// implementation of that algorithm can be faster.
	memoryBound = "bound"
)

// memory measures copies with processes that this program starts from itself.
// A size of the sweep is copied as the number of bytes that bytesOf gives.
func memory(name, dir string, bytesOf func(s sweep, bytes int64) (int64, error)) peer {
	self, err := os.Executable()
	run := func(ctx context.Context, s sweep) (nanosOf, error) {
		meeting, err := os.MkdirTemp(dir, "memory-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(meeting)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		copied := s
		copied.collective, copied.sizes = "copy", nil
		for _, size := range s.sizes {
			bytes, err := bytesOf(s, size.bytes)
			if err != nil {
				return nil, err
			}
			copied.sizes = append(copied.sizes, sized{bytes, size.iterations})
		}
		commands := ranksOfSelf(ctx, self, s.ranks, func(rank int) []string {
			return append([]string{memoryCommand, strconv.Itoa(rank), strconv.Itoa(s.ranks), meeting}, copied.args()...)
		})
		if err := startPinned(commands); err != nil {
			return nil, err
		}
		all, err := collect[[]copies](commands, stop)
		if err != nil {
			return nil, err
		}
		return fasterCopies(s, all), nil
	}
	return peer{name, run, always, err}
}

func asMuch(_ sweep, bytes int64) (int64, error) { return bytes, nil }

// copies is how long a copy takes, in two ways.
type copies struct {
	Plain    float64 `json:"plain_ns"`
	Streamed float64 `json:"streamed_ns"` // with stores past the caches
}

// fasterCopies is the time of each size of a sweep: the mean over the
// processes, by the way that is faster.
func fasterCopies(s sweep, all [][]copies) nanosOf {
	measured := nanosOf{}
	for i, size := range s.sizes {
		var plain, streamed float64
		for _, process := range all {
			plain += process[i].Plain / float64(len(all))
			streamed += process[i].Streamed / float64(len(all))
		}
		measured[size.bytes] = min(plain, streamed)
	}
	return measured
}

// runMemory is the whole life of a process that copies.
func runMemory(args []string, out io.Writer) error {
	if len(args) < 6 {
		return fmt.Errorf("%s: want RANK SIZE DIRECTORY copy WARMUP BYTESxITERATIONS...", memoryCommand)
	}
	rank, err := strconv.Atoi(args[0])
	size, e := strconv.Atoi(args[1])
	warmup, e2 := strconv.Atoi(args[4])
	if err = errors.Join(err, e, e2); err != nil {
		return fmt.Errorf("%s: %w", memoryCommand, err)
	}
	// Only its barrier is used.
	d, err := cpu.Open(device.Config{Rank: rank, Size: size, Exchange: fileExchange{args[2]}, OpTimeout: rankTimeout})
	if err != nil {
		return err
	}
	defer d.Close()
	var measured []copies
	for _, word := range args[5:] {
		var s sized
		if _, err := fmt.Sscanf(word, "%dx%d", &s.bytes, &s.iterations); err != nil || s.bytes < 1 || s.iterations < 1 {
			return fmt.Errorf("%s %s: want BYTESxITERATIONS", memoryCommand, word)
		}
		c, err := measureCopies(d, s, warmup)
		if err != nil {
			return err
		}
		measured = append(measured, c)
	}
	return json.NewEncoder(out).Encode(measured)
}

// measureCopies copies in both ways, at once with the other processes.
func measureCopies(d device.Device, s sized, warmup int) (c copies, err error) {
	src, err := hugePages(s.bytes)
	if err != nil {
		return c, err
	}
	defer unix.Munmap(src)
	dst, err := hugePages(s.bytes)
	if err != nil {
		return c, err
	}
	defer unix.Munmap(dst)
	src, dst = src[:s.bytes], dst[:s.bytes]
	isa := kernels.Detect()
	if c.Plain, err = timeCopy(d, kernels.Set{ISA: isa, StreamBytes: math.MaxInt64}, dst, src, warmup, s.iterations); err != nil {
		return c, err
	}
	c.Streamed, err = timeCopy(d, kernels.Set{ISA: isa, StreamBytes: 1}, dst, src, warmup, s.iterations)
	return c, err
}

// timeCopy is the mean time of so many copies, after some that do not count.
func timeCopy(d device.Device, set kernels.Set, dst, src []byte, warmup, iterations int) (nanos float64, err error) {
	for range warmup {
		set.Copy(dst, src, 0)
	}
	if err := d.Barrier(rankTimeout); err != nil {
		return 0, err
	}
	start := time.Now()
	for range iterations {
		set.Copy(dst, src, 0)
	}
	nanos = float64(time.Since(start)) / float64(iterations)
	return nanos, d.Barrier(rankTimeout)
}

// hugePages maps memory that holds so many bytes, in huge pages where the
// kernel has some, and touches all of it.
func hugePages(bytes int64) ([]byte, error) {
	const page = 2 << 20
	mem, err := unix.Mmap(-1, 0, int((bytes+page-1)/page*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", bytes, err)
	}
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // without, the copy is a little slower
	for i := range mem {
		mem[i] = byte(i)
	}
	return mem, nil
}
