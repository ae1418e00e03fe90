// Badpipelines does with bucket pipelines what must be refused, says how the
// host refuses it, and checks the errno. With the argument freed it takes buffers
// away that entries lie in, which fails: streams are stuck then. With another,
// one rank plans something else than the others, and the guest says whether
// anything has moved in spite of it: what that may be are the keys of
// differences.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:], os.Stdout)
	}
	if errors.Is(err, errFreed) {
		os.Exit(exitFreed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// exitFreed is the exit code of runs that have failed as they must.
const exitFreed = 3

var errFreed = errors.New("runs have failed")

func run(world *ccrun.World, args []string, out io.Writer) error {
	k, err := newKit(world, out)
	if err != nil {
		return err
	}
	parts := []func() error{k.create, k.add, k.build, k.order, k.steps, k.underWay, k.afterwards}
	if len(args) > 0 && args[0] == "freed" {
		parts = []func() error{k.freed}
	} else if len(args) > 0 {
		return k.differ(args[0])
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return fmt.Errorf("rank %d: %w", world.Rank(), err)
		}
	}
	if k.wrong > 0 {
		return fmt.Errorf("rank %d: %d answers are wrong", world.Rank(), k.wrong)
	}
	return nil
}

// kit is what the parts share.
type kit struct {
	world   *ccrun.World
	out     io.Writer
	streams []*ccrun.Stream
	spare   *ccrun.Stream
	buffer  *ccrun.Buffer // of 4096 bytes
	gone    *ccrun.Buffer // which is freed
	wrong   int
}

func newKit(world *ccrun.World, out io.Writer) (*kit, error) {
	k := &kit{world: world, out: out}
	var err error
	if k.buffer, err = world.Alloc(4096); err != nil {
		return nil, err
	}
	if k.gone, err = world.Alloc(4096); err != nil {
		return nil, err
	}
	for range 3 {
		s, err := world.NewStream()
		if err != nil {
			return nil, err
		}
		k.streams = append(k.streams, s)
	}
	k.streams, k.spare = k.streams[:2], k.streams[2]
	return k, k.gone.Free()
}

// refused checks that err is of the condition; rank 0 says what it is.
func (k *kit) refused(what string, err error, want error) {
	switch {
	case !errors.Is(err, want):
		k.wrong++
		fmt.Fprintf(k.out, "rank %d: %s: got %v, want %v\n", k.world.Rank(), what, err, want)
	case k.world.Rank() == 0:
		fmt.Fprintf(k.out, "%s: %v\n", what, err)
	}
}

// entry is a run of 64 bytes from rank 0 to rank 1, behind those before it.
func (k *kit) entry(number int) ccrun.PipelineEntry {
	at := ccrun.Place{Buffer: k.buffer, Offset: int64(number) * 64}
	return ccrun.PipelineEntry{
		Source: 0, Destinations: []int{1}, Tensor: number, Planes: 1, Rows: 1, RowBytes: 64,
		Src: at, Dst: ccrun.Place{Buffer: k.buffer, Offset: at.Offset + 2048},
	}
}

// made is a pipeline of entries that is built, if there are any.
func (k *kit) made(o ccrun.PipelineOptions, entries ...ccrun.PipelineEntry) (*ccrun.Pipeline, error) {
	p, err := k.world.NewPipeline(o)
	if err != nil || len(entries) == 0 {
		return p, err
	}
	if err := p.Add(entries...); err != nil {
		return nil, err
	}
	_, err = p.Build()
	return p, err
}

// agreed is one that is built, and that all ranks have agreed on.
func (k *kit) agreed(o ccrun.PipelineOptions, entries ...ccrun.PipelineEntry) (*ccrun.Pipeline, error) {
	p, err := k.made(o, entries...)
	if err != nil {
		return nil, err
	}
	return p, p.Agree(ccrun.Forever)
}
