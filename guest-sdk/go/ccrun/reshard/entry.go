package reshard

import (
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Place is where a box lies in a rank's part of a tensor, in bytes.
type Place struct {
	Offset int64 // of the first row
	Row    int64 // from the start of a row to that of the next
	Plane  int64 // from the start of a plane to that of the next
}

// Entry is a box, a cell or a piece of one, that gets from one rank to others.
// All who hold it hold parts of the same shape, so From is where it lies at the
// source and at all parts, and To where it lies at all destinations.
type Entry struct {
	Tensor uint32 // which move
	Cell   uint32 // which part of the tensor, in row-major order; pieces count
	// Source has the box, or adds up the parts.
	Source int
	// Destinations are ascending. The source is among them only if it is the
	// only one, which is a copy in its own memory, or if there are parts.
	// Entries share the lists; leave them as they are.
	Destinations []int
	Parts        []int // whose sum, or the like, it is: ascending, the source among them; nil if the source has it whole
	Dtype        ccrun.Dtype
	Red          ccrun.RedOp     // of parts
	Transport    ccrun.Transport // New leaves it packed; set it as you like, on all ranks alike

	Planes, Rows, RowBytes int64
	From, To               Place
}

// Kind is how an entry moves.
type Kind uint8

// The kinds.
const (
	Local     Kind = iota // a copy in the memory of the rank
	Send                  // to one rank
	Broadcast             // to several
	Reduce                // parts are added up, then it goes to one rank or several, or stays
	kinds
)

var kindNames = [kinds]string{"local", "send", "broadcast", "reduce"}

// String is the kind as text.
func (k Kind) String() string {
	if k >= kinds {
		return "?"
	}
	return kindNames[k]
}

// Kind is how the entry moves.
func (e *Entry) Kind() Kind {
	switch {
	case e.Parts != nil:
		return Reduce
	case len(e.Destinations) > 1:
		return Broadcast
	case e.Destinations[0] == e.Source:
		return Local
	}
	return Send
}

// Bytes is how many bytes the entry has.
func (e *Entry) Bytes() int64 { return e.Planes * e.Rows * e.RowBytes }

// Takes reports what a rank does for an entry: whether it reads its part of the
// source tensor, and whether it writes its part of the target tensor.
func (e *Entry) Takes(rank int) (reads, writes bool) {
	return e.Source == rank || slices.Contains(e.Parts, rank), slices.Contains(e.Destinations, rank)
}

// Pipeline is the entry as a rank gives it to a bucket pipeline. src is where
// the rank's part of the source tensor begins, dst where that of the target
// tensor does: their Row and Plane do not count. Where the rank reads or writes
// nothing, the place is left out.
func (e *Entry) Pipeline(rank int, src, dst ccrun.Place) ccrun.PipelineEntry {
	p := ccrun.PipelineEntry{
		Source: e.Source, Destinations: e.Destinations, Parts: e.Parts, Dtype: e.Dtype, RedOp: e.Red,
		Transport: e.Transport, Tensor: int(e.Tensor), Cell: int(e.Cell),
		Planes: e.Planes, Rows: e.Rows, RowBytes: e.RowBytes,
	}
	reads, writes := e.Takes(rank)
	if reads {
		p.Src = e.From.in(src)
	}
	if writes {
		p.Dst = e.To.in(dst)
	}
	return p
}

// in is the place in a buffer that has the part from where part says.
func (p *Place) in(part ccrun.Place) ccrun.Place {
	return ccrun.Place{Buffer: part.Buffer, Offset: part.Offset + p.Offset, Row: p.Row, Plane: p.Plane}
}
