package reshard_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// pair is a directed pair of ranks.
type pair struct{ from, to int }

// byteMap is what goes over each pair of ranks, in order: places of bytes in
// their tensors. The sender finds it in the shards that it has, the receiver in
// those that it is to get.
func byteMap(p *reshard.Plan, sender bool) map[pair][]string {
	sent := make(map[pair][]string)
	for i := range p.Entries {
		e := &p.Entries[i]
		m := &p.Moves[e.Tensor]
		for _, d := range e.Destinations {
			l, at, rank := m.Target, e.To, d
			if sender {
				l, at, rank = m.Source, e.From, e.Source
			}
			held, _, _ := indices(l, m.Tensor.Shape, slices.Index(l.Mesh.Ranks, rank))
			bytes := bytesHeld(held, m.Tensor.Shape, m.Tensor.Dtype.Bytes())
			each(e, at, func(i int64) {
				sent[pair{e.Source, d}] = append(sent[pair{e.Source, d}], fmt.Sprintf("%s %d", m.Tensor.Name, bytes[i]))
			})
		}
	}
	return sent
}

// heard is the moves as another rank has them, which has read of them.
func heard(t *testing.T, moves []reshard.Move) []reshard.Move {
	t.Helper()
	var copies []reshard.Move
	for _, m := range moves {
		c := tensor(t, m.Tensor.String())
		copies = append(copies, reshard.Move{Tensor: c, Source: layout(t, m.Source.String()), Target: layout(t, m.Target.String())})
	}
	return copies
}

func equalMaps(a, b map[pair][]string) bool { return maps.EqualFunc(a, b, slices.Equal[[]string]) }

// TestRuleIsSymmetric: who sends and who receives plan for themselves, and mean
// the same bytes.
func TestRuleIsSymmetric(t *testing.T) {
	for seed := range uint64(300) {
		moves, options := randomCase(seed)
		sender, receiver := mustPlan(t, moves, options), mustPlan(t, heard(t, moves), options)
		if !equalMaps(byteMap(sender, true), byteMap(receiver, false)) {
			t.Fatalf("seed %d: sender and receiver mean different bytes", seed)
		}
		if !reflect.DeepEqual(sender.Entries, receiver.Entries) {
			t.Fatalf("seed %d: different entries", seed)
		}
	}
}

// TestOneSidedRuleIsFound plants rules that only senders follow.
func TestOneSidedRuleIsFound(t *testing.T) {
	const receives = "entry 0 (tensor 0 w=8x8:f32, cell 0): send rank 0 -> 4, 64 bytes (1x8x8) from 0+32+256 to 0+8+64"
	for _, c := range []struct {
		name, source string // that the sender believes in
		sender       reshard.Options
		sends        string
	}{
		{"what is long is cut", "4:R", reshard.Options{MaxEntryBytes: 32}, "entry 0 (tensor 0 w=8x8:f32, cell 0): send rank 0 -> 4, 32 bytes (1x4x8) from 0+32+128 to 0+8+32"},
		{"sources are near", "4:R", reshard.Options{RanksPerNode: 3}, "entry 0 (tensor 0 w=8x8:f32, cell 0): send rank 3 -> 4, 64 bytes (1x8x8) from 0+32+256 to 0+8+64"},
		{"replicas are shards", "4:S0", reshard.Options{}, "entry 0 (tensor 0 w=8x8:f32, cell 0): send rank 0 -> 4, 16 bytes (1x2x8) from 0+32+64 to 0+8+16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := tensor(t, "w=8x8:f32")
			plan := func(source string, o reshard.Options) *reshard.Plan {
				return mustPlan(t, reshard.Moves(layout(t, source), layout(t, "4@4:S1"), []reshard.Tensor{w}), o)
			}
			sender, receiver := plan(c.source, c.sender), plan("4:R", reshard.Options{})
			if equalMaps(byteMap(sender, true), byteMap(receiver, false)) {
				t.Errorf("the rule changes nothing: the byte maps are the same")
			}
			if s, r := sender.Describe(0), receiver.Describe(0); s != c.sends || r != receives {
				t.Errorf("got  %s and %s\nwant %s and %s", s, r, c.sends, receives)
			}
		})
	}
}

// TestDescribeSaysEverything changes one thing at a time. The type is the
// tensor's.
func TestDescribeSaysEverything(t *testing.T) {
	build := func() *reshard.Plan {
		return mustPlan(t, move(t, "6x6:f32", "2x2:P(sum),S1", "3@1:S0"), reshard.Options{})
	}
	want := build().Describe(0)
	for i, change := range []func(e *reshard.Entry){
		func(e *reshard.Entry) { e.Cell++ },
		func(e *reshard.Entry) { e.Source++ },
		func(e *reshard.Entry) { e.Destinations = []int{2, 3} },
		func(e *reshard.Entry) { e.Destinations, e.Parts = e.Parts, e.Destinations },
		func(e *reshard.Entry) { e.Parts = nil },
		func(e *reshard.Entry) { e.Red++ },
		func(e *reshard.Entry) { e.Transport++ },
		func(e *reshard.Entry) { e.Planes, e.Rows = e.Rows, e.Planes },
		func(e *reshard.Entry) { e.RowBytes-- },
		func(e *reshard.Entry) { e.From.Offset++ },
		func(e *reshard.Entry) { e.From.Row++ },
		func(e *reshard.Entry) { e.From.Plane++ },
		func(e *reshard.Entry) { e.To.Offset++ },
		func(e *reshard.Entry) { e.To.Row++ },
		func(e *reshard.Entry) { e.To.Plane++ },
	} {
		p := build()
		change(&p.Entries[0])
		if got := p.Describe(0); got == want {
			t.Errorf("change %d: it still is %s", i, got)
		}
	}
}
