package traces

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/analysis"
)

// RankScore says how fast a rank does its own work, moving and reducing
// bytes, without what it waits.
type RankScore struct {
	Rank int `json:"rank"`
	// Relative is the time that the median one of the other ranks takes for the
	// same bytes over this one's, at most 1, and Individual the time of the
	// rank's own best collectives over this one's: medians over Collectives.
	Relative          float64 `json:"relative"`
	Individual        float64 `json:"individual"`
	BytesPerSec       float64 `json:"bytes_per_s"`
	OthersBytesPerSec float64 `json:"others_bytes_per_s"`
	// Slow counts the collectives in which the rank was clearly slower than the
	// others.
	Slow        int `json:"slow"`
	Collectives int `json:"collectives"`
}

// Straggler is a rank that is slow in whatever it does, and nearly always.
type Straggler struct {
	RankScore
	Text string `json:"text"`
}

// workOf lists what the ranks did themselves. Several records of one
// reduction, one for each peer that it read, count once.
func workOf(c *Collective) []analysis.Work {
	messages := make([]*Message, 0, len(c.Local))
	for i := range c.Transfers {
		for j := range c.Transfers[i].Flows {
			f := &c.Transfers[i].Flows[j]
			for k := range f.Messages {
				messages = append(messages, &f.Messages[k])
			}
		}
	}
	for i := range c.Local {
		messages = append(messages, &c.Local[i])
	}
	slices.SortFunc(messages, func(a, b *Message) int {
		return cmp.Or(cmp.Compare(a.mover(), b.mover()), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Kind, b.Kind))
	})
	work := make([]analysis.Work, 0, len(messages))
	for rest := messages; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[0].Kind == op.Reduce && rest[0].sameReduction(rest[n]) {
			n++
		}
		if m := rest[0]; m.Bytes > 0 && m.Kind != op.Send {
			work = append(work, analysis.Work{Rank: int(m.mover()), Class: m.class(n), Bytes: m.Bytes, Nanos: m.End - m.Start})
		}
		rest = rest[n:]
	}
	return work
}

// mover is the rank that moved the bytes.
func (m *Message) mover() int32 {
	if m.Kind == op.Put || m.Kind == op.Send {
		return m.Source
	}
	return m.Dest
}

// sameReduction reports whether two messages are what one operation read from
// two peers.
func (m *Message) sameReduction(other *Message) bool {
	return other.Kind == op.Reduce && m.mover() == other.mover() && m.Start == other.Start && m.End == other.End
}

// class tells operations apart that cannot be compared: by kind, by whether
// peers' memory is used and how many peers', and by the order of size.
func (m *Message) class(peers int) uint64 {
	if m.Source == m.Dest {
		peers = 0
	}
	return uint64(m.Kind)<<40 | uint64(peers)<<8 | uint64(bits.Len64(uint64(m.Bytes)))
}

// scoresOf gives scores and verdicts in the form of the summary.
func scoresOf(s *analysis.Scores) (scores []RankScore, stragglers []Straggler) {
	for _, v := range s.Ranks() {
		score := RankScore{
			Rank: v.Rank, Relative: v.Relative, Individual: v.Individual, BytesPerSec: v.BytesPerSec,
			OthersBytesPerSec: v.OthersBytesPerSec, Slow: v.Slow, Collectives: v.Collectives,
		}
		scores = append(scores, score)
		if v.Straggler {
			stragglers = append(stragglers, Straggler{score, score.text()})
		}
	}
	return scores, stragglers
}

func (s *RankScore) text() string {
	return fmt.Sprintf("rank %d is a straggler: moves %s where the median rank moves %s (relative %.2f), slow in %d of %s",
		s.Rank, formatRate(s.BytesPerSec), formatRate(s.OthersBytesPerSec), s.Relative, s.Slow, plural(int64(s.Collectives), "collective"))
}
