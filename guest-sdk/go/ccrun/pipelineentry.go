package ccrun

import (
	"encoding/binary"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// PipelineEntry is a box that is to get from one rank to others. All ranks know
// all of it but the places, which count where the rank has a part in the entry.
type PipelineEntry struct {
	Source       int   // rank that has it, or that the parts are added up for
	Destinations []int // ascending; the source alone: it stays there
	Parts        []int // ranks whose parts make it up, ascending, the source among them; nil if the source has it whole
	Dtype        Dtype
	RedOp        RedOp // how parts are added up
	Transport    Transport
	Tensor, Cell int // numbers by which messages name it

	Planes, Rows, RowBytes int64 // a run of bytes is 1 plane of 1 row

	Src Place // (own) it is read from here, at the source and where there are parts
	Dst Place // (own) it is written here, at destinations
}

// Bytes is the size of the entry's box.
func (e *PipelineEntry) Bytes() int64 { return e.Planes * e.Rows * e.RowBytes }

// Place is where a box lies in a buffer: rows of equal length at equal
// distances, in planes at equal distances. Distances are from start to start,
// and do not count where there is one row, or plane, only.
type Place struct {
	Buffer *Buffer
	Offset int64 // bytes from the buffer's start to the first row
	Row    int64 // bytes from row to row
	Plane  int64 // bytes from plane to plane
}

// handle is the buffer's handle, 0 (which the host refuses where the place
// counts) without a buffer.
func (l Place) handle() uint64 {
	if l.Buffer == nil {
		return 0
	}
	return l.Buffer.handle
}

// Add appends entries. Every rank appends all of them, in the same order; a bad
// one refuses all of the call.
func (p *Pipeline) Add(entries ...PipelineEntry) error {
	if len(entries) == 0 {
		return nil
	}
	p.entries, p.ranks = p.entries[:0], p.ranks[:0]
	for i := range entries {
		p.entries = append(p.entries, p.entryOf(&entries[i]))
	}
	if len(p.ranks) > 0 {
		errno := p.world.host.PipelineRanks(p.handle, &p.ranks[0], uint32(len(p.ranks)))
		if err := p.world.check("pipeline_ranks", errno); err != nil {
			clear(p.lists) // the host has none of them
			return err
		}
		p.listed += uint32(len(p.ranks))
	}
	errno := p.world.host.PipelineAdd(p.handle, &p.entries[0], uint32(len(p.entries)))
	return p.world.check("pipeline_add", errno)
}

func (p *Pipeline) entryOf(e *PipelineEntry) raw.PipelineEntry {
	return raw.PipelineEntry{
		Source:   hostIndex(e.Source),
		DstFirst: p.list(e.Destinations), DstCount: uint32(len(e.Destinations)),
		PartFirst: p.list(e.Parts), PartCount: uint32(len(e.Parts)),
		Tensor: hostIndex(e.Tensor), Cell: hostIndex(e.Cell),
		Dtype: uint8(e.Dtype), Redop: uint8(e.RedOp), Transport: uint8(e.Transport),
		Planes: uint64(e.Planes), Rows: uint64(e.Rows), RowBytes: uint64(e.RowBytes),
		Src: e.Src.handle(), SrcOffset: uint64(e.Src.Offset), SrcRow: uint64(e.Src.Row), SrcPlane: uint64(e.Src.Plane),
		Dst: e.Dst.handle(), DstOffset: uint64(e.Dst.Offset), DstRow: uint64(e.Dst.Row), DstPlane: uint64(e.Dst.Plane),
	}
}

// list is where a list of ranks begins among those that the host has, once the
// ranks that it adds to p.ranks are there. Equal lists are one.
func (p *Pipeline) list(ranks []int) uint32 {
	if len(ranks) == 0 {
		return 0
	}
	var key []byte
	for _, rank := range ranks {
		key = binary.LittleEndian.AppendUint32(key, hostIndex(rank))
	}
	first, known := p.lists[string(key)]
	if !known && p.lists != nil { // none after Build, where the host refuses the entries
		first = p.listed + uint32(len(p.ranks))
		p.lists[string(key)] = first
		for _, rank := range ranks {
			p.ranks = append(p.ranks, hostIndex(rank))
		}
	}
	return first
}
