package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// Box is part of an array of up to three dimensions: planes of rows, each a run
// of bytes, and where they lie in two arrays. A matrix is one plane.
type Box struct {
	Planes, Rows, RowBytes int64

	Dst, Src Place
}

// Bytes is the size of the box.
func (b *Box) Bytes() int64 { return b.Planes * b.Rows * b.RowBytes }

// CopyBox copies a box from its source to its destination, both of this rank.
// They must not overlap each other, nor rows each other that are written.
func (s *Stream) CopyBox(b Box) { s.moveBox(raw.KindCopyBox, b) }

// GetBox copies a box from its source, a peer's buffer that was looked up, to its
// destination, this rank's. It is to [Stream.Get] what CopyBox is to
// [Stream.Copy].
func (s *Stream) GetBox(b Box) { s.moveBox(raw.KindGetBox, b) }

func (s *Stream) moveBox(kind uint32, b Box) {
	for _, number := range [...]int64{b.Planes, b.Rows, b.RowBytes} {
		if number < 0 {
			s.refuse(kindName(kind), ErrRange, "a box has a negative size")
			return
		}
	}
	o := s.next(kind)
	if s.boxes == nil {
		s.boxes = make([]raw.Box, heldMax)
	}
	held := &s.boxes[s.count]
	*held = raw.Box{
		Dst: b.Dst.handle(), DstOffset: uint64(b.Dst.Offset), DstRow: uint64(b.Dst.Row), DstPlane: uint64(b.Dst.Plane),
		Src: b.Src.handle(), SrcOffset: uint64(b.Src.Offset), SrcRow: uint64(b.Src.Row), SrcPlane: uint64(b.Src.Plane),
		Planes: uint64(b.Planes), Rows: uint64(b.Rows), RowBytes: uint64(b.RowBytes),
	}
	o.Sources = s.world.host.AddressOfBox(held)
	s.push()
}
