package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// The collectives below are submitted like any operation. Regions are of this
// rank; a source that is the zero Region means in place: the input lies where
// the output goes.

// AllReduce combines src of every rank, element by element, into dst of every
// rank. All have one size.
func (s *Stream) AllReduce(c *Comm, red RedOp, dtype Dtype, dst, src Region) {
	s.uniform(c, raw.Call{Op: raw.CollectiveAllReduce, Redop: uint8(red), Dtype: uint8(dtype)}, dst, src, dst.Bytes)
}

// AllGather puts src of every rank one after the other into dst, which is as
// many times larger as there are ranks. In place, this rank's part lies in dst
// already.
func (s *Stream) AllGather(c *Comm, dtype Dtype, dst, src Region) {
	part := c.part(dst)
	s.partwise(c, raw.Call{Op: raw.CollectiveAllGather, Dtype: uint8(dtype)}, dst, src, part, dst.Bytes, part)
}

// ReduceScatter combines src of every rank, element by element, and puts this
// rank's part of the result, one of as many as there are ranks, into dst. In
// place, dst is the whole input, and this rank's part of it is replaced.
func (s *Stream) ReduceScatter(c *Comm, red RedOp, dtype Dtype, dst, src Region) {
	call := raw.Call{Op: raw.CollectiveReduceScatter, Redop: uint8(red), Dtype: uint8(dtype)}
	if src == (Region{}) {
		s.partwise(c, call, dst, src, c.part(dst), dst.Bytes, 0)
		return
	}
	s.partwise(c, call, dst, src, c.part(src), c.part(src), src.Bytes)
}

// Broadcast copies src of the root to dst of every rank. Other ranks' src is
// not used; in place, the root's dst is the source.
func (s *Stream) Broadcast(c *Comm, dtype Dtype, root int, dst, src Region) {
	call := raw.Call{Op: raw.CollectiveBroadcast, Root: hostIndex(root), Dtype: uint8(dtype)}
	s.uniform(c, call, dst, c.onlyAt(root, src), dst.Bytes)
}

// ReduceTo combines src of every rank, element by element, into dst of the
// root. Other ranks' dst is not used, unless it is done in place.
func (s *Stream) ReduceTo(c *Comm, red RedOp, dtype Dtype, root int, dst, src Region) {
	call := raw.Call{Op: raw.CollectiveReduce, Root: hostIndex(root), Redop: uint8(red), Dtype: uint8(dtype)}
	if src == (Region{}) {
		s.uniform(c, call, dst, src, dst.Bytes)
		return
	}
	if c.Rank() != root {
		dst = Region{}
	}
	s.uniform(c, call, dst, src, src.Bytes)
}

// Gather puts src of every rank one after the other into dst of the root, which
// is as many times larger as there are ranks. Other ranks' dst is not used,
// unless it is done in place: the root's part then lies in its dst already, and
// the others' dst is their part.
func (s *Stream) Gather(c *Comm, dtype Dtype, root int, dst, src Region) {
	call := raw.Call{Op: raw.CollectiveGather, Root: hostIndex(root), Dtype: uint8(dtype)}
	switch {
	case c.Rank() == root:
		s.partwise(c, call, dst, src, c.part(dst), dst.Bytes, c.part(dst))
	case src == (Region{}):
		s.uniform(c, call, dst, src, dst.Bytes)
	default:
		s.uniform(c, call, Region{}, src, src.Bytes)
	}
}

// Scatter puts the parts of the root's src, as many as there are ranks, into
// dst of each. Other ranks' src is not used; in place, the root's dst is the
// whole input.
func (s *Stream) Scatter(c *Comm, dtype Dtype, root int, dst, src Region) {
	call := raw.Call{Op: raw.CollectiveScatter, Root: hostIndex(root), Dtype: uint8(dtype)}
	switch {
	case c.Rank() != root:
		s.uniform(c, call, dst, Region{}, dst.Bytes)
	case src == (Region{}):
		s.partwise(c, call, dst, src, c.part(dst), dst.Bytes, 0)
	default:
		s.partwise(c, call, dst, src, c.part(src), c.part(src), src.Bytes)
	}
}

// AllToAll sends part i of src to rank i, where it is part j of dst if this is
// rank j. Both have as many parts as there are ranks. It is in place on all ranks
// or on none.
func (s *Stream) AllToAll(c *Comm, dtype Dtype, dst, src Region) {
	s.partwise(c, raw.Call{Op: raw.CollectiveAllToAll, Dtype: uint8(dtype)}, dst, src, c.part(dst), dst.Bytes, dst.Bytes)
}

// Barrier holds the stream until every rank's stream has come to its barrier.
func (s *Stream) Barrier(c *Comm) {
	s.call(c, raw.Call{Op: raw.CollectiveBarrier}, Region{}, Region{}, 0)
}

// Parts say what goes to and comes from each rank in an all-to-all, in
// elements: how many, and where they lie in the input and in the output.
type Parts struct {
	Send, SendOffsets []uint64
	Recv, RecvOffsets []uint64
}

// AllToAllV is [Stream.AllToAll] with parts of any size. What one rank sends
// and another receives must agree.
func (s *Stream) AllToAllV(c *Comm, dtype Dtype, dst, src Region, parts Parts) {
	all := [...][]uint64{parts.Send, parts.SendOffsets, parts.Recv, parts.RecvOffsets}
	for _, list := range all {
		if len(list) != c.Size() {
			s.refuse("all_to_all_v", ErrInvalid, "a list has more or fewer entries than there are ranks")
			return
		}
	}
	counts := s.countsOf(c)
	var at [len(all)]uint32
	for i, list := range all {
		part := counts[i*c.Size() : (i+1)*c.Size()]
		copy(part, list)
		at[i] = s.world.host.AddressOfCounts(part)
	}
	s.call(c, raw.Call{
		Op: raw.CollectiveAllToAllV, Dtype: uint8(dtype),
		SendCounts: at[0], SendOffsets: at[1], RecvCounts: at[2], RecvOffsets: at[3],
	}, dst, src, 0)
}

// countsOf is room for the counts of the next call, which the host reads when
// it is submitted.
func (s *Stream) countsOf(c *Comm) []uint64 {
	if s.counts == nil {
		s.counts = make([][]uint64, 2*heldMax)
	}
	if s.count == len(s.ops) {
		s.submit()
	}
	at := s.count
	if s.grouping {
		at = heldMax + min(s.grouped, heldMax-1)
	}
	if len(s.counts[at]) != 4*c.Size() {
		s.counts[at] = make([]uint64, 4*c.Size())
	}
	return s.counts[at]
}

// part is the size of one of as many parts of r as there are ranks, -1 if there
// is no such.
func (c *Comm) part(r Region) int64 {
	if r.Bytes%int64(c.Size()) != 0 {
		return -1
	}
	return r.Bytes / int64(c.Size())
}

// onlyAt is r at one rank and nothing at the others.
func (c *Comm) onlyAt(rank int, r Region) Region {
	if c.Rank() != rank {
		return Region{}
	}
	return r
}

// uniform submits a call whose input and output have one size, where they are
// used.
func (s *Stream) uniform(c *Comm, call raw.Call, dst, src Region, bytes int64) {
	if dst != (Region{}) && dst.Bytes != bytes || src != (Region{}) && src.Bytes != bytes {
		s.refuse(collectiveName(call.Op), ErrRange, "source and destination differ in size")
		return
	}
	s.call(c, call, dst, src, bytes)
}

// partwise submits a call whose regions are a part or all of the parts.
func (s *Stream) partwise(c *Comm, call raw.Call, dst, src Region, part, dstBytes, srcBytes int64) {
	if part < 0 || dst.Bytes != dstBytes || src != (Region{}) && src.Bytes != srcBytes {
		s.refuse(collectiveName(call.Op), ErrRange, "the sizes of source and destination are not those of a part and of all parts")
		return
	}
	s.call(c, call, dst, src, part)
}

var dtypeBytes = [...]int64{U8: 1, I32: 4, I64: 8, F16: 2, BF16: 2, F32: 4, F64: 8}

// Bytes is the size of an element, 1 for an unknown type.
func (d Dtype) Bytes() int64 {
	if int(d) < len(dtypeBytes) {
		return dtypeBytes[d]
	}
	return 1
}

// call submits a call of bytes from one rank or for one rank, whole elements.
func (s *Stream) call(c *Comm, call raw.Call, dst, src Region, bytes int64) {
	element := Dtype(call.Dtype).Bytes()
	o := c.Options
	switch {
	case bytes%element != 0:
		s.refuse(collectiveName(call.Op), ErrRange, "not whole elements")
		return
	case len(o.Algorithm) >= 64 || o.SliceBytes < 0 || o.SliceBytes > 1<<32-1:
		s.refuse(collectiveName(call.Op), ErrInvalid, "the name of the algorithm or the size of slices is too long")
		return
	}
	call.Comm, call.Count, call.SliceBytes = c.handle, uint64(bytes/element), uint32(o.SliceBytes)
	call.Out, call.OutOffset = dst.handle(), uint64(dst.Offset)
	call.In, call.InOffset = src.handle(), uint64(src.Offset)
	call.Algorithm, call.AlgorithmLen = c.algorithm()
	if o.Warmup {
		call.Flags = 1
	}
	s.pushCall(call)
}

var collectiveNames = [...]string{
	raw.CollectiveAllReduce: "all_reduce", raw.CollectiveAllGather: "all_gather", raw.CollectiveReduceScatter: "reduce_scatter",
	raw.CollectiveBroadcast: "broadcast", raw.CollectiveReduce: "reduce", raw.CollectiveGather: "gather",
	raw.CollectiveScatter: "scatter", raw.CollectiveAllToAll: "all_to_all", raw.CollectiveAllToAllV: "all_to_all_v",
	raw.CollectiveBarrier: "barrier",
}

func collectiveName(number uint32) string { return collectiveNames[number] }
