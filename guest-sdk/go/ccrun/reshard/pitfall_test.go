package reshard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

func layout(t testing.TB, text string) reshard.Layout {
	t.Helper()
	l, err := reshard.ParseLayout(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tensor(t testing.TB, text string) reshard.Tensor {
	t.Helper()
	tensor, err := reshard.ParseTensor(text)
	if err != nil {
		t.Fatal(err)
	}
	return tensor
}

func move(t testing.TB, shape, source, target string) []reshard.Move {
	t.Helper()
	return reshard.Moves(layout(t, source), layout(t, target), []reshard.Tensor{tensor(t, shape)})
}

// TestNonDivisibleDimension: a planner that divides 1000 rows by lcm(3, 4) and
// drops the remainder loses the last four.
func TestNonDivisibleDimension(t *testing.T) {
	for _, c := range []struct{ source, target string }{
		{"3:S0", "4:S0"}, {"4:S0", "3:S0"}, {"3:S0", "4@3:S0"}, {"3x4:S0,S0", "5:S0"}, {"7:S0", "1@7:R"}, {"3:S0", "4:S1"},
	} {
		t.Run(c.source+" to "+c.target, func(t *testing.T) {
			p := mustPlan(t, move(t, "1000x3:u8", c.source, c.target), reshard.Options{})
			verify(t, p)
			if s := p.Summary(); s.Cut != 3000 {
				t.Errorf("the cells have %d bytes, want all 3000", s.Cut)
			}
		})
	}
	p := mustPlan(t, move(t, "1000:u8", "3:S0", "4:S0"), reshard.Options{})
	var rows []int64
	for i := range p.Entries {
		rows = append(rows, p.Entries[i].Bytes())
	}
	// Shards end at 334, 668 and at 250, 500, 750.
	if want := []int64{250, 84, 166, 168, 82, 250}; !slices.Equal(rows, want) {
		t.Errorf("cells of %d rows, want %d", rows, want)
	}
}

// TestMoreRanksThanElements: shards that are empty move nothing, and hide
// nothing.
func TestMoreRanksThanElements(t *testing.T) {
	for _, c := range []struct{ shape, source, target string }{
		{"5:f32", "4:S0", "6:S0"}, // 2 2 1 0 to 1 1 1 1 1 0
		{"3x2:f32", "8:S0", "2x3:S1,S0"},
		{"1:f32", "6x5x2:S0,S0,S0", "5:R"},
		{"0x4:f32", "2:S0", "2:S1"},
		{":f32", "2:R", "3@1:R"},
		{":f32", "2x2:P(sum),R", "3@1:R"},
	} {
		p := mustPlan(t, move(t, c.shape, c.source, c.target), reshard.Options{})
		verify(t, p)
	}
}

// TestRoutesOf128RanksInThreeDimensions: routes in single-precision numbers
// round from 2^24 on, so that they name wrong ranks.
func TestRoutesOf128RanksInThreeDimensions(t *testing.T) {
	const columns = 3
	for _, ranks := range []int{64, 128, 256, 1000} {
		shape := fmt.Sprintf("2x2x%d:u8", columns*ranks)
		p := mustPlan(t, move(t, shape, fmt.Sprintf("%d:S2", ranks), fmt.Sprintf("%d@%d:S2", ranks, ranks)), reshard.Options{})
		if len(p.Entries) != ranks {
			t.Fatalf("%d entries for %d ranks, want one each", len(p.Entries), ranks)
		}
		for i := range p.Entries {
			if e := &p.Entries[i]; e.Source != i || !slices.Equal(e.Destinations, []int{ranks + i}) {
				t.Errorf("of %d ranks: %s: want rank %d -> %d", ranks, p.Describe(i), i, ranks+i)
			}
		}
	}
	for _, target := range []string{"128@128:S2", "128@64:S2", "2x8x8@128:S0,S1,S2", "2x2x32@100:S1,S0,S2", "1@128:R"} {
		verify(t, mustPlan(t, move(t, "2x8x1000:u8", "128:S2", target), reshard.Options{}))
		verify(t, mustPlan(t, move(t, "2x8x1000:u8", "2x4x16:S0,S1,S2", target), reshard.Options{}))
	}
}

func TestPartialTargetRefused(t *testing.T) {
	for _, target := range []string{"4:P(sum)", "2x2:S0,P(max)", "1:P(sum)"} {
		_, err := reshard.New(move(t, "4x4:f32", "4:S0", target), reshard.Options{})
		if err == nil || !strings.Contains(err.Error(), "is partial; a target holds whole values, so use R or S there") {
			t.Errorf("target %s: %v", target, err)
		}
	}
}

// TestPartsAreAddedOnce: several partial dimensions are one sum of all their
// ranks, and copies of a sum are not parts of it.
func TestPartsAreAddedOnce(t *testing.T) {
	for _, c := range []struct {
		source, target string
		parts          []int
	}{
		{"2x3:P(sum),P(sum)", "6:R", []int{0, 1, 2, 3, 4, 5}},
		{"2x3:P(sum),R", "1@0:R", []int{0, 3}},
		{"2x3:R,P(sum)", "1@4:R", []int{3, 4, 5}},
		{"2x2x2:P(sum),R,P(sum)", "1@2:R", []int{2, 3, 6, 7}},
		{"2x2:P(sum),P(sum)", "2@8:R", []int{0, 1, 2, 3}},
	} {
		p := mustPlan(t, move(t, "3:f32", c.source, c.target), reshard.Options{})
		verify(t, p)
		if len(p.Entries) != 1 || !slices.Equal(p.Entries[0].Parts, c.parts) {
			t.Errorf("%s to %s: parts of %d entries %v, want %v", c.source, c.target, len(p.Entries), p.Entries[0].Parts, c.parts)
		}
	}
}

// TestLoadIsSpread: what many have, or add up, is not one's to send.
func TestLoadIsSpread(t *testing.T) {
	for _, c := range []struct {
		source, target string
		options        reshard.Options
		senders        int
	}{
		{"8:R", "8@8:S0", reshard.Options{}, 8},
		{"8:R", "8@8:R", reshard.Options{Split: reshard.PerRank}, 8},
		{"8:R", "8@8:R", reshard.Options{MaxEntryBytes: 64}, 8},
		{"4x2:R,S0", "8@8:S1", reshard.Options{}, 8},
		{"2x4:S0,R", "8@8:S1", reshard.Options{}, 8},
		{"8:P(sum)", "8:R", reshard.Options{MaxEntryBytes: 64}, 8},
		{"8:P(sum)", "8@8:S0", reshard.Options{}, 8},
		{"2x4:P(sum),R", "8@8:S0", reshard.Options{}, 8},
	} {
		p := mustPlan(t, move(t, "64x64:f32", c.source, c.target), c.options)
		verify(t, p)
		sent := make(map[int]int64)
		for i := range p.Entries {
			sent[p.Entries[i].Source] += p.Entries[i].Bytes()
		}
		for rank := range c.senders {
			if want := p.Summary().Bytes; sent[rank] != (want[1]+want[2]+want[3])/int64(c.senders) {
				t.Errorf("%s to %s: rank %d is the source of %d bytes of %v", c.source, c.target, rank, sent[rank], want)
			}
		}
	}
}

// TestNearSources: within a node if a rank there has it, and from elsewhere
// once for all nodes that have not, once for each, or once for each rank.
func TestNearSources(t *testing.T) {
	moves := move(t, "64:f32", "2@0,4:R", "10@2:R") // nodes 0 1 2 3, 4 5 6 7, 8 9 10 11
	for _, c := range []struct {
		split reshard.Split
		want  string
	}{
		{reshard.Whole, "0->[2 3] 0->[8 9 10 11] 4->[4] 4->[5 6 7]"},
		{reshard.PerNode, "0->[2 3] 0->[8 9 10 11] 4->[4] 4->[5 6 7]"},
		{reshard.PerRank, "0->[2] 0->[3] 0->[8] 0->[9] 0->[11] 4->[4] 4->[5] 4->[6] 4->[7] 4->[10]"},
	} {
		p := mustPlan(t, moves, reshard.Options{RanksPerNode: 4, Split: c.split})
		verify(t, p)
		var got []string
		for i := range p.Entries {
			e := &p.Entries[i]
			got = append(got, fmt.Sprintf("%d->%v", e.Source, e.Destinations))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("split %d: %s, want %s", c.split, strings.Join(got, " "), c.want)
		}
	}
}

// TestWhoAddsUp: a destination, else who is on its node, else who has had least
// to do, which adding up what stays is, too.
func TestWhoAddsUp(t *testing.T) {
	var moves []reshard.Move
	for _, m := range []struct{ source, target string }{
		{"3@1,4,8:P(sum)", "2@3,4:R"}, {"3@1,4,8:P(sum)", "1@5:R"}, {"3@1,4,8:P(sum)", "1@1:R"}, {"3@1,4,8:P(sum)", "1@12:R"}, {"2@1,2:P(sum)", "1@12:R"},
	} {
		moves = append(moves, move(t, "1:f32", m.source, m.target)...)
	}
	p := mustPlan(t, moves, reshard.Options{RanksPerNode: 4})
	verify(t, p)
	var adders []int
	for i := range p.Entries {
		adders = append(adders, p.Entries[i].Source)
	}
	if want := []int{4, 4, 1, 8, 2}; !slices.Equal(adders, want) {
		t.Errorf("ranks %v add up, want %v", adders, want)
	}
}

// TestPatternsAreToldApart: what a plan knows of a tensor it does not take for
// one that differs in one thing only.
func TestPatternsAreToldApart(t *testing.T) {
	alone := move(t, "4x4:f32", "2x2:S0,P(sum)", "2x2:S0,R")
	var all []reshard.Move
	for _, m := range []struct{ shape, source, target string }{
		{"4x4:f32", "2x2:S0,P(sum)", "2x2:S0,R"},
		{"4x4:f64", "2x2:S0,P(sum)", "2x2:S0,R"},
		{"4x6:f32", "2x2:S0,P(sum)", "2x2:S0,R"},
		{"4x4x1:f32", "2x2:S0,P(sum)", "2x2:S0,R"},
		{"4x4:f32", "2x2:S1,P(sum)", "2x2:S0,R"},
		{"4x4:f32", "2x2:S0,R", "2x2:S0,R"},
		{"4x4:f32", "2x2@1:S0,P(sum)", "2x2:S0,R"},
		{"4x4:f32", "2x2@3,2,1,0:S0,P(sum)", "2x2:S0,R"},
		{"4x4:f32", "1x4:S0,P(sum)", "2x2:S0,R"},
		{"4x4:f32", "2x2:S0,P(sum)", "2x2:R,S0"},
		{"4x4:f32", "2x2:S0,P(sum)", "4:S0"},
		{"4x4:f32", "2x2:S0,P(max)", "2x2:S0,R"},
	} {
		all = append(all, alone[0])
		all = append(all, move(t, m.shape, m.source, m.target)...)
	}
	last := len(all) - 1
	all[last].Source.Placements[1].Red = ccrun.Sum // the oracle knows sums only
	verify(t, mustPlan(t, all, reshard.Options{}))
	all[last].Source.Placements[1].Red = ccrun.Max
	p := mustPlan(t, all, reshard.Options{})
	if e := &p.Entries[len(p.Entries)-1]; e.Red != ccrun.Max || p.Entries[0].Red != ccrun.Sum {
		t.Errorf("reduction %d of the last entry, %d of the first", e.Red, p.Entries[0].Red)
	}
}

func TestRefusals(t *testing.T) {
	good := move(t, "4x4:f32", "4:S0", "4:R")[0]
	for _, c := range []struct {
		change  func(m *reshard.Move, o *reshard.Options)
		message string
	}{
		{func(m *reshard.Move, _ *reshard.Options) { m.Source = layout(t, "4:S2") }, "source layout 4:S2 shards dimension 2 of a tensor that has 2"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Target.Placements = nil }, "0 placements for 1 mesh dimensions"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Target.Mesh = reshard.Mesh{} }, "it has 0 dimensions; a mesh has 1 to 3"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Target.Mesh = reshard.NewMesh(0, 0) }, "dimensions are 1 or more"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Target.Mesh = reshard.NewMesh(-1, 4) }, "rank -1 is not from 0"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Source.Mesh.Ranks = []int{0, 1, 2, 1} }, "rank 1 is in it twice"},
		{func(m *reshard.Move, _ *reshard.Options) {
			m.Source.Mesh = reshard.NewMesh(0, 2, 2)
			m.Source.Placements = reshard.Placements{{Kind: reshard.Partial}, {Kind: reshard.Partial, Red: ccrun.Max}}
		}, "partial by P(sum) and by P(max) at a time"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Source = layout(t, "4:P(avg)") }, "source layout 4:P(avg): parts are added one after the other, which makes no average"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Source.Placements = reshard.Placements{{Kind: 7}} }, "unknown placement 7"},
		{func(m *reshard.Move, _ *reshard.Options) {
			m.Source.Placements = reshard.Placements{{Kind: reshard.Partial, Red: 9}}
		}, "unknown placement"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Tensor.Dtype = 99 }, "unknown element type 99"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Tensor.Shape = []int64{-1, 2} }, "negative dimension"},
		{func(m *reshard.Move, _ *reshard.Options) { m.Tensor.Shape = []int64{1 << 40, 1 << 40} }, "more than 2^63-1 bytes"},
		{func(m *reshard.Move, o *reshard.Options) {
			m.Tensor.Shape, o.MaxEntryBytes = []int64{1 << 40, 1 << 20}, 1
		}, "too many entries"},
		{func(_ *reshard.Move, o *reshard.Options) { o.MaxEntryBytes = -1 }, "MaxEntryBytes is -1"},
		{func(_ *reshard.Move, o *reshard.Options) { o.RanksPerNode = -1 }, "RanksPerNode is -1"},
		{func(_ *reshard.Move, o *reshard.Options) { o.Split = 3 }, "unknown split 3"},
	} {
		m, o := good, reshard.Options{}
		m.Source.Mesh.Ranks = slices.Clone(good.Source.Mesh.Ranks)
		c.change(&m, &o)
		if _, err := reshard.New([]reshard.Move{good, m}, o); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("got %v, want %s", err, c.message)
		}
	}
	big := move(t, "1048576:u8", "1:R", "1@1:R")[0]
	if _, err := reshard.New(slices.Repeat([]reshard.Move{big}, 3), reshard.Options{MaxEntryBytes: 1}); err == nil || !strings.Contains(err.Error(), "more than 2097152 entries up to tensor 2 (1048576:u8); raise MaxEntryBytes") {
		t.Errorf("too many entries in all: %v", err)
	}
}

// TestSumsHoldWhatIsPlanned: whatever New takes, counts of bytes do not wrap.
func TestSumsHoldWhatIsPlanned(t *testing.T) {
	const shape = "576460752303423488:u8" // 2^59 bytes
	p := mustPlan(t, slices.Repeat(move(t, shape, "1:R", "1@1:R"), 4), reshard.Options{})
	if s := p.Summary(); s.Wire != 1<<61 || s.Cut != 1<<61 {
		t.Errorf("%+v", s)
	}
	_, err := reshard.New(slices.Repeat(move(t, shape, "1:R", "2@1:R"), 4), reshard.Options{})
	if want := "more than 2^62 bytes up to tensor 2 (" + shape + "), on all ranks that have it or get it"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
