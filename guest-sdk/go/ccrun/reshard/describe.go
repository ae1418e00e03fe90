package reshard

import (
	"fmt"
	"strings"
)

// digest is FNV-1a over 64-bit words instead of bytes, folded after each so
// that high bits reach low ones.
type digest uint64

const (
	digestStart digest = 14695981039346656037
	digestPrime        = 1099511628211
)

func (d digest) word(w uint64) digest {
	d = (d ^ digest(w)) * digestPrime
	return d ^ d>>32
}

func (d digest) number(n int64) digest { return d.word(uint64(n)) }

func (d digest) ranks(ranks []int) digest {
	d = d.word(uint64(len(ranks)))
	for _, r := range ranks {
		d = d.word(uint64(r))
	}
	return d
}

func (d digest) text(text string) digest {
	d = d.word(uint64(len(text)))
	for i := range len(text) {
		d = d.word(uint64(text[i]))
	}
	return d
}

func (t *Tensor) digest() digest {
	d := digestStart.text(t.Name).word(uint64(t.Dtype)).word(uint64(len(t.Shape)))
	for _, n := range t.Shape {
		d = d.number(n)
	}
	return d
}

func (e *Entry) digest(tensor digest) digest {
	d := tensor.word(uint64(e.Tensor)<<32 | uint64(e.Cell)).word(uint64(e.Source)).ranks(e.Destinations).ranks(e.Parts)
	d = d.word(uint64(e.Dtype)<<16 | uint64(e.Red)<<8 | uint64(e.Transport))
	d = d.number(e.Planes).number(e.Rows).number(e.RowBytes)
	for _, place := range [...]*Place{&e.From, &e.To} {
		d = d.number(place.Offset).number(place.Row).number(place.Plane)
	}
	return d
}

// Hash is a number over all entries and the names, types and shapes of their
// tensors: equal on ranks that have the same plan, and else not but by chance.
// It is FNV-1a over 64-bit words, folded.
func (p *Plan) Hash() uint64 {
	tensors := make([]digest, len(p.Moves))
	for i := range p.Moves {
		tensors[i] = p.Moves[i].Tensor.digest()
	}
	d := digestStart.word(uint64(len(p.Entries)))
	for i := range p.Entries {
		e := &p.Entries[i]
		d = d.word(uint64(e.digest(tensors[e.Tensor])))
	}
	return uint64(d)
}

// EntryHash is the same over one entry.
func (p *Plan) EntryHash(i int) uint64 {
	e := &p.Entries[i]
	return uint64(e.digest(p.Moves[e.Tensor].Tensor.digest()))
}

// Describe is the i-th entry in a line, with all that its hash is over.
func (p *Plan) Describe(i int) string {
	e := &p.Entries[i]
	t := &p.Moves[e.Tensor].Tensor
	var b strings.Builder
	fmt.Fprintf(&b, "entry %d (tensor %d %s, cell %d): %s ", i, e.Tensor, t, e.Cell, e.Kind())
	if e.Parts != nil {
		fmt.Fprintf(&b, "%s of%s at ", Placement{Kind: Partial, Red: e.Red}, rankList(e.Parts))
	}
	fmt.Fprintf(&b, "rank %d ->%s, %d bytes (%dx%dx%d) from %s to %s", e.Source, rankList(e.Destinations), e.Bytes(), e.Planes, e.Rows, e.RowBytes, e.From, e.To)
	if e.Transport != 0 {
		fmt.Fprintf(&b, ", transport %d", e.Transport)
	}
	return b.String()
}

// String is the place as text: where it starts, and the distances of rows and
// of planes.
func (p Place) String() string { return fmt.Sprintf("%d+%d+%d", p.Offset, p.Row, p.Plane) }

func rankList(ranks []int) string {
	var b strings.Builder
	for _, r := range ranks {
		fmt.Fprintf(&b, " %d", r)
	}
	return b.String()
}

// Difference is the first entry in which two plans differ, -1 if there is none,
// and a line that shows it in both.
func Difference(a, b *Plan) (int, string) {
	for i := range max(len(a.Entries), len(b.Entries)) {
		switch {
		case i >= len(a.Entries):
			return i, "the first plan ends before " + b.Describe(i)
		case i >= len(b.Entries):
			return i, "the second plan ends before " + a.Describe(i)
		case a.EntryHash(i) != b.EntryHash(i):
			return i, a.Describe(i) + "; the other plan has " + b.Describe(i)
		}
	}
	return -1, ""
}

// Summary counts what a plan moves.
type Summary struct {
	Entries [4]int   // of each [Kind]
	Bytes   [4]int64 // of each, an entry counted once
	// Wire is the bytes that ranks get from others: destinations, and those who
	// add parts up, in whatever order, from one another.
	Wire int64
	Cut  int64 // bytes of all cells: each tensor once
}

// Summary counts what the plan moves.
func (p *Plan) Summary() Summary {
	var s Summary
	for i := range p.Entries {
		e := &p.Entries[i]
		s.Entries[e.Kind()]++
		s.Bytes[e.Kind()] += e.Bytes()
		_, stays := e.Takes(e.Source)
		receivers := len(e.Destinations) + max(len(e.Parts)-1, 0)
		if stays {
			receivers--
		}
		s.Wire += int64(receivers) * e.Bytes()
		if i == 0 || p.Entries[i-1].Tensor != e.Tensor || p.Entries[i-1].Cell != e.Cell {
			s.Cut += e.Bytes()
		}
	}
	return s
}
