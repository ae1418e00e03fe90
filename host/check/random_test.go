package check

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

var rounds = flag.Int("rounds", 250, "random schedules that are compared with the oracle")

var roundsAlone = flag.Int("rounds-alone", 100, "random schedules for each list of kinds, and each of two seeds; twice as many of cheap ones")

var seedAlone = flag.Uint64("seed-alone", 1, "the first of these seeds")

var seed = flag.Uint64("seed", 31, "of the random schedules")

// dice throws schedules that are small enough to go through all their orders.
type dice struct{ *rand.Rand }

// schedule has so many actions at least, of these kinds.
func (d dice) schedule(kinds []Kind, budget int) *Schedule {
	size := 2 + d.IntN(2)
	s := &Schedule{Ranks: make([]Rank, size)}
	for range budget {
		rank := d.IntN(size)
		a := d.action(rank, size, kinds[d.IntN(len(kinds))])
		s.Ranks[rank].Actions = append(s.Ranks[rank].Actions, a)
		if a.Kind == Collective || a.Kind == Barrier { // alone it is not worth much
			for other := range size {
				if b := d.action(other, size, a.Kind); other != rank {
					s.Ranks[other].Actions = append(s.Ranks[other].Actions, b)
				}
			}
		}
	}
	return s
}

// kindsAlone lists kinds that have to do with each other.
func kindsAlone() [][]Kind {
	return [][]Kind{
		{Signal, Wait, Work}, {Signal, Signal, Wait, Wait, Work}, {Send, Recv, Work}, {Send, Recv}, {Record, WaitEvent, Work}, {Collective, Work},
		{SyncStream, Work}, {SyncEvent, Record}, {Barrier, Work}, {Seen, Signal}, {Publish, Lookup, Work}, {LateBarrier, Barrier, Work},
	}
}

// kinds is a mixture: most schedules have little of most things.
func (d dice) kinds() []Kind {
	all := kindsAlone()
	var kinds []Kind
	for range 1 + d.IntN(3) {
		kinds = append(kinds, all[d.IntN(len(all))]...)
	}
	return kinds
}

func (d dice) action(rank, size int, kind Kind) Action {
	a := Action{Kind: kind, Peer: d.IntN(size), Slot: uint32(d.IntN(8) / 7), Value: 1 + d.Uint64N(3), Bytes: 4, Event: d.IntN(2), Key: "k"}
	if d.IntN(4) > 0 {
		a.Peer = (rank + 1) % size
	}
	if kind <= Collective || kind == SyncStream {
		a.Stream = 1 + d.IntN(2)
	}
	if kind == Seen && d.IntN(3) == 0 {
		a.Value = 0
	}
	if d.IntN(12) == 0 {
		a.Bytes = 8
	}
	place := func() []Range {
		return []Range{{Owner: d.IntN(size), Allocation: d.IntN(5) / 4, Off: 4 * d.Int64N(2), Bytes: 4 + 4*d.Int64N(2)}}
	}
	switch kind {
	case Work:
		if d.IntN(5) == 0 {
			a.Stream = Guest
		}
		if a.Writes = place(); d.IntN(2) == 0 {
			a.Reads, a.Writes = a.Writes, nil
		}
		if d.IntN(4) == 0 {
			a.Reads = place()
		}
	case Send:
		a.Reads = place()
	case Recv:
		a.Writes = place()
	case Collective:
		a.Calls = []Call{{Collective: op.AllGather, Count: 1 + d.Int64N(12)/11}}
		if d.IntN(3) == 0 {
			counts := &Counts{}
			for range size {
				counts.Sends = append(counts.Sends, 1+d.Int64N(24)/23)
				counts.Recvs = append(counts.Recvs, 1+d.Int64N(24)/23)
			}
			a.Calls = []Call{{Collective: op.AllToAllV, Counts: counts}}
		}
		if d.IntN(2) == 0 {
			a.Reads, a.Writes = place(), place()
		}
	}
	return a
}

// tally is what comparing with the oracle has met.
type tally struct {
	compared, branched int
	found              map[Class]int
}

// compare holds that what is found in a schedule is what going through all its
// orders shows, if there are no more states than most.
func (y *tally) compare(t *testing.T, round int, s *Schedule, most int) {
	t.Helper()
	want, ok := ask(s, most)
	if !ok {
		return
	}
	result, err := Check(s, 1<<20)
	if err != nil || !result.Complete && len(result.Findings) < int(classCount) {
		t.Fatalf("round %d: %v, %+v\n%s", round, err, result, describe(s))
	}
	y.compared++
	if result.Orders > 1 {
		y.branched++
	}
	got := map[Class]bool{}
	for i := range result.Findings {
		got[result.Findings[i].Class] = true
		y.found[result.Findings[i].Class]++
	}
	if got[Mismatch] != want.mismatch || got[Deadlock] != want.deadlock || got[Race] != want.race {
		for i := range result.Findings {
			t.Log(result.Findings[i].Text())
		}
		t.Fatalf("round %d: found %v, the oracle finds mismatch %v, deadlock %v, race %v\n%s",
			round, got, want.mismatch, want.deadlock, want.race, describe(s))
	}
}

// TestAgreesWithTheOracle compares what is found in random schedules with what
// going through all their orders shows.
func TestAgreesWithTheOracle(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(*seed, 5))}
	y := &tally{found: map[Class]int{}}
	for round := range *rounds {
		kinds := d.kinds()
		y.compare(t, round, d.schedule(kinds, 5+d.IntN(5)), 20000)
	}
	t.Logf("%d compared, %d with several orders: %v", y.compared, y.branched, y.found)
	if y.compared < *rounds/2 || y.branched < y.compared/100 || y.found[Mismatch] < y.compared/100 || y.found[Deadlock] < y.compared/20 || y.found[Race] < y.compared/20 {
		t.Error("the schedules show too little")
	}
}

// TestKindsAlone does the same where kinds are not mixed: what needs several
// operations of one kind is rare otherwise.
func TestKindsAlone(t *testing.T) {
	for number, kinds := range kindsAlone() {
		for from := *seedAlone; from < *seedAlone+2; from++ {
			d := dice{rand.New(rand.NewPCG(from, uint64(number)))}
			y := &tally{found: map[Class]int{}}
			rounds, least, most := *roundsAlone, 5, 1000
			switch {
			case kinds[0] == Collective: // each is one of every rank
				least, most = 2, 300
			case kinds[0] == Send && len(kinds) == 2:
				most = 400
			case kinds[0] == Publish:
				rounds *= 2
			}
			for round := range rounds {
				y.compare(t, round, d.schedule(kinds, least+d.IntN(5)), most)
			}
			t.Logf("kinds %v, seed %d: %d compared, %d with several orders: %v", kinds, from, y.compared, y.branched, y.found)
			if y.compared < *roundsAlone/3 || len(y.found) == 0 && !slices.Contains(kinds, Record) {
				t.Error("the schedules show too little")
			}
		}
	}
}

// TestOrdersDoNotMultiply holds that places which are open at the same time do
// not multiply each other's orders, where only one order is possible at each:
// rounds of a ring whose streams take turns, held together by credits alone.
func TestOrdersDoNotMultiply(t *testing.T) {
	const size, turns = 12, 6
	s := &Schedule{Ranks: make([]Rank, size)}
	for rank := range size {
		next, prev := (rank+1)%size, (rank+size-1)%size
		add := func(a Action) { s.Ranks[rank].Actions = append(s.Ranks[rank].Actions, a) }
		for turn := range turns {
			stream := 1 + turn%2
			add(Action{Kind: Wait, Stream: stream, Peer: next, Slot: 1, Value: uint64(turn)})
			add(Action{Kind: Signal, Stream: stream, Peer: next, Slot: 0, Value: uint64(turn + 1)})
			add(Action{Kind: Wait, Stream: 3, Peer: prev, Slot: 0, Value: uint64(turn + 1)})
			add(Action{Kind: Signal, Stream: 3, Peer: prev, Slot: 1, Value: uint64(turn + 1)})
		}
	}
	result, err := Check(s, 100_000)
	if err != nil || !result.Complete || result.Orders != 1 || len(result.Findings) > 0 {
		t.Errorf("%v, %+v", err, result)
	}
}
