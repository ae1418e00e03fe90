package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// Copy copies src to dst, both of this rank and of one size.
func (s *Stream) Copy(dst, src Region) { s.move(raw.KindCopy, dst, src) }

// Put copies src, this rank's, to dst, a peer's, of the same size.
func (s *Stream) Put(dst, src Region) { s.move(raw.KindPut, dst, src) }

// Get copies src, a peer's, to dst, this rank's, of the same size.
func (s *Stream) Get(dst, src Region) { s.move(raw.KindGet, dst, src) }

func (s *Stream) move(kind uint32, dst, src Region) {
	if dst.Bytes != src.Bytes {
		s.refuse(kindName(kind), ErrRange, "source and destination differ in size")
		return
	}
	o := s.next(kind)
	o.Dst, o.DstOffset = dst.handle(), uint64(dst.Offset)
	o.Src, o.SrcOffset = src.handle(), uint64(src.Offset)
	o.Bytes = uint64(src.Bytes)
	s.push()
}

// Signal raises this rank's slot at peer to value, if it is lower, after all
// earlier operations of the stream are visible to peer.
func (s *Stream) Signal(peer, slot int, value uint64) {
	o := s.next(raw.KindSignal)
	o.Peer, o.Slot, o.Value = hostIndex(peer), hostIndex(slot), value
	s.push()
}

// Wait holds the stream until the slot that peer raises here is at least value.
func (s *Stream) Wait(peer, slot int, value uint64) {
	o := s.next(raw.KindWait)
	o.Peer, o.Slot, o.Value = hostIndex(peer), hostIndex(slot), value
	s.push()
}

// Send sends src to the matching [Stream.Recv] of peer on the same channel.
// Consecutive sends and receives of a stream make progress together, so every
// rank may send before it receives.
func (s *Stream) Send(peer int, src Region, channel int) {
	o := s.next(raw.KindSend)
	o.Peer, o.Slot, o.Bytes = hostIndex(peer), hostIndex(channel), uint64(src.Bytes)
	o.Src, o.SrcOffset = src.handle(), uint64(src.Offset)
	s.push()
}

// Recv receives into dst what peer sends on the same channel. If they do not
// agree on the size, both streams fail.
func (s *Stream) Recv(peer int, dst Region, channel int) {
	o := s.next(raw.KindRecv)
	o.Peer, o.Slot, o.Bytes = hostIndex(peer), hostIndex(channel), uint64(dst.Bytes)
	o.Dst, o.DstOffset = dst.handle(), uint64(dst.Offset)
	s.push()
}

// Reduce combines 1 to [MaxSources] sources, peers' too, element by element
// into dst, which may be one of them. All have dst's size.
func (s *Stream) Reduce(red RedOp, dtype Dtype, dst Region, sources ...Region) {
	if len(sources) == 0 || len(sources) > MaxSources {
		s.refuse("reduce", ErrInvalid, "a reduce reads 1 to 8 sources")
		return
	}
	o := s.next(raw.KindReduce)
	if s.sources == nil {
		s.sources = make([][MaxSources]raw.View, heldMax)
	}
	views := &s.sources[s.count]
	for i, source := range sources {
		if source.Bytes != dst.Bytes {
			s.refuse("reduce", ErrRange, "a source and the destination differ in size")
			return
		}
		views[i] = raw.View{Buffer: source.handle(), Offset: uint64(source.Offset)}
	}
	o.Dst, o.DstOffset, o.Bytes = dst.handle(), uint64(dst.Offset), uint64(dst.Bytes)
	o.Dtype, o.Redop, o.SourceCount = uint8(dtype), uint8(red), uint8(len(sources))
	o.Sources = s.world.host.AddressOfViews(views)
	s.push()
}

// Fill writes the pattern of seed to dst: arbitrary bytes for [U8], small whole
// numbers for any other type.
func (s *Stream) Fill(dst Region, dtype Dtype, seed uint64) { s.FillFrom(dst, dtype, seed, 0) }

// FillFrom is [Stream.Fill] with the pattern from byte patternOffset on, whole
// elements: parts of an array, wherever they lie, are filled as if it were one.
func (s *Stream) FillFrom(dst Region, dtype Dtype, seed uint64, patternOffset int64) {
	o := s.next(raw.KindFill)
	o.Dst, o.DstOffset, o.Bytes = dst.handle(), uint64(dst.Offset), uint64(dst.Bytes)
	o.SrcOffset = uint64(patternOffset)
	o.Dtype, o.Value = uint8(dtype), seed
	s.push()
}

// Verification is what [Stream.Verify] found.
type Verification struct {
	Mismatches uint64 // elements that differ
	FirstBad   int64  // offset of the first one in the region, in bytes, -1 if none
}

// Verify waits for the stream, then compares region with the pattern of seed,
// from byte patternOffset of the pattern on. A difference is no error here,
// but the run as a whole fails (exit code 114).
func (s *Stream) Verify(region Region, dtype Dtype, seed uint64, patternOffset int64) (Verification, error) {
	s.Flush()
	if s.err != nil {
		return Verification{}, s.err
	}
	var result raw.VerifyResult
	errno := s.world.host.BufferVerify(s.handle, region.handle(), region.Offset, region.Bytes, uint32(dtype), seed, patternOffset, &result)
	return Verification{result.Mismatches, result.FirstBad}, s.world.check("buffer_verify", errno)
}

// VerifyReduced is [Stream.Verify] against the reduction of the patterns of
// seeds, at most 4096: what a reducing collective makes of ranks' patterns.
// Where a type cannot hold every partial result, it allows for rounding.
func (s *Stream) VerifyReduced(region Region, dtype Dtype, red RedOp, seeds []uint64, patternOffset int64) (Verification, error) {
	s.Flush()
	if s.err != nil {
		return Verification{}, s.err
	}
	var first *uint64
	if len(seeds) > 0 {
		first = &seeds[0]
	}
	var result raw.VerifyResult
	errno := s.world.host.BufferVerifyReduced(s.handle, region.handle(), region.Offset, region.Bytes, uint32(dtype), uint32(red),
		first, uint32(len(seeds)), patternOffset, &result)
	return Verification{result.Mismatches, result.FirstBad}, s.world.check("buffer_verify_reduced", errno)
}

// Digest waits for the stream, then computes the 128-bit digest of region. If
// name is not empty, the run's result shows it under that name, rank by rank.
func (s *Stream) Digest(region Region, name string) ([2]uint64, error) {
	s.Flush()
	if s.err != nil {
		return [2]uint64{}, s.err
	}
	var digest raw.Digest
	errno := s.world.host.BufferDigest(s.handle, region.handle(), region.Offset, region.Bytes, name, &digest)
	return [2]uint64{digest.Low, digest.High}, s.world.check("buffer_digest", errno)
}
