package script

import (
	"bytes"
	"fmt"
	"slices"
)

// Results reads what the guests of a script print, as an [io.Writer] that is
// given whole lines.
type Results struct {
	script *Script
	nanos  [][]int64 // by piece and sample, the slowest rank's
	count  int
	err    error
}

// NewResults makes a reader.
func (s *Script) NewResults() *Results {
	r := &Results{script: s, nanos: make([][]int64, len(s.Pieces))}
	for i := range r.nanos {
		r.nanos[i] = make([]int64, s.Pieces[i].Samples)
	}
	return r
}

// Write takes lines of samples. It never fails: what is wrong with them is what
// [Results.Err] says.
func (r *Results) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		var s Sample
		if _, err := fmt.Sscanf(string(line), "%x %x %x %x", &s.Piece, &s.Rank, &s.Number, &s.Nanos); err != nil {
			r.err = fmt.Errorf("results: %q is no sample", line)
			continue
		}
		r.take(s)
	}
	return len(text), nil
}

func (r *Results) take(s Sample) {
	if uint(s.Piece) >= uint(len(r.nanos)) || uint(s.Number) >= uint(len(r.nanos[s.Piece])) || uint(s.Rank) >= uint(r.script.Ranks) || s.Nanos < 0 {
		r.err = fmt.Errorf("results: no sample %d of piece %d and rank %d was asked for", s.Number, s.Piece, s.Rank)
		return
	}
	slowest := &r.nanos[s.Piece][s.Number]
	*slowest = max(*slowest, s.Nanos)
	r.count++
}

// Err says what is wrong with what was read, nil if all samples are there.
func (r *Results) Err() error {
	want := 0
	for i := range r.script.Pieces {
		want += r.script.Pieces[i].Samples * r.script.Ranks
	}
	if r.err == nil && r.count != want {
		return fmt.Errorf("results: %d samples of %d", r.count, want)
	}
	return r.err
}

// Secs are the seconds of a round of a piece, of the slowest rank: one for each
// sample but the first, which warms up, unless it is the only one.
func (r *Results) Secs(piece int) []float64 {
	nanos := r.nanos[piece]
	if len(nanos) > 1 {
		nanos = nanos[1:]
	}
	secs := make([]float64, len(nanos))
	for i, n := range nanos {
		secs[i] = float64(n) / 1e9 / float64(r.script.Pieces[piece].Rounds)
	}
	return secs
}

// Median is the middle of some numbers, 0 of none.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
