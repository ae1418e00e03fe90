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

// sampleRanks are the ranks of a world that a program is fitted to, and those
// that it is held against afterwards.
func sampleRanks(ranks int) (fitted, held []int) {
	if ranks <= smallWorld {
		for rank := range ranks {
			fitted = append(fitted, rank)
		}
		return fitted, nil
	}
	return []int{0, 1, 2, ranks / 2, ranks - 1}, []int{ranks / 3, 2*ranks/3 + 1}
}

// refitsMax is how many ranks that a program is held against may turn out to do
// something else, and are then among those that it is fitted to.
const refitsMax = 4

var errEndless = errors.New("its numbers follow no rule that a few more ranks would show")

// Expand finds the program that all ranks of a world share, from what sketch
// says that a few of them ask of their devices. It tells how many it asked, each
// once. Its errors are [*UnfitError], where ranks are not alike, and those of
// sketch.
func Expand(ranks int, sketch func(rank int) (*Program, error)) (p *Program, asked int, err error) {
	e := &expansion{ranks: ranks, sketch: sketch, programs: make(map[int]*Program)}
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
			return p, len(e.programs), nil
		}
		var unfit *UnfitError
		if refits++; refits > refitsMax || !errors.As(err, &unfit) {
			return nil, 0, err
		}
		wanted = []int{held[unlike]}
		if !e.replace(held, unlike) {
			return nil, 0, err
		}
	}
	return nil, 0, &UnfitError{1, errEndless.Error()}
}

// expansion is what is known of a world.
type expansion struct {
	ranks    int
	sketch   func(rank int) (*Program, error)
	programs map[int]*Program // of ranks that were asked
	samples  []sample         // that programs are fitted to
}

// ask gives what a rank does.
func (e *expansion) ask(rank int) (*Program, error) {
	if p, ok := e.programs[rank]; ok {
		return p, nil
	}
	p, err := e.sketch(rank)
	if err == nil {
		e.programs[rank] = p
	}
	return p, err
}

// add takes ranks to those that programs are fitted to.
func (e *expansion) add(wanted []int) error {
	for _, rank := range wanted {
		p, err := e.ask(rank)
		if err != nil {
			return err
		}
		if !e.sampled(rank) {
			e.samples = append(e.samples, sample{rank, p})
		}
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
	for i := range held {
		if e.sampled(held[i]) && !e.replace(held, i) {
			continue
		}
		own, err := e.ask(held[i])
		if err == nil {
			err = hold(p, e.ranks, sample{held[i], own})
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

// replace finds another rank to hold programs against.
func (e *expansion) replace(held []int, i int) bool {
	for n := 1; n < e.ranks; n++ {
		rank := (held[i] + n*(e.ranks/5+1)) % e.ranks
		if !e.sampled(rank) && !slices.Contains(held, rank) {
			held[i] = rank
			return true
		}
	}
	return false
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
