package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// guest is the ring as a Wasm guest, run by the command that users run.
type guest struct {
	options
	command string
	module  string // workflows/ring_allgather
	ball    string // guest-sdk/tck/cases/pingpong
}

// buildGuest builds both from the working tree.
func buildGuest(ctx context.Context, o options, dir string) (*guest, error) {
	g := &guest{o, filepath.Join(dir, "ccrun"), filepath.Join(dir, "ring_allgather.wasm"), filepath.Join(dir, "pingpong.wasm")}
	if _, err := output(exec.CommandContext(ctx, "go", "build", "-o", g.command, "./cmd/ccrun")); err != nil {
		return nil, err
	}
	if err := buildWasm(ctx, g.module, "./workflows/ring_allgather"); err != nil {
		return nil, err
	}
	return g, buildWasm(ctx, g.ball, "./guest-sdk/tck/cases/pingpong")
}

func buildWasm(ctx context.Context, path, pkg string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	_, err := output(c)
	return err
}

func (g *guest) put(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	return g.run(ctx, "put", size)
}

func (g *guest) get(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	return g.run(ctx, "get", size)
}

func (g *guest) run(ctx context.Context, protocol string, size ccrun.ByteSize) (nanosBy, error) {
	text, err := output(exec.CommandContext(ctx, g.command, "-n", strconv.Itoa(g.ranks), "--json", "--trace", "slice", g.module,
		"-protocol", protocol, "-bytes", strconv.FormatInt(int64(size), 10), "-slice", strconv.FormatInt(int64(g.slice), 10),
		"-iters", strconv.Itoa(g.iterations(size)), "-warmup", strconv.Itoa(g.warmup(size)), "-verify", "last"))
	if err != nil {
		return nil, err
	}
	nanos, err := parseResult(text, g.iterations(size))
	return nanosBy{"ccrun " + protocol: nanos}, err
}

// parseResult takes the median CCT out of a run's result.
func parseResult(text []byte, iterations int) (nanos float64, err error) {
	var result struct {
		Verified    *bool `json:"verified"`
		Collectives []struct {
			Op    string `json:"op"`
			Count int    `json:"count"`
			CCT   struct {
				P50 float64 `json:"p50"`
			} `json:"cct_s"`
		} `json:"collectives"`
		Records struct {
			Dropped int64 `json:"dropped"`
		} `json:"records"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return 0, fmt.Errorf("result: %w", err)
	}
	if result.Verified == nil || !*result.Verified || result.Records.Dropped != 0 {
		return 0, fmt.Errorf("result is not verified or lacks records: %s", text)
	}
	for _, c := range result.Collectives {
		if c.Op == "all_gather" && c.Count == iterations {
			return c.CCT.P50 * 1e9, nil
		}
	}
	return 0, fmt.Errorf("result has no %d all-gathers: %s", iterations, text)
}
