package oplog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// sample is what one rank of a world asked of its device.
type sample struct {
	rank    int
	program *Program
}

// UnfitError says that ranks do not all do the same, in numbers that depend on
// the rank as a shared program's may.
type UnfitError struct {
	Line int // from 1
	Text string
}

// Error names the line.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("the ranks are not alike in line %d: %s", e.Line, e.Text)
}

// roundsMax is how often [fit] is called at most: halving finds any rank in
// fewer steps.
const roundsMax = 40

// smallWorld is how many ranks are all sampled.
const smallWorld = 9

// nodeRanks is how many ranks a node has in all presets.
const nodeRanks = 8

// residues are the ranks of two nodes, so that nodes that take turns are seen.
const residues = 2 * nodeRanks

// heldWorld is how many ranks are all looked at, if only to hold them against
// what others were fitted to.
const heldWorld = 24

// sampleRanks are the ranks of a world that a program is fitted to, and those
// that it is held against afterwards: what a guest does on some ranks only, it
// mostly does on the first node or on the same ranks of each node.
func sampleRanks(ranks int) (fitted, held []int) {
	if ranks <= smallWorld {
		for rank := range ranks {
			fitted = append(fitted, rank)
		}
		return fitted, nil
	}
	fitted = []int{0, 1, 2, ranks / 2, ranks - 1}
	hold := func(rank int) {
		if !slices.Contains(fitted, rank) && !slices.Contains(held, rank) {
			held = append(held, rank)
		}
	}
	if ranks <= heldWorld {
		for rank := range ranks {
			hold(rank)
		}
		return fitted, held
	}
	for rank := range nodeRanks {
		hold(rank)
	}
	for residue := range residues {
		if residue != ranks/2%residues && residue != (ranks-1)%residues {
			hold(spread(residue, ranks))
		}
	}
	return fitted, held
}

// spread gives a rank of a residue. Each has a stretch of the world of its own,
// so that the same rank of two nodes lies in both halves, and the places within
// the stretches differ, so that nodes that recur are not always missed.
func spread(residue, ranks int) int {
	blocks := ranks / residues
	return residue + residues*((residues*residue+5*residue%residues)*blocks/(residues*residues))
}

// refitsMax is how many ranks that a program is held against may turn out to do
// something else, and are then among those that it is fitted to.
const refitsMax = 4

var errEndless = errors.New("its numbers follow no rule that a few more ranks would show")

// Expand finds the program that all ranks of a world share, from what sketch
// says that a few of them ask of their devices. It tells how many of them it
// looked at. Its errors are [*UnfitError], where ranks are not alike, and those of
// sketch.
func Expand(ranks int, sketch func(rank int) (*Program, error)) (p *Program, looked int, err error) {
	e := &expansion{ranks: ranks, sketch: sketch, looked: make(map[int]bool)}
	wanted, held := sampleRanks(ranks)
	refits := 0
	for range roundsMax {
		if err := e.add(wanted); err != nil {
			return nil, 0, err
		}
		if p, wanted, err = fit(ranks, e.samples); err != nil {
			return nil, 0, err
		}
		if p == nil {
			continue
		}
		unlike, err := e.check(p, held)
		if err == nil {
			return p, len(e.looked), nil
		}
		var unfit *UnfitError
		if refits++; refits > refitsMax || !errors.As(err, &unfit) {
			return nil, 0, err
		}
		wanted = []int{unlike}
	}
	return nil, 0, &UnfitError{1, errEndless.Error()}
}

// expansion is what is known of a world.
type expansion struct {
	ranks   int
	sketch  func(rank int) (*Program, error)
	looked  map[int]bool // ranks that were asked
	samples []sample     // that programs are fitted to
}

// ask gives what a rank does. What is only held against a program is not kept:
// programs are large.
func (e *expansion) ask(rank int) (*Program, error) {
	e.looked[rank] = true
	return e.sketch(rank)
}

// add takes ranks to those that programs are fitted to.
func (e *expansion) add(wanted []int) error {
	for _, rank := range wanted {
		if e.sampled(rank) {
			continue
		}
		p, err := e.ask(rank)
		if err != nil {
			return err
		}
		e.samples = append(e.samples, sample{rank, p})
	}
	slices.SortFunc(e.samples, func(a, b sample) int { return cmp.Compare(a.rank, b.rank) })
	return nil
}

func (e *expansion) sampled(rank int) bool {
	return slices.ContainsFunc(e.samples, func(s sample) bool { return s.rank == rank })
}

// check holds a program against ranks that had no part in it, and says which of
// them does something else.
func (e *expansion) check(p *Program, held []int) (unlike int, err error) {
	for _, rank := range held {
		if e.sampled(rank) {
			continue
		}
		own, err := e.ask(rank)
		if err == nil {
			err = hold(p, e.ranks, sample{rank, own})
		}
		if err != nil {
			return rank, err
		}
	}
	return 0, nil
}

// hold checks that a shared program is what a rank did that it was not fitted
// to. Seeds of patterns may differ.
func hold(p *Program, ranks int, s sample) error {
	f := &fitter{ranks: ranks, samples: []sample{{s.rank, p}}}
	if err := f.checkShape(s); err != nil {
		return err
	}
	var scratch []int64
	for i := range p.lines {
		l, own := &p.lines[i], &s.program.lines[i]
		args, at := p.argsOf(l, s.rank, ranks, &scratch), 0
		for n := range phrases[l.verb].parts {
			part := &phrases[l.verb].parts[n]
			for range part.size(args[at:]) {
				got, want := args[at], s.program.args[int(own.at)+at]
				at++
				switch {
				case part.kind == text || part.kind == export:
					if p.names[got] == s.program.names[want] {
						continue
					}
				case got == want, part.kind == value && (l.verb == verbFill || l.verb == verbVerify):
					continue
				}
				return &UnfitError{i + 1, fmt.Sprintf("%q on rank %d, where others have it do %q", s.program.Line(i, s.rank, ranks), s.rank, p.Line(i, s.rank, ranks))}
			}
		}
	}
	return nil
}
