package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ccrun/ccrun/host/device/sim/preset"
)

//go:embed smpi/ring.c
var ringSource []byte

// The names of SMPI in the tables.
const (
	smpiBest    = "smpi tuned"
	smpiDefault = "smpi default"
)

// smpi is the ring as an MPI program that SimGrid's SMPI simulates.
type smpi struct {
	options
	program, platform, hosts string
}

func buildSMPI(ctx context.Context, o options, dir string) (*smpi, error) {
	s := &smpi{o, filepath.Join(dir, "ring"), filepath.Join(dir, "platform.xml"), filepath.Join(dir, "hosts")}
	p, err := preset.Find(machine)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "ring.c")
	for path, content := range map[string][]byte{source: ringSource, s.platform: platformXML(p, o.ranks/nodeRanks), s.hosts: hostfile(o.ranks)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	_, _, err = timed(ctx, "smpicc", "-O2", "-o", s.program, source)
	return s, err
}

// smpiBestWhat says what [bestFlags] change.
const smpiBestWhat = "SMPI tuned to be fast, with a plainer network model; simulated time differs, see the column"

// bestFlags make SMPI fastest: no copy of the program's (empty) global data for
// each rank, no timing of its own computing, its fastest contexts with small
// stacks, sends that wait for their receiver, and the plain network model: the
// default one corrects for TCP on Ethernet, and has acknowledgements take
// bandwidth. So it simulates other times than with its defaults.
func bestFlags() []string {
	return []string{
		"-no-privatize", "--cfg=smpi/simulate-computation:no", "--cfg=contexts/factory:raw", "--cfg=contexts/stack-size:64",
		"--cfg=contexts/guard-size:0", "--cfg=smpi/send-is-detached-thresh:0", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
	}
}

// simulate runs the ring once.
func (s *smpi) simulate(ctx context.Context, flags []string) (measured, error) {
	argv := []string{"smpirun", "-np", strconv.Itoa(s.ranks), "-platform", s.platform, "-hostfile", s.hosts, "--log=root.thresh:error"}
	argv = append(append(argv, flags...), s.program, strconv.FormatInt(int64(s.bytes), 10))
	text, m, err := timed(ctx, argv...)
	if err == nil {
		err = m.readRing(text, s.ranks)
	}
	return m, err
}

// readRing reads the line that the program prints.
func (m *measured) readRing(text []byte, ranks int) error {
	var line struct {
		Ranks     int     `json:"ranks"`
		Steps     int     `json:"steps"`
		Simulated float64 `json:"simulated_s"`
	}
	if err := json.Unmarshal(text, &line); err != nil || line.Ranks != ranks || line.Steps != 2*(ranks-1) || line.Simulated <= 0 {
		return fmt.Errorf("smpi: not the result of a ring of %d ranks: %.300q", ranks, text)
	}
	m.simulated = seconds(line.Simulated)
	return nil
}
