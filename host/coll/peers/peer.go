package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

//go:embed mpi/collectives.c
var mpiCollectives []byte

//go:embed gloo/collectives.cc
var glooCollectives []byte

// sweep is what a peer is asked for in one go: a collective, with sizes of the
// whole array and how often each is repeated.
type sweep struct {
	collective string
	ranks      int
	warmup     int // calls of each size before those that count
	sizes      []sized
}

type sized struct {
	bytes      int64
	iterations int
}

func (s sized) String() string { return fmt.Sprintf("%dx%d", s.bytes, s.iterations) }

// args are the arguments that all programs of peers end with.
func (s sweep) args() []string {
	return append([]string{s.collective, strconv.Itoa(s.warmup)}, s.words()...)
}

func (s sweep) words() []string {
	words := make([]string, len(s.sizes))
	for i, size := range s.sizes {
		words[i] = size.String()
	}
	return words
}

// nanosOf is the time of a call by its size.
type nanosOf map[int64]float64

// peer is one implementation of collectives, ready to run.
type peer struct {
	name    string
	run     func(ctx context.Context, s sweep) (nanosOf, error)
	unfit   func(ranks int) string
	missing error // why it cannot take part
}

// buildPeers builds all of them in dir, and what they are measured by.
func buildPeers(ctx context.Context, dir string) []peer {
	return []peer{memory(plainCopy, dir, asMuch), memory(memoryBound, dir, boundBytes), openMPI(ctx, dir), boundOpenMPI(ctx, dir), mpich(ctx, dir), gloo(ctx, dir), ourselves(ctx, dir)}
}

// crowded reports whether ranks outnumber processors.
func crowded(ranks int) bool { return ranks > runtime.NumCPU() }

func always(int) string { return "" }

// openMPI is run with its defaults, but told to yield where ranks outnumber
// processors.
func openMPI(ctx context.Context, dir string) peer { return openMPIWith(ctx, dir, "Open MPI") }

// boundOpenMPI keeps each rank on a processor, which Open MPI's default does for
// two ranks only and not where ranks outnumber processors. It is the faster way
// for some sizes and the slower one for others.
func boundOpenMPI(ctx context.Context, dir string) peer {
	p := openMPIWith(ctx, dir, "Open MPI, bound", "--bind-to", "core:overload-allowed", "--map-by", "core")
	p.unfit = func(ranks int) string {
		if ranks <= 2 && !crowded(ranks) {
			return "its default is the same"
		}
		return ""
	}
	return p
}

func openMPIWith(ctx context.Context, dir, name string, settings ...string) peer {
	program, err := compile(ctx, dir, "openmpi.c", mpiCollectives, orElse("mpicc.openmpi", "mpicc"), "-O3", "-march=native")
	run := func(ctx context.Context, s sweep) (nanosOf, error) {
		args := append([]string{"-n", strconv.Itoa(s.ranks)}, settings...)
		if crowded(s.ranks) {
			args = append(args, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
		}
		if os.Getuid() == 0 {
			args = append(args, "--allow-run-as-root")
		}
		args = append(append(args, program), s.args()...)
		return measuredBy(exec.CommandContext(ctx, orElse("mpirun.openmpi", "mpirun"), args...))
	}
	return peer{name, run, always, err}
}

// mpich never yields, so that ranks which outnumber processors take turns of
// milliseconds: that is no way to use it.
func mpich(ctx context.Context, dir string) peer {
	program, err := compile(ctx, dir, "mpich.c", mpiCollectives, "mpicc.mpich", "-O3", "-march=native")
	run := func(ctx context.Context, s sweep) (nanosOf, error) {
		args := append([]string{"-n", strconv.Itoa(s.ranks), "-bind-to", "core", program}, s.args()...)
		return measuredBy(exec.CommandContext(ctx, "mpirun.mpich", args...))
	}
	unfit := func(ranks int) string {
		if crowded(ranks) {
			return "it does not yield"
		}
		return ""
	}
	return peer{"MPICH", run, unfit, err}
}

// gloo's ranks are started here; they meet in a directory.
func gloo(ctx context.Context, dir string) peer {
	program, err := compile(ctx, dir, "gloo.cc", glooCollectives, "c++", "-std=c++14", "-O3", "-march=native", "-lgloo")
	run := func(ctx context.Context, s sweep) (nanosOf, error) {
		meeting, err := os.MkdirTemp(dir, "gloo-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(meeting)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var others sync.WaitGroup
		defer others.Wait()
		defer stop() // before waiting: those that rank 0 has left behind wait for it
		for rank := 1; rank < s.ranks; rank++ {
			other := exec.CommandContext(ctx, program, glooArgs(s, rank, meeting)...)
			if err := other.Start(); err != nil {
				return nil, err
			}
			others.Go(func() { _ = other.Wait() }) // rank 0 fails if it does
		}
		return measuredBy(exec.CommandContext(ctx, program, glooArgs(s, 0, meeting)...))
	}
	return peer{"Gloo", run, always, err}
}

func glooArgs(s sweep, rank int, meeting string) []string {
	return append([]string{strconv.Itoa(rank), strconv.Itoa(s.ranks), meeting}, s.args()...)
}

// ourselves is the command that users run, from the working tree.
func ourselves(ctx context.Context, dir string) peer {
	command, report := filepath.Join(dir, "ccrun"), filepath.Join(dir, "report.json")
	_, err := output(exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/ccrun"))
	run := func(ctx context.Context, s sweep) (nanosOf, error) {
		if err := os.Remove(report); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		_, err := output(exec.CommandContext(ctx, command, "bench", s.collective, "-g", strconv.Itoa(s.ranks),
			"--sizes", strings.Join(s.words(), ","), "-w", strconv.Itoa(s.warmup), "-J", report))
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(report)
		if err != nil {
			return nil, err
		}
		return parseReport(text, s.collective == "broadcast")
	}
	return peer{ourName, run, always, err}
}

// ourName is ccrun's in the table.
const ourName = "ccrun"

// parseReport reads what ccrun bench writes with -J. MPI's broadcast is in
// place, so ours must be.
func parseReport(text []byte, inPlace bool) (nanosOf, error) {
	type placement struct {
		Micros float64  `json:"time"`
		Wrong  *float64 `json:"nwrong"` // null if nothing was checked
	}
	var report struct {
		Results []struct {
			Size       int64     `json:"size"`
			OutOfPlace placement `json:"out_of_place"`
			InPlace    placement `json:"in_place"`
		} `json:"results"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	measured := nanosOf{}
	for _, r := range report.Results {
		p := r.OutOfPlace
		if inPlace {
			p = r.InPlace
		}
		switch {
		case p.Micros <= 0:
			return nil, fmt.Errorf("report: %d bytes take %v microseconds", r.Size, p.Micros)
		case p.Wrong == nil:
			return nil, fmt.Errorf("report: %d bytes were not checked", r.Size)
		case *p.Wrong != 0:
			return nil, fmt.Errorf("report: %v elements of %d bytes are wrong", *p.Wrong, r.Size)
		}
		measured[r.Size] = p.Micros * 1e3
	}
	return measured, nil
}

// orElse is the first of two programs if it is there.
func orElse(program, otherwise string) string {
	if _, err := exec.LookPath(program); err != nil {
		return otherwise
	}
	return program
}

// compile writes and compiles a program, and gives its path.
func compile(ctx context.Context, dir, name string, text []byte, compiler string, flags ...string) (string, error) {
	if _, err := exec.LookPath(compiler); err != nil {
		return "", err
	}
	source := filepath.Join(dir, name)
	program := strings.TrimSuffix(source, filepath.Ext(source))
	if err := os.WriteFile(source, text, 0o600); err != nil {
		return "", err
	}
	_, err := output(exec.CommandContext(ctx, compiler, append([]string{"-o", program, source}, flags...)...))
	return program, err
}

// measuredBy runs a command that prints a measurement a line.
func measuredBy(c *exec.Cmd) (nanosOf, error) {
	text, err := output(c)
	if err != nil {
		return nil, err
	}
	return parseNanos(text)
}

func parseNanos(text []byte) (nanosOf, error) {
	measured := nanosOf{}
	for line := range strings.Lines(string(text)) {
		var m struct {
			Bytes int64   `json:"bytes"`
			Nanos float64 `json:"mean_ns"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Nanos <= 0 {
			return nil, fmt.Errorf("not a measurement: %q", line)
		}
		measured[m.Bytes] = m.Nanos
	}
	return measured, nil
}
