package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// ring is an all-gather over a ring of puts, in rounds that use one buffer: a
// chunk is passed on when it has come, and put when the next rank has given the
// round before back.
func ring(size, rounds int) *Schedule {
	s := &Schedule{Ranks: make([]Rank, size)}
	for rank := range size {
		next, prev := (rank+1)%size, (rank+size-1)%size
		r := &s.Ranks[rank]
		r.Ended = true
		add := func(function string, a Action) {
			a.Stream, a.Function = 1, "main."+function
			r.Actions = append(r.Actions, a)
		}
		chunk := func(owner, number int) []Range { return []Range{{owner, 1, int64(number%size) * 8, 8}} }
		own := []Range{{rank, 2, 0, 8}}
		for round := range rounds {
			add("fill", Action{Name: "fill", Bytes: 8, Writes: own})
			add("awaitFree", Action{Kind: Wait, Peer: next, Slot: 1, Value: uint64(round)})
			for step := range size - 1 {
				number, from := uint64(round*(size-1)+step), own
				if step > 0 {
					add("awaitChunk", Action{Kind: Wait, Peer: prev, Value: number})
					from = chunk(rank, rank-step+size)
				}
				add("push", Action{Name: "put", Bytes: 8, Reads: from, Writes: chunk(next, rank-step+size)})
				add("tell", Action{Kind: Signal, Peer: next, Value: number + 1})
			}
			add("awaitLast", Action{Kind: Wait, Peer: prev, Value: uint64((round + 1) * (size - 1))})
			for other := 1; other < size; other++ {
				add("use", Action{Name: "verify", Bytes: 8, Reads: chunk(rank, rank+other)})
			}
			add("giveBack", Action{Kind: Signal, Peer: prev, Slot: 1, Value: uint64(round + 1)})
		}
	}
	return s
}

// changed is a schedule with other actions in the place of one.
func changed(s *Schedule, rank, i int, by ...Action) *Schedule {
	c := &Schedule{Ranks: slices.Clone(s.Ranks), Comms: s.Comms}
	c.Ranks[rank].Actions = slices.Replace(slices.Clone(s.Ranks[rank].Actions), i, i+1, by...)
	return c
}

const mutants = 4 // ranks of the ring that is changed

// mutate makes one change of the ring after the other, and counts what is found
// by the function that was changed. at gives the rank that a finding must name
// in one of its places.
func mutate(t *testing.T, change func(s *Schedule, rank, i int) (mutant *Schedule, at int)) string {
	t.Helper()
	s := ring(mutants, 3)
	found := map[string]int{}
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Actions {
			mutant, at := change(s, rank, i)
			if mutant == nil {
				continue
			}
			result, err := Check(mutant, 100_000)
			if err != nil || !result.Complete || len(result.Findings) > 1 {
				t.Fatalf("%v, %+v", err, result)
			}
			cause := "nothing"
			for k := range result.Findings {
				f := &result.Findings[k]
				cause = f.Cause
				named := f.Places[0].Rank
				if cause == CauseOverwritten {
					named = f.Places[1].Rank // the reader is first, and right
				}
				if named != at {
					t.Errorf("rank %d, action %d: rank %d should be named\n%s", rank, i, at, f.Text())
				}
			}
			found[s.Ranks[rank].Actions[i].Function+": "+cause]++
		}
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(found)) {
		lines = append(lines, fmt.Sprintf("%s %d", key, found[key]))
	}
	return strings.Join(lines, "\n")
}

// TestMutations makes each mistake of a kind that there is in a ring, one at a
// time, and looks how it is called and which rank is named. Nothing is found
// where another wait or signal has seen to it.
func TestMutations(t *testing.T) {
	if result, err := Check(ring(mutants, 3), 100_000); err != nil || len(result.Findings) > 0 || !result.Complete {
		t.Fatalf("the ring itself: %v, %+v", err, result)
	}
	for _, c := range []struct {
		what   string
		change func(s *Schedule, rank, i int) (*Schedule, int)
		want   string
	}{
		{"a wait is left out", func(s *Schedule, rank, i int) (*Schedule, int) {
			if s.Ranks[rank].Actions[i].Kind != Wait {
				return nil, 0
			}
			return changed(s, rank, i), rank
		}, `main.awaitChunk: read before write 24
main.awaitFree: nothing 4
main.awaitFree: overwritten before read 8
main.awaitLast: read before write 12`},
		{"a signal is left out", func(s *Schedule, rank, i int) (*Schedule, int) {
			a := s.Ranks[rank].Actions[i]
			if a.Kind != Signal {
				return nil, 0
			}
			return changed(s, rank, i), a.Peer // who waits in vain
		}, `main.giveBack: missing signal 8
main.giveBack: nothing 4
main.tell: missing signal 12
main.tell: nothing 24`},
		{"a signal goes to the rank on the other side", func(s *Schedule, rank, i int) (*Schedule, int) {
			a := s.Ranks[rank].Actions[i]
			if a.Kind != Signal {
				return nil, 0
			}
			a.Peer = (2*rank - a.Peer + mutants) % mutants
			return changed(s, rank, i, a), rank
		}, `main.giveBack: nothing 4
main.giveBack: wrong peer 8
main.tell: nothing 24
main.tell: wrong peer 12`},
		{"a signal comes before what it tells of", func(s *Schedule, rank, i int) (*Schedule, int) {
			actions := s.Ranks[rank].Actions
			if i+1 == len(actions) || actions[i+1].Kind != Signal || actions[i].Kind != Work {
				return nil, 0
			}
			mutant := changed(s, rank, i+1, actions[i])
			reader := (rank + 1) % mutants
			if actions[i].Name == "verify" { // who writes over what is still to be read
				reader = (rank + mutants - 1) % mutants
			}
			return changed(mutant, rank, i, actions[i+1]), reader
		}, `main.push: read before write 36
main.use: nothing 4
main.use: overwritten before read 8`},
	} {
		if got := mutate(t, c.change); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// TestBudgetOfAll gives every rank's round back after the next one has come.
func TestBudgetOfAll(t *testing.T) {
	s := ring(mutants, 3)
	for rank := range s.Ranks {
		actions := s.Ranks[rank].Actions
		for i := range actions {
			for k := i + 1; k < len(actions) && actions[i].Function == "main.giveBack"; k++ {
				actions[k-1], actions[k] = actions[k], actions[k-1]
				if actions[k-1].Function == "main.awaitLast" {
					break
				}
			}
		}
	}
	f := Explain(s)
	if f == nil || f.Cause != CauseBudget || f.Places[0].Function != "main.awaitFree" || len(f.Places) != mutants {
		t.Errorf("%+v", f)
	}
}
