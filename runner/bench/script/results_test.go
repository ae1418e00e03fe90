package script

import (
	"slices"
	"strings"
	"testing"
)

func twoPieces() *Script {
	return &Script{Ranks: 2, Pieces: []Piece{{Samples: 3, Rounds: 10}, {Samples: 1, Rounds: 1}}}
}

// The slowest rank counts, and the first sample does not.
func TestResults(t *testing.T) {
	r := twoPieces().NewResults()
	text := "0 0 0 ffff\n0 1 0 ffff\n0 1 1 64\n0 0 1 32\n0 0 2 c8\n0 1 2 12c\n1 0 0 a\n1 1 0 9\n"
	if _, err := r.Write([]byte(text[:len(text)-8])); err != nil || r.Err() == nil {
		t.Errorf("%v, %v: a sample is missing", err, r.Err())
	}
	_, _ = r.Write([]byte(text[len(text)-8:]))
	if r.Err() != nil || !slices.Equal(r.Secs(0), []float64{10e-9, 30e-9}) || !slices.Equal(r.Secs(1), []float64{10e-9}) {
		t.Errorf("%v, %v, %v", r.Secs(0), r.Secs(1), r.Err())
	}
}

func TestBadResults(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n":                "is no sample",
		"0 0 0\n":                "is no sample",
		"2 0 0 1\n":              "no sample 0 of piece 2",
		"0 0 3 1\n":              "no sample 3 of piece 0",
		"0 2 0 1\n":              "and rank 2 was asked for",
		"0 0 0 8000000000000000": "is no sample",
	} {
		r := twoPieces().NewResults()
		_, _ = r.Write([]byte(text))
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzResults(f *testing.F) {
	f.Add("0 0 0 ffff\n0 1 0 ffff\n")
	f.Add("-1 -1 -1 -1\n")
	f.Add("1 1 0 7fffffffffffffff\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := twoPieces().NewResults()
		if n, err := r.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("wrote %d of %d, %v", n, len(text), err)
		}
		for piece := range 2 {
			for _, secs := range r.Secs(piece) {
				if secs < 0 {
					t.Errorf("%q: %v seconds", text, secs)
				}
			}
		}
	})
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := Median(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
}
