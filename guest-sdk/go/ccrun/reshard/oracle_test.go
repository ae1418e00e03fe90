package reshard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

var allDtypes = []ccrun.Dtype{ccrun.U8, ccrun.I32, ccrun.I64, ccrun.F16, ccrun.BF16, ccrun.F32, ccrun.F64}

// oracle moves a tensor byte by byte in memories of its own, and knows who is
// to have what from lists of indices that it cuts up, one mesh dimension after
// the other. A byte of the tensor has its place in it as its value; parts of it
// are numbers that have it as their sum.
type oracle struct {
	t      *testing.T
	move   reshard.Move
	source map[int][]int64 // by rank
	target map[int][]int64 // unwritten until it is
}

const unwritten = -1

// indices are those along each dimension of the tensor that the rank at the
// given place of the mesh holds, and its coordinates in the partial dimensions.
func indices(l reshard.Layout, shape []int64, place int) (held [][]int64, part, parts int) {
	held = make([][]int64, len(shape))
	for d, n := range shape {
		for i := range n {
			held[d] = append(held[d], i)
		}
	}
	parts = 1
	at := place
	inner := len(l.Mesh.Ranks)
	for i, p := range l.Placements {
		inner /= l.Mesh.Dims[i]
		coordinate := at / inner
		at %= inner
		switch p.Kind {
		case reshard.Shard:
			list, k := held[p.Dim], l.Mesh.Dims[i]
			each := (len(list) + k - 1) / k
			held[p.Dim] = list[min(coordinate*each, len(list)):min((coordinate+1)*each, len(list))]
		case reshard.Partial:
			part, parts = part*l.Mesh.Dims[i]+coordinate, parts*l.Mesh.Dims[i]
		}
	}
	return held, part, parts
}

// bytesHeld are the places in the tensor of the bytes that a rank holds, in the
// order in which they lie there.
func bytesHeld(held [][]int64, shape []int64, elementBytes int64) []int64 {
	places := []int64{0}
	for d, n := range shape {
		var next []int64
		for _, p := range places {
			for _, i := range held[d] {
				next = append(next, p*n+i)
			}
		}
		places = next
	}
	var bytes []int64
	for _, p := range places {
		for b := range elementBytes {
			bytes = append(bytes, p*elementBytes+b)
		}
	}
	return bytes
}

// partValue is a part of what has the given value.
func partValue(value int64, part, parts int) int64 {
	other := func(p int) int64 { return (value+7)*int64(p*p+3)%101 - 50 }
	if part > 0 {
		return other(part)
	}
	left := value
	for p := 1; p < parts; p++ {
		left -= other(p)
	}
	return left
}

func newOracle(t *testing.T, m reshard.Move) *oracle {
	o := &oracle{t: t, move: m, source: make(map[int][]int64), target: make(map[int][]int64)}
	for place, rank := range m.Source.Mesh.Ranks {
		held, part, parts := indices(m.Source, m.Tensor.Shape, place)
		o.source[rank] = bytesHeld(held, m.Tensor.Shape, m.Tensor.Dtype.Bytes())
		for i, b := range o.source[rank] {
			o.source[rank][i] = partValue(b, part, parts)
		}
	}
	for place, rank := range m.Target.Mesh.Ranks {
		held, _, _ := indices(m.Target, m.Tensor.Shape, place)
		o.target[rank] = bytesHeld(held, m.Tensor.Shape, m.Tensor.Dtype.Bytes())
		for i := range o.target[rank] {
			o.target[rank][i] = unwritten
		}
	}
	return o
}

// each calls f with the places of the bytes of an entry's box, in order.
func each(e *reshard.Entry, at reshard.Place, f func(i int64)) {
	for plane := range e.Planes {
		for row := range e.Rows {
			for b := range e.RowBytes {
				f(at.Offset + plane*at.Plane + row*at.Row + b)
			}
		}
	}
}

// carry moves an entry.
func (o *oracle) carry(e *reshard.Entry) {
	o.t.Helper()
	sum := make([]int64, 0, e.Bytes())
	sources := e.Parts
	if sources == nil {
		sources = []int{e.Source}
	}
	for n, rank := range sources {
		k := 0
		each(e, e.From, func(i int64) {
			if n == 0 {
				sum = append(sum, 0)
			}
			sum[k] += o.source[rank][i] // panics outside of what the rank holds
			k++
		})
	}
	for _, rank := range e.Destinations {
		k := 0
		each(e, e.To, func(i int64) {
			if o.target[rank][i] != unwritten {
				o.t.Fatalf("byte %d of rank %d is written twice", i, rank)
			}
			o.target[rank][i] = sum[k]
			k++
		})
	}
}

// check compares what all ranks have with what they are to have.
func (o *oracle) check() {
	o.t.Helper()
	m := &o.move
	for place, rank := range m.Target.Mesh.Ranks {
		held, _, _ := indices(m.Target, m.Tensor.Shape, place)
		want := bytesHeld(held, m.Tensor.Shape, m.Tensor.Dtype.Bytes())
		if got := o.target[rank]; !slices.Equal(got, want) {
			o.t.Fatalf("rank %d has %v, want %v", rank, got, want)
		}
		if n := m.Tensor.Bytes(m.Target, rank); n != int64(len(want)) {
			o.t.Fatalf("rank %d holds %d bytes, Bytes says %d", rank, len(want), n)
		}
	}
}

// verify carries a plan out and checks all that it promises.
func verify(t *testing.T, p *reshard.Plan) {
	t.Helper()
	if len(p.Entries) != cap(p.Entries) {
		t.Fatalf("%d entries, and room for %d: they were not counted right before", len(p.Entries), cap(p.Entries))
	}
	oracles := make([]*oracle, len(p.Moves))
	for i, m := range p.Moves {
		oracles[i] = newOracle(t, m)
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if err := checkEntry(p, i); err != nil {
			t.Fatalf("%v: %s", err, p.Describe(i))
		}
		oracles[e.Tensor].carry(e)
	}
	for _, o := range oracles {
		o.check()
	}
}

// checkEntry checks what can be said of one entry, and of it and the one before.
func checkEntry(p *reshard.Plan, i int) error {
	e := &p.Entries[i]
	m := &p.Moves[e.Tensor]
	limit := max(p.Options.MaxEntryBytes, m.Tensor.Dtype.Bytes())
	switch {
	case e.Bytes() <= 0:
		return fmt.Errorf("empty")
	case p.Options.MaxEntryBytes > 0 && e.Bytes() > limit:
		return fmt.Errorf("more than %d bytes", limit)
	case e.Bytes()%m.Tensor.Dtype.Bytes() != 0:
		return fmt.Errorf("broken elements")
	case !ascending(e.Destinations) || len(e.Destinations) == 0:
		return fmt.Errorf("destinations do not ascend")
	case e.Parts != nil && (!ascending(e.Parts) || len(e.Parts) < 2 || !slices.Contains(e.Parts, e.Source)):
		return fmt.Errorf("bad parts")
	case e.Dtype != m.Tensor.Dtype || e.Transport != ccrun.Packed:
		return fmt.Errorf("wrong type or transport")
	}
	if err := checkRoute(p, e, m); err != nil {
		return err
	}
	if i == 0 {
		return nil
	}
	before := &p.Entries[i-1]
	if slices.Compare(order(before), order(e)) >= 0 {
		return fmt.Errorf("not after %s", p.Describe(i-1))
	}
	return nil
}

func order(e *reshard.Entry) []int {
	return []int{int(e.Tensor), int(e.Cell), e.Source, e.Destinations[0]}
}

func ascending(ranks []int) bool {
	for i := 1; i < len(ranks); i++ {
		if ranks[i-1] >= ranks[i] {
			return false
		}
	}
	return true
}

// checkRoute checks that a source is as near as can be, and how destinations
// are split.
func checkRoute(p *reshard.Plan, e *reshard.Entry, m *reshard.Move) error {
	node := func(rank int) int {
		if p.Options.RanksPerNode == 0 {
			return 0
		}
		return rank / p.Options.RanksPerNode
	}
	if e.Parts != nil {
		if slices.Contains(e.Destinations, e.Source) {
			return nil
		}
		for _, d := range e.Destinations {
			if slices.Contains(e.Parts, d) {
				return fmt.Errorf("destination %d has a part, and does not add up", d)
			}
		}
		return nil
	}
	if e.Kind() == reshard.Local {
		return nil
	}
	for _, d := range e.Destinations {
		if d == e.Source {
			return fmt.Errorf("sent to its source")
		}
		for place, rank := range m.Source.Mesh.Ranks {
			if node(rank) != node(d) || node(e.Source) == node(d) && rank != d || !holds(m, e, place) {
				continue
			}
			return fmt.Errorf("rank %d has it, too", rank)
		}
	}
	switch last := e.Destinations[len(e.Destinations)-1]; {
	case p.Options.Split == reshard.PerRank && len(e.Destinations) > 1:
		return fmt.Errorf("not split by rank")
	case p.Options.Split == reshard.PerNode && node(last) != node(e.Destinations[0]):
		return fmt.Errorf("not split by node")
	}
	return nil
}

// holds reports whether the rank at a place of the source mesh has the first
// byte of an entry.
func holds(m *reshard.Move, e *reshard.Entry, place int) bool {
	first := slices.Index(m.Source.Mesh.Ranks, e.Source)
	held, _, _ := indices(m.Source, m.Tensor.Shape, first)
	want := bytesHeld(held, m.Tensor.Shape, m.Tensor.Dtype.Bytes())[e.From.Offset]
	held, _, _ = indices(m.Source, m.Tensor.Shape, place)
	return slices.Contains(bytesHeld(held, m.Tensor.Shape, m.Tensor.Dtype.Bytes()), want)
}

// randomMesh has at most 60 ranks among the first 80.
func randomMesh(r *rand.Rand) reshard.Mesh {
	dims := []int{1 + r.IntN(6), 1 + r.IntN(5), 1 + r.IntN(2)}
	r.Shuffle(len(dims), func(i, j int) { dims[i], dims[j] = dims[j], dims[i] })
	m := reshard.NewMesh(r.IntN(20), dims[:1+r.IntN(3)]...)
	if r.IntN(4) == 0 {
		r.Shuffle(len(m.Ranks), func(i, j int) { m.Ranks[i], m.Ranks[j] = m.Ranks[j], m.Ranks[i] })
	}
	return m
}

func randomLayout(r *rand.Rand, dims int, partial bool) reshard.Layout {
	l := reshard.Layout{Mesh: randomMesh(r)}
	for range l.Mesh.Dims {
		p := reshard.Placement{}
		switch {
		case dims > 0 && r.IntN(3) > 0:
			p = reshard.Placement{Kind: reshard.Shard, Dim: r.IntN(dims)}
		case partial && r.IntN(3) == 0:
			p = reshard.Placement{Kind: reshard.Partial, Red: ccrun.Sum}
		}
		l.Placements = append(l.Placements, p)
	}
	return l
}

// randomMove has a tensor of at most a few hundred elements in up to five
// dimensions, seldom none.
func randomMove(r *rand.Rand, name string) reshard.Move {
	t := reshard.Tensor{Name: name, Dtype: allDtypes[r.IntN(len(allDtypes))]}
	left := 200
	for range r.IntN(6) {
		n := r.IntN(min(left, 17) + 1)
		if n == 0 && r.IntN(8) > 0 {
			n = 1
		}
		left /= max(n, 1)
		t.Shape = append(t.Shape, int64(n))
	}
	r.Shuffle(len(t.Shape), func(i, j int) { t.Shape[i], t.Shape[j] = t.Shape[j], t.Shape[i] })
	return reshard.Move{Tensor: t, Source: randomLayout(r, len(t.Shape), true), Target: randomLayout(r, len(t.Shape), false)}
}

func randomCase(seed uint64) ([]reshard.Move, reshard.Options) {
	r := rand.New(rand.NewPCG(seed, 6))
	var moves []reshard.Move
	for i := range 1 + r.IntN(3) {
		moves = append(moves, randomMove(r, fmt.Sprint("t", i)))
		if r.IntN(3) == 0 {
			moves = append(moves, moves[i/2]) // a pattern twice
		}
	}
	options := reshard.Options{Split: reshard.Split(r.IntN(3))}
	if r.IntN(2) == 0 {
		options.RanksPerNode = 1 + r.IntN(9)
	}
	if r.IntN(2) == 0 {
		options.MaxEntryBytes = int64(1 + r.IntN(64))
	}
	return moves, options
}

func mustPlan(t testing.TB, moves []reshard.Move, o reshard.Options) *reshard.Plan {
	t.Helper()
	p, err := reshard.New(moves, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRandomMoves carries out plans of meshes up to 6x5x2, byte by byte.
func TestRandomMoves(t *testing.T) {
	seen := [4]int{}
	for seed := range uint64(2000) {
		moves, options := randomCase(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := mustPlan(t, moves, options)
			verify(t, p)
			for kind, n := range p.Summary().Entries {
				seen[kind] += n
			}
		})
	}
	for kind, n := range seen {
		if n < 2000 {
			t.Errorf("only %d entries are %s: the cases do not test much", n, reshard.Kind(kind))
		}
	}
	t.Logf("entries by kind: %v", seen)
}
