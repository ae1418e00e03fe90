package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

// The machine that is simulated: nodes of a preset.
const (
	machine   = "h100"
	nodeRanks = 8
)

// guest is the ring as a Wasm guest, run by the command that users run.
type guest struct {
	options
	command string
	module  string
	log     string // of its operations
}

// buildGuest builds both from the working tree, and records the operations.
func buildGuest(ctx context.Context, o options, dir string) (*guest, error) {
	g := &guest{o, filepath.Join(dir, "ccrun"), filepath.Join(dir, "ring.wasm"), filepath.Join(dir, "ring.oplog")}
	if _, _, err := timed(ctx, "go", "build", "-o", g.command, "./cmd/ccrun"); err != nil {
		return nil, err
	}
	if err := tck.Build(ctx, filepath.Join("workflows", "ring_allreduce_c"), g.module, os.Environ()); err != nil {
		return nil, err
	}
	// The first run translates the module, later ones find it in the cache.
	if _, err := g.simulate(ctx, nodeRanks, "get", 0); err != nil {
		return nil, err
	}
	_, _, err := timed(ctx, append([]string{g.command, "record", "--expand", "-q", "-n", strconv.Itoa(o.ranks), "-o", g.log, g.module}, g.arguments("get", 0)...)...)
	return g, err
}

// arguments are the workflow's: one all-reduce, in whole chunks.
func (g *guest) arguments(protocol string, group int) []string {
	return []string{
		"-protocol", protocol, "-bytes", strconv.FormatInt(int64(g.bytes)/4*4, 10), "-slice", "0", "-group", strconv.Itoa(group),
		"-iters", "1", "-warmup", "0", "-verify", "off",
	}
}

// device is as many nodes as the ranks fill.
func device(ranks int) string { return fmt.Sprintf("sim:%sx%d", machine, ranks/nodeRanks) }

// simulate runs live guests. Recording collectives adds a record a rank.
func (g *guest) simulate(ctx context.Context, ranks int, protocol string, group int) (measured, error) {
	argv := append([]string{g.command, "--json", "--device", device(ranks), "--trace", "collective", g.module}, g.arguments(protocol, group)...)
	text, m, err := timed(ctx, argv...)
	if err == nil {
		err = m.read(text, ranks)
	}
	return m, err
}

// replay carries out what was recorded.
func (g *guest) replay(ctx context.Context) (measured, error) {
	text, m, err := timed(ctx, g.command, "replay", "--json", "--device", device(g.ranks), "--trace", "collective", g.log)
	if err == nil {
		err = m.read(text, g.ranks)
	}
	return m, err
}

// read takes the figures out of a run's result.
func (m *measured) read(text []byte, ranks int) error {
	var result struct {
		Ranks       int `json:"ranks"`
		Collectives []struct {
			Op    string `json:"op"`
			Count int    `json:"count"`
			CCT   struct {
				Max float64 `json:"max"`
			} `json:"cct_s"`
		} `json:"collectives"`
		Simulation struct {
			Operations int64 `json:"operations"`
			Events     int64 `json:"events"`
		} `json:"simulation"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return fmt.Errorf("result: %w", err)
	}
	s := result.Simulation
	if result.Ranks != ranks || len(result.Collectives) != 1 || result.Collectives[0].Op != "all_reduce" || result.Collectives[0].Count != 1 || s.Operations == 0 {
		return fmt.Errorf("result is not of one simulated all-reduce of %d ranks: %.300s", ranks, text)
	}
	m.simulated = seconds(result.Collectives[0].CCT.Max)
	m.operations, m.events = s.Operations, s.Events
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
