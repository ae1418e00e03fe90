package oplog

import (
	"fmt"
	"slices"
)

// fit finds the program that all ranks of a world share, as far as the samples
// tell, which are of [sampleRanks] and in the order of their ranks. Where they
// leave it open what a number is for others, it asks for samples of further
// ranks, with which it is to be called again; there is no program until then.
// Its errors are [*UnfitError].
//
// The seeds of patterns may be anything: those that follow no rule are left
// out, since bytes do not matter in a shared program.
func fit(ranks int, samples []sample) (p *Program, wanted []int, err error) {
	f := &fitter{ranks: ranks, samples: samples, learned: make(map[family][]int64), forms: make(map[form]int64), searched: make(map[family]bool)}
	first := samples[0].program
	for _, s := range samples[1:] {
		if err := f.checkShape(s); err != nil {
			return nil, nil, err
		}
	}
	for f.sure = true; ; f.sure = false {
		f.unseen = f.unseen[:0]
		f.p = &Program{Ended: true, names: slices.Clone(first.names), high: first.high, writes: first.writes, args: make([]int64, 0, len(first.args))}
		for f.line = range first.lines {
			if err := f.fitLine(); err != nil {
				return nil, nil, err
			}
		}
		if !f.sure {
			break
		}
	}
	if len(f.wanted) == 0 {
		f.probe()
	}
	if len(f.wanted) > 0 {
		slices.Sort(f.wanted)
		return nil, f.wanted, nil
	}
	return f.p, nil, nil
}

// fitter fits line by line, in two rounds: the first learns from numbers whose
// form is sure.
type fitter struct {
	ranks   int
	samples []sample
	sure    bool // the round that learns
	line    int
	p       *Program
	values  []int64 // of one argument, by sample
	learned map[family][]int64
	forms   map[form]int64
	wanted  []int
	// Families for whose turn a rank is asked in this round.
	searched map[family]bool
	// Where numbers turn whose base was learned from others, line by line.
	unseen []int
}

// family are the numbers that probably count from the same base.
type family struct {
	verb           verb
	argument       int
	buffer         int64
	stride, remain int64
}

// checkShape checks that a rank makes the same calls as the first sample's.
func (f *fitter) checkShape(s sample) error {
	a, b := f.samples[0].program, s.program
	for i := range min(len(a.lines), len(b.lines)) {
		if x, y := &a.lines[i], &b.lines[i]; x.verb != y.verb || x.count != y.count {
			return f.unlike(i, s)
		}
	}
	if len(a.lines) != len(b.lines) {
		return &UnfitError{min(len(a.lines), len(b.lines)) + 1, fmt.Sprintf("rank %d makes %d calls, rank %d %d", f.samples[0].rank, len(a.lines), s.rank, len(b.lines))}
	}
	return nil
}

// unlike says that two ranks do something else.
func (f *fitter) unlike(line int, s sample) error {
	first := f.samples[0]
	return &UnfitError{line + 1, fmt.Sprintf("%q on rank %d, %q on rank %d",
		first.program.Line(line, first.rank, f.ranks), first.rank, s.program.Line(line, s.rank, f.ranks), s.rank)}
}

// at gives an argument of the line in a sample.
func (f *fitter) at(sample, argument int) int64 {
	p := f.samples[sample].program
	return p.args[int(p.lines[f.line].at)+argument]
}

// fitLine appends a line to the program.
func (f *fitter) fitLine() error {
	first := f.samples[0].program
	l := first.lines[f.line]
	l.at, l.varies = uint32(len(f.p.args)), 0
	for _, s := range f.samples[1:] {
		if function := s.program.names[s.program.lines[f.line].function]; function != first.names[l.function] {
			l.function = 0
		}
	}
	f.p.args = append(f.p.args, first.args[first.lines[f.line].at:][:l.count]...)
	argument, buffer := 0, int64(0)
	for i := range phrases[l.verb].parts {
		part := &phrases[l.verb].parts[i]
		n := part.size(f.p.args[int(l.at)+argument:])
		for k := range n {
			a := argument + k
			if part.kind.isBuffer(k) {
				buffer = f.at(0, a)
			}
			if err := f.fitArgument(&l, part, k, a, buffer); err != nil {
				return err
			}
		}
		argument += n
	}
	f.p.lines = append(f.p.lines, l)
	if l.varies>>63 != 0 {
		f.formRest(&l)
	}
	return nil
}

// isBuffer reports whether an argument of a part is a buffer's number.
func (k partKind) isBuffer(argument int) bool {
	switch k {
	case view, maybeView:
		return argument == 0
	case views:
		return argument%2 == 1
	}
	return false
}

// mayVary reports whether an argument of a part may depend on the rank.
func (k partKind) mayVary(argument int) bool {
	switch k {
	case view, maybeView:
		return argument == 1
	case views:
		return argument > 0 && argument%2 == 0
	case ranks, counts:
		return argument > 0
	case number, number32, number16, value, peer, term:
		return true
	}
	return false
}

// fitArgument finds out how an argument depends on the rank.
func (f *fitter) fitArgument(l *line, part *part, within, a int, buffer int64) error {
	first, same := f.at(0, a), true
	f.values = f.values[:0]
	for s := range f.samples {
		v := f.at(s, a)
		f.values = append(f.values, v)
		if part.kind == text || part.kind == export {
			same = same && f.samples[s].program.names[v] == f.samples[0].program.names[first]
			continue
		}
		same = same && v == first
	}
	if same {
		return nil
	}
	if part.kind.mayVary(within) {
		if g, ok := f.find(l.verb, a, buffer, part.kind.most(within, f.ranks)); ok {
			l.varies |= bit(a)
			f.p.args[int(l.at)+a] = f.index(g)
			return nil
		}
		if part.kind == value && (l.verb == verbFill || l.verb == verbVerify) {
			f.p.args[int(l.at)+a] = 0 // a seed: bytes do not matter
			return nil
		}
	}
	if f.sure {
		return nil
	}
	return f.unfit()
}

// unfit says which ranks' values of an argument follow no rule.
func (f *fitter) unfit() error {
	last := 1
	for s := range f.samples {
		if f.values[s] != f.values[0] {
			last = s
		}
	}
	return f.unlike(f.line, f.samples[last])
}

// index gives the index of a form.
func (f *fitter) index(g form) int64 {
	i, ok := f.forms[g]
	if !ok || i >= int64(len(f.p.forms)) || f.p.forms[i] != g {
		i = int64(len(f.p.forms))
		f.p.forms = append(f.p.forms, g)
		f.forms[g] = i
	}
	return i
}

// formRest makes forms of all arguments that one bit speaks for.
func (f *fitter) formRest(l *line) {
	rest := f.p.args[int(l.at):][:l.count]
	for a := 63; a < len(rest); a++ {
		same := true
		for s := range f.samples {
			same = same && f.at(s, a) == f.at(0, a)
		}
		if same {
			rest[a] = f.index(form{base: rest[a]})
		}
	}
}

// find finds the form of an argument whose values are in f.values.
func (f *fitter) find(v verb, a int, buffer int64, most uint64) (form, bool) {
	stride, ok := f.stride()
	if !ok {
		return form{}, false
	}
	remain := int64(uint64(f.values[0]) % magnitude(stride))
	in := family{v, a, buffer, stride, remain}
	if g, ok := f.seen(stride); ok { // the samples show where it turns
		fits := f.fits(g, most)
		if fits && !slices.Contains(f.learned[in], g.base) {
			f.learned[in] = append(f.learned[in], g.base)
		}
		return g, fits
	}
	if f.sure {
		return form{}, false // this round learns only
	}
	var fitting []form
	for _, base := range f.learned[in] {
		fitting = f.consider(fitting, base, stride, most)
	}
	learned := len(fitting) > 0
	if !learned { // count from the least that there can be
		least := remain
		if stride < 0 {
			least += -stride * int64(f.ranks-1)
		}
		fitting = f.consider(fitting, least, stride, most)
	}
	if len(fitting) == 0 {
		return f.search(in)
	}
	g := fitting[0]
	turn := f.ranks - int(g.shift)
	f.unseen = append(f.unseen, turn)
	switch {
	case len(fitting) > 1: // they differ between their turns
		f.want(f.ranks - int(max(g.shift, fitting[1].shift)))
	case !learned:
		f.want(turn - 1)
		f.want(turn)
	}
	return g, true
}

// How many turns that no sample has shown are looked at all the same, since a
// base that others have may be another number's only nearly: all if they are
// few, otherwise some, because a base that is wrong is so for many numbers.
const (
	probesMax = 16
	probes    = 8
)

// probe asks for samples at turns that were not seen, spread over the lines,
// until enough were looked at.
func (f *fitter) probe() {
	distinct := slices.Clone(f.unseen)
	slices.Sort(distinct)
	if distinct = slices.Compact(distinct); len(distinct) <= probesMax {
		for _, turn := range distinct {
			f.want(turn - 1)
			f.want(turn)
		}
		return
	}
	looked := -3 // of the samples that fit begins with
	for s := range f.samples {
		if _, ok := f.neighbours(s); ok {
			looked++
		}
	}
	for n := looked; n < probes; n++ {
		turn := f.unseen[(2*n+1)*len(f.unseen)/(2*probes)]
		f.want(turn - 1)
		f.want(turn)
	}
}

// search asks for a rank between the last that is known to be ahead of the turn
// and the first behind it, once for each family: others of it will follow.
func (f *fitter) search(in family) (form, bool) {
	ahead, behind := 0, f.ranks
	for s, v := range f.values {
		rank := f.samples[s].rank
		switch v - f.values[0] - in.stride*int64(rank) {
		case 0:
			ahead = max(ahead, rank)
		case -in.stride * int64(f.ranks):
			behind = min(behind, rank)
		default:
			return form{}, false
		}
	}
	if behind-ahead < 2 || behind == f.ranks {
		return form{}, false
	}
	if !f.searched[in] {
		f.searched[in] = true
		f.want((ahead + behind) / 2)
	}
	return form{base: f.values[0]}, true // until there is a better one
}

// consider adds the form that counts from a base, if it fits all samples. One
// that turns between the last rank and the first would have been seen.
func (f *fitter) consider(fitting []form, base, stride int64, most uint64) []form {
	away := f.values[0] - base
	if away%stride != 0 || away/stride <= 0 || away/stride >= int64(f.ranks) {
		return fitting
	}
	if g := (form{base, stride, int32(away / stride)}); f.fits(g, most) {
		fitting = append(fitting, g)
	}
	return fitting
}

func magnitude(stride int64) uint64 {
	if stride < 0 {
		return -uint64(stride)
	}
	return uint64(stride)
}

// neighbours reports whether sample s is of the rank behind that of the one
// before it; before the first comes the last.
func (f *fitter) neighbours(s int) (before int, ok bool) {
	before = (s + len(f.samples) - 1) % len(f.samples)
	return before, before != s && (f.samples[before].rank+1)%f.ranks == f.samples[s].rank
}

// stride finds by how much neighbouring ranks differ, other than where they
// turn. Two of three differences of neighbours are enough, and of two ranks the
// one that there is.
func (f *fitter) stride() (int64, bool) {
	var steps []int64
	for s := range f.samples {
		if before, ok := f.neighbours(s); ok {
			steps = append(steps, f.values[s]-f.values[before])
		}
	}
	switch {
	case f.ranks == 2:
		return f.values[1] - f.values[0], true
	case len(steps) < 3:
		return 0, false
	}
	slices.Sort(steps)
	// All but one of the steps are the stride, so that it lies in the middle.
	stride := steps[len(steps)/2]
	return stride, stride != 0
}

// seen finds the form whose turn two neighbouring samples show.
func (f *fitter) seen(stride int64) (form, bool) {
	for s := range f.samples {
		if before, ok := f.neighbours(s); ok && f.values[s]-f.values[before] == -stride*int64(f.ranks-1) {
			shift := (f.ranks - f.samples[s].rank) % f.ranks
			return form{f.values[s], stride, int32(shift)}, true
		}
	}
	return form{}, false
}

// fits reports whether a form gives all values, and ones that a line may have.
func (f *fitter) fits(g form, most uint64) bool {
	for s := range f.samples {
		if g.at(f.samples[s].rank, f.ranks) != f.values[s] {
			return false
		}
	}
	return g.within(f.ranks, most)
}

// wantedMax bounds how many further samples are asked for at a time.
const wantedMax = 16

// want asks for a sample.
func (f *fitter) want(rank int) {
	if len(f.wanted) < wantedMax && !slices.Contains(f.wanted, rank) {
		f.wanted = append(f.wanted, rank)
	}
}
