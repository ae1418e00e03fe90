package sim

import (
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// callWords is what all ranks of a call must agree on.
type callWords struct {
	collective op.CollectiveOp
	dtype      op.Dtype
	red        op.RedOp
	algorithm  uint8
	root       int
	count      int64
	slice      int64 // bytes of one
}

func wordsOf(c *op.Call) callWords {
	if c.Collective == op.BarrierAll {
		return callWords{collective: c.Collective, algorithm: c.Algorithm}
	}
	w := callWords{collective: c.Collective, dtype: c.Type, algorithm: c.Algorithm, count: c.Count, slice: c.Program.SliceBytes}
	if reduces(c.Collective) {
		w.red = c.Red
	}
	if rooted(c.Collective) {
		w.root = c.Root
	}
	if c.Collective == op.AllToAllV {
		w.count = 0 // counts differ from rank to rank, and are compared in pairs
	}
	return w
}

func reduces(c op.CollectiveOp) bool {
	return c == op.AllReduce || c == op.ReduceScatter || c == op.ReduceTo
}

func rooted(c op.CollectiveOp) bool {
	return c == op.Broadcast || c == op.ReduceTo || c == op.Gather || c == op.Scatter
}

// String is how the call is named when ranks disagree.
func (w callWords) String() string {
	if w.collective == op.BarrierAll {
		return w.collective.String()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", w.collective, w.dtype)
	if reduces(w.collective) {
		fmt.Fprintf(&text, " %s", w.red)
	}
	if w.collective != op.AllToAllV {
		fmt.Fprintf(&text, " of %d elements", w.count)
	}
	if rooted(w.collective) {
		fmt.Fprintf(&text, ", root %d", w.root)
	}
	return text.String()
}

// differs is String with what else may differ.
func (w callWords) differs(other callWords) string {
	text := w.String()
	if text == other.String() {
		text = fmt.Sprintf("%s by %s in slices of %d bytes", text, op.Algorithm(w.algorithm), w.slice)
	}
	return text
}

// disagreed is a rank that has entered something else than the first one.
type disagreed struct {
	rank  int
	words callWords
}

// wordsOf is what a rank that has entered the call has entered.
func (s *callState) wordsOf(rank int) callWords {
	for i := range s.different {
		if s.different[i].rank == rank {
			return s.different[i].words
		}
	}
	return s.words
}

// compare fails if two ranks that have entered the call have entered different
// things.
func (s *callState) compare(a, b int) error {
	x, y := s.wordsOf(a), s.wordsOf(b)
	if x == y {
		return nil
	}
	return s.mismatch(a, b, x.differs(y), y.differs(x))
}

// disagreement fails if any rank that has entered the call differs from the
// given one.
func (s *callState) disagreement(rank int) error {
	if s.different == nil && s.words.collective != op.AllToAllV {
		return nil
	}
	for peer, in := range s.in {
		if !in || peer == rank {
			continue
		}
		if err := s.match(s.runs[rank], peer); err != nil {
			return err
		}
	}
	return nil
}

// match is compare, and what only pairs of ranks can compare.
func (s *callState) match(r *callRun, peer int) error {
	me := r.comm.rank
	if s.different != nil {
		if err := s.compare(me, peer); err != nil {
			return err
		}
	}
	if r.call.Collective != op.AllToAllV || peer == me {
		return nil
	}
	other := s.runs[peer].call
	if mine, theirs := r.call.SendCounts[peer], other.RecvCounts[me]; mine != theirs {
		return s.mismatch(me, peer, fmt.Sprintf("%v that sends it %d elements", r.words, mine), fmt.Sprintf("%v that receives %d from it", r.words, theirs))
	}
	if mine, theirs := r.call.RecvCounts[peer], other.SendCounts[me]; mine != theirs {
		return s.mismatch(me, peer, fmt.Sprintf("%v that receives %d elements from it", r.words, mine), fmt.Sprintf("%v that sends it %d", r.words, theirs))
	}
	return nil
}

// mismatch names both sides, the lower rank first, so that all ranks' errors
// read alike.
func (s *callState) mismatch(a, b int, mine, theirs string) error {
	x, y := s.group.ranks[a], s.group.ranks[b]
	if y < x {
		x, y, mine, theirs = y, x, theirs, mine
	}
	return fmt.Errorf("call %d of communicator %s: rank %d calls %s, rank %d calls %s: %w",
		s.number, s.group.name, x, mine, y, theirs, device.ErrMismatch)
}
