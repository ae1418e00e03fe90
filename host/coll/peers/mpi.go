package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

//go:embed mpi/peer.c
var peerSource []byte

// mpi is Open MPI with its default settings.
type mpi struct {
	options
	program string
}

// buildMPI compiles the program of the MPI side.
func buildMPI(ctx context.Context, o options, dir string) (*mpi, error) {
	source, program := filepath.Join(dir, "peer.c"), filepath.Join(dir, "peer")
	if err := os.WriteFile(source, peerSource, 0o600); err != nil {
		return nil, err
	}
	if _, err := output(exec.CommandContext(ctx, "mpicc", "-O2", "-o", program, source)); err != nil {
		return nil, fmt.Errorf("%w (apt install openmpi-bin libopenmpi-dev)", err)
	}
	return &mpi{o, program}, nil
}

// gather measures MPI_Allgather, in place and not, and a plain copy.
func (m *mpi) gather(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	return m.run(ctx, m.ranks, "gather", int64(size), m.iterations(size), m.warmup(size))
}

func (m *mpi) run(ctx context.Context, ranks int, what string, bytes int64, iterations, warmup int) (nanosBy, error) {
	args := []string{"-n", strconv.Itoa(ranks)}
	if ranks > runtime.NumCPU() {
		args = append(args, "--oversubscribe")
	}
	if os.Getuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	args = append(args, m.program, what, strconv.FormatInt(bytes, 10), strconv.Itoa(iterations), strconv.Itoa(warmup))
	text, err := output(exec.CommandContext(ctx, "mpirun", args...))
	if err != nil {
		return nil, err
	}
	return parseMPI(text)
}

// parseMPI reads what the program prints: a measurement a line.
func parseMPI(text []byte) (nanosBy, error) {
	measured := nanosBy{}
	for line := range strings.Lines(string(text)) {
		var m struct {
			What  string  `json:"what"`
			Nanos float64 `json:"p50_ns"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.What == "" || m.Nanos <= 0 {
			return nil, fmt.Errorf("not a measurement: %q", line)
		}
		measured[m.What] = m.Nanos
	}
	return measured, nil
}

// output runs a command to its end. Its error holds what the command said.
func output(c *exec.Cmd) ([]byte, error) {
	var complaint strings.Builder
	c.Stderr = &complaint
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, complaint.String())
	}
	return text, nil
}
