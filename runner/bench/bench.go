// Package bench is what `ccrun bench` measures and how it tells of it: begin
// with [Find], which knows the collectives, and [Options.Rows], the rows of the
// table. [Options.Guest] is the Wasm module that measures them, assembled here so that
// no toolchain is needed; [Results] reads what it prints; [Table] and [Report]
// write results as nccl-tests does.
//
// It starts nothing and reads no clock: cmd/ccrun runs the guest.
package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// Collective is what a benchmark is about.
type Collective struct {
	Op      op.CollectiveOp
	Name    string   // of the test, without nccl-tests' "_perf"
	aliases []string // what else users call it
	counts  counts
	rooted  bool
	reduces bool
	inPlace inPlace
}

// inPlace says what comes of a collective whose input lies where its output
// goes.
type inPlace int

const (
	sound     inPlace = iota
	unchecked         // it is measured, but what was received may have been sent on
	missing           // it cannot be called so
)

// counts says what the number of elements of a call is taken from.
type counts int

const (
	wholeVector  counts = iota // all of them
	alignedShare               // one rank's share, cut to 16 bytes
	evenShare                  // one rank's share
)

// collectives are in the order of the help text.
var collectives = []Collective{
	{Op: op.AllReduce, Name: "all_reduce", aliases: []string{"allreduce"}, reduces: true},
	{Op: op.AllGather, Name: "all_gather", aliases: []string{"allgather"}, counts: alignedShare},
	{Op: op.ReduceScatter, Name: "reduce_scatter", aliases: []string{"reducescatter"}, counts: alignedShare, reduces: true},
	{Op: op.Broadcast, Name: "broadcast", aliases: []string{"bcast"}, rooted: true},
	{Op: op.ReduceTo, Name: "reduce", rooted: true, reduces: true},
	{Op: op.Gather, Name: "gather", counts: evenShare, rooted: true},
	{Op: op.Scatter, Name: "scatter", counts: evenShare, rooted: true},
	{Op: op.AllToAll, Name: "alltoall", aliases: []string{"all_to_all"}, counts: alignedShare},
	{Op: op.AllToAllV, Name: "alltoallv", aliases: []string{"all_to_all_v"}, counts: alignedShare, inPlace: missing},
	{Op: op.SendRecv, Name: "sendrecv", aliases: []string{"send_recv"}, inPlace: unchecked},
}

// Find is the collective of a name, spelt as ccrun, nccl-tests or its programs
// do: all_to_all, alltoall, alltoall_perf.
func Find(name string) (Collective, error) {
	name = strings.TrimSuffix(name, "_perf")
	for _, c := range collectives {
		if c.Name == name || slices.Contains(c.aliases, name) {
			return c, nil
		}
	}
	return Collective{}, fmt.Errorf("unknown collective %q", name)
}

// Names lists the collectives for a help text.
func Names() []string {
	names := make([]string, len(collectives))
	for i, c := range collectives {
		names[i] = c.Name
	}
	return names
}

// count is how many elements a call has whose arrays should have a number of
// bytes: of the whole vector, or of one rank's share.
func (c Collective) count(bytes int64, ranks, elementBytes int) int64 {
	elements := bytes / int64(elementBytes)
	switch c.counts {
	case alignedShare:
		return elements / int64(ranks) &^ int64(max(wholeBytes/elementBytes, 1)-1)
	case evenShare:
		return elements / int64(ranks)
	default:
		return elements
	}
}

// algorithms finds the collective's algorithms; sendrecv is none of package
// coll's.
func (c Collective) algorithms() []coll.Variant {
	row := coll.Of(c.Op)
	if row == nil {
		return nil
	}
	return row.Algorithms
}

// shares is by what the count of a call is multiplied to get that of the whole
// array.
func (c Collective) shares(ranks int) int64 {
	if c.counts == wholeVector {
		return 1
	}
	return int64(ranks)
}
