package traces

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// pairSent is what one rank puts to another in a collective, in a message.
type pairSent struct {
	source, dest int
	bytes        uint64
	nanos        int64
	times        int
}

// pairsRun is one collective in which the pairs put.
func pairsRun(t *testing.T, ranks int, pairs []pairSent) *Run {
	rec := newRecording(t, ranks, 0)
	end := make([]int64, ranks)
	for i := range end {
		end[i] = 1000
	}
	for _, p := range pairs {
		for k := range p.times {
			rec.writers[p.source].Append(&flight.Record{
				Kind: uint8(op.Put), Peer: int32(p.dest), Bytes: p.bytes, Start: end[p.source], End: end[p.source] + p.nanos,
				Collective: 1, Chunk: uint32(k), Stream: 1,
			})
			end[p.source] += p.nanos
		}
	}
	for _, w := range rec.writers {
		w.Append(&flight.Record{
			Kind: uint8(op.Collective), Red: uint8(op.Custom), Aux: uint32(w.Name("pairs")), Peer: -1,
			Start: 1000, End: slices.Max(end), Chunk: uint32(ranks), Collective: 1,
		})
	}
	return rec.open(t)
}

// TestPairsBeyondTheList finds the worst pair by time, which has the highest
// bandwidth and so is not among those that are listed.
func TestPairsBeyondTheList(t *testing.T) {
	const ranks = 18 // 306 pairs
	var pairs []pairSent
	for source := range ranks {
		for dest := range ranks {
			if source != dest {
				pairs = append(pairs, pairSent{source, dest, 100, 100, 5})
			}
		}
	}
	pairs[200].bytes, pairs[200].nanos = 1<<20, 5000
	worst := pairs[200]
	s := Summarize(pairsRun(t, ranks, pairs))
	f := s.Collectives[0].Flows
	if len(f.Pairs) != maxPairs || f.PairsLeftOut != len(pairs)-maxPairs {
		t.Fatalf("%d pairs listed, %d left out", len(f.Pairs), f.PairsLeftOut)
	}
	if slices.ContainsFunc(f.Pairs, func(p PairFlows) bool { return p.Source == worst.source && p.Dest == worst.dest }) {
		t.Fatal("the worst pair is listed: the test shows nothing")
	}
	if p := f.outstanding; p == nil || p.Source != worst.source || p.Dest != worst.dest || math.Round(p.times) != 50 {
		t.Errorf("standing out: %+v", p)
	}
	for _, stat := range statistics {
		if crossed, text := threshold(t, "pair_fct."+stat+"<4us").Check(s); !crossed {
			t.Error(text)
		}
		if crossed, text := threshold(t, "pair_fct."+stat+"<6us").Check(s); crossed {
			t.Error(text)
		}
	}
}

func threshold(t *testing.T, text string) Threshold {
	t.Helper()
	parsed, err := ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestEmptyPairsHaveNoBandwidth leaves pairs that moved no bytes out of what
// compares bandwidths.
func TestEmptyPairsHaveNoBandwidth(t *testing.T) {
	pairs := []pairSent{{0, 1, 1000, 1000, 1}, {1, 2, 1000, 1000, 1}, {2, 0, 0, 50, 1}}
	for _, c := range []struct {
		pairs []pairSent
		want  string
	}{
		{pairs, "3 pairs, jain 1, max/mean 1, slowest 1000000000 true"},
		{pairs[2:], "1 pairs, jain 1, max/mean 1, slowest 0 false"},
	} {
		row := &Summarize(pairsRun(t, 3, c.pairs)).Collectives[0]
		lowest, measured := slowestPair(row, "")
		got := fmt.Sprintf("%d pairs, jain %g, max/mean %g, slowest %.0f %t", len(row.Flows.Pairs), row.Flows.Jain, row.Flows.MaxToMean, lowest, measured)
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestCheckComparesBothEnds finds a send that holds more than its receive took,
// and nothing where one end's records are missing.
func TestCheckComparesBothEnds(t *testing.T) {
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"different", "collective 1 chunk 0 step 0 from rank 0 to 1: sends hold 100 bytes, their receives 60", []string{
			"0 send 10 20 c=1 peer=1 bytes=100", "1 recv 10 20 c=1 peer=0 bytes=60"}},
		{"same", "", []string{"0 send 10 20 c=1 peer=1 bytes=100", "1 recv 10 20 c=1 peer=0 bytes=100"}},
		{"lost send", "", []string{
			"0 send 10 20 c=1 peer=1 bytes=100",
			"1 recv 10 20 c=1 peer=0 bytes=100", "1 recv 20 30 c=1 peer=0 bytes=100 slice=1 message=1"}},
		{"lost receive", "", []string{
			"0 send 10 20 c=1 peer=1 bytes=100", "0 send 20 30 c=1 peer=1 bytes=100 slice=1 message=1",
			"1 recv 10 20 c=1 peer=0 bytes=100"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := newRecording(t, 2, 0)
			for _, line := range append(c.lines, "0 collective 5 40 c=1 op=custom ranks=2 name=x", "1 collective 5 40 c=1 op=custom ranks=2 name=x") {
				if err := rec.line(line); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			if err := rec.open(t).Collectives()[0].Check(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
