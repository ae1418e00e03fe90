package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/flight"
)

// rankCommand is the first argument of a process that is a native rank.
const rankCommand = "__rank"

// rankConfig is what a native rank is told.
type rankConfig struct {
	rank, size             int
	dir                    string
	protocol               string
	chunkBytes, sliceBytes int64
	iters, warmup          int
}

// args is c as arguments.
func (c rankConfig) args() []string {
	return []string{
		strconv.Itoa(c.rank), strconv.Itoa(c.size), c.dir, c.protocol,
		strconv.FormatInt(c.chunkBytes, 10), strconv.FormatInt(c.sliceBytes, 10), strconv.Itoa(c.iters), strconv.Itoa(c.warmup),
	}
}

// parseRank is the inverse of args.
func parseRank(args []string) (rankConfig, error) {
	if len(args) != 8 {
		return rankConfig{}, fmt.Errorf("%s: want 8 arguments", rankCommand)
	}
	var numbers [8]int
	for _, i := range []int{0, 1, 4, 5, 6, 7} {
		n, err := strconv.Atoi(args[i])
		if err != nil {
			return rankConfig{}, fmt.Errorf("%s: %w", rankCommand, err)
		}
		numbers[i] = n
	}
	return rankConfig{
		rank: numbers[0], size: numbers[1], dir: args[2], protocol: args[3],
		chunkBytes: int64(numbers[4]), sliceBytes: int64(numbers[5]), iters: numbers[6], warmup: numbers[7],
	}, nil
}

// runRank is the whole life of a native rank.
func runRank(args []string, out io.Writer) error {
	c, err := parseRank(args)
	if err != nil {
		return err
	}
	path := filepath.Join(c.dir, fmt.Sprintf("rank-%04d.flight", c.rank))
	recorder, err := flight.Create(path, flight.Meta{Rank: c.rank, Size: c.size}, 1<<22)
	if err != nil {
		return err
	}
	defer recorder.Close()
	exchange := fileExchange{c.dir}
	d, err := cpu.Open(device.Config{Rank: c.rank, Size: c.size, Exchange: exchange, Recorder: recorder, OpTimeout: rankTimeout})
	if err != nil {
		return err
	}
	defer d.Close()
	r := &ring{rankConfig: c, place: ccrun.NewRing(c.rank, c.size), device: d, recorder: recorder}
	if err := r.open(exchange); err != nil {
		return err
	}
	run := r.gatherAll
	if c.protocol == pingpong {
		run = r.pingpong
	}
	times, err := run()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(times)
}
