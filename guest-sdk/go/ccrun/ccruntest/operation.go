package ccruntest

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// What every pair of ranks has, as many as on the cpu device.
const (
	signalSlots  = 1024
	sendChannels = 64
)

// check reports what an operation would fail with.
func (r *rank) check(o *pending) raw.Errno {
	switch o.Kind {
	case raw.KindCopy, raw.KindPut, raw.KindGet:
		if _, errno := r.region(o.Src, o.SrcOffset, o.Bytes); errno != raw.OK {
			return errno
		}
		return r.checkDst(o)
	case raw.KindSignal, raw.KindWait:
		return r.at(o.Peer, o.Slot, signalSlots)
	case raw.KindSend:
		if errno := r.at(o.Peer, o.Slot, sendChannels); errno != raw.OK {
			return errno
		}
		_, errno := r.region(o.Src, o.SrcOffset, o.Bytes)
		return errno
	case raw.KindRecv:
		if errno := r.at(o.Peer, o.Slot, sendChannels); errno != raw.OK {
			return errno
		}
		return r.checkDst(o)
	case raw.KindReduce:
		return r.checkReduce(o)
	case raw.KindFill:
		if errno := r.elements(uint32(o.Dtype), o.Bytes, o.SrcOffset); errno != raw.OK {
			return errno
		}
		return r.checkDst(o)
	case raw.KindEventRecord, raw.KindEventWait:
		_, errno := find(r, r.events, o.Event)
		return errno
	case raw.KindGemm:
		_, _, _, errno := r.matrices(o.gemm)
		return errno
	case raw.KindCopyBox, raw.KindGetBox:
		return r.checkBox(o.box)
	case raw.KindCall:
		return raw.OK // read and checked
	}
	return r.fail(raw.ErrnoUnsupported, "ccruntest does not know this operation")
}

func (r *rank) checkDst(o *pending) raw.Errno {
	_, errno := r.region(o.Dst, o.DstOffset, o.Bytes)
	return errno
}

// at checks a peer and one of the slots or channels there.
func (r *rank) at(peer, number, count uint32) raw.Errno {
	if number >= count {
		return r.fail(raw.ErrnoInvalid, "no such slot or channel")
	}
	return r.peer(peer)
}

// elements checks that bytes of a type, from an offset on, are whole elements.
func (r *rank) elements(dtype uint32, bytes, offset uint64) raw.Errno {
	if int64(dtype) >= int64(len(numbers)) {
		return r.fail(raw.ErrnoInvalid, "no such type")
	}
	if size := uint64(numbers[dtype].size); bytes%size != 0 || offset%size != 0 {
		return r.fail(raw.ErrnoRange, "not whole elements")
	}
	return raw.OK
}

func (r *rank) checkReduce(o *pending) raw.Errno {
	if errno := r.elements(uint32(o.Dtype), o.Bytes, 0); errno != raw.OK {
		return errno
	}
	if o.Redop > raw.RedopAvg {
		return r.fail(raw.ErrnoInvalid, "no such operator")
	}
	for _, view := range o.sources[:o.SourceCount] {
		if _, errno := r.region(view.Buffer, view.Offset, o.Bytes); errno != raw.OK {
			return errno
		}
	}
	return r.checkDst(o)
}

// execute carries an operation out that is no message, the world's lock held;
// it may wait.
func (r *rank) execute(o *pending) raw.Errno {
	if errno := r.check(o); errno != raw.OK {
		return errno
	}
	w := r.world
	dst, _ := r.region(o.Dst, o.DstOffset, o.Bytes)
	src, _ := r.region(o.Src, o.SrcOffset, o.Bytes)
	switch o.Kind {
	case raw.KindCopy, raw.KindPut, raw.KindGet:
		copy(dst, src)
	case raw.KindSignal:
		to := slot{r.number, int(o.Peer), o.Slot}
		w.slots[to] = max(w.slots[to], o.Value)
	case raw.KindWait:
		from := slot{int(o.Peer), r.number, o.Slot}
		return w.await(-1, func() bool { return w.slots[from] >= o.Value })
	case raw.KindReduce:
		var sources [8][]byte
		for i, view := range o.sources[:o.SourceCount] {
			sources[i], _ = r.region(view.Buffer, view.Offset, o.Bytes)
		}
		reduce(o.Dtype, o.Redop, dst, sources[:o.SourceCount])
	case raw.KindGemm:
		r.multiply(o.gemm)
	case raw.KindCopyBox, raw.KindGetBox:
		r.copyBox(o.box)
	case raw.KindFill:
		fill(dst, o.Dtype, o.Value, o.SrcOffset)
	case raw.KindEventRecord:
		r.events[o.Event].complete = o.recorded
	case raw.KindEventWait:
		e := r.events[o.Event]
		return w.await(-1, func() bool { return e.complete >= o.recorded })
	}
	return raw.OK
}

func (r *rank) BufferFill(stream, buffer uint64, offset, bytes int64, dtype uint32, seed uint64) raw.Errno {
	return r.submitOne(stream, raw.Op{
		Kind: raw.KindFill, Dst: buffer, DstOffset: uint64(offset), Bytes: uint64(bytes), Dtype: uint8(dtype), Value: seed,
	})
}

func (r *rank) BufferVerify(stream, buffer uint64, offset, bytes int64, dtype uint32, seed uint64, patternOffset int64, result *raw.VerifyResult) raw.Errno {
	defer r.lock()()
	if errno := r.sync(stream, -1); errno != raw.OK {
		return errno
	}
	if errno := r.elements(dtype, uint64(bytes), uint64(patternOffset)); errno != raw.OK {
		return errno
	}
	data, errno := r.region(buffer, uint64(offset), uint64(bytes))
	if errno != raw.OK {
		return errno
	}
	*result = verify(data, uint8(dtype), seed, uint64(patternOffset))
	r.world.result.Mismatches += int(result.Mismatches)
	return raw.OK
}

func (r *rank) BufferVerifyReduced(stream, buffer uint64, offset, bytes int64, dtype, redop uint32, seeds *uint64, seedsLen uint32, patternOffset int64, result *raw.VerifyResult) raw.Errno {
	defer r.lock()()
	if errno := r.sync(stream, -1); errno != raw.OK {
		return errno
	}
	if seedsLen == 0 || redop > raw.RedopAvg {
		return r.fail(raw.ErrnoInvalid, "no seeds, or no such operator")
	}
	if errno := r.elements(dtype, uint64(bytes), uint64(patternOffset)); errno != raw.OK {
		return errno
	}
	data, errno := r.region(buffer, uint64(offset), uint64(bytes))
	if errno != raw.OK {
		return errno
	}
	*result = verifyReduced(data, uint8(dtype), uint8(redop), seedsAt(seeds, seedsLen), uint64(patternOffset))
	r.world.result.Mismatches += int(result.Mismatches)
	return raw.OK
}

func (r *rank) BufferDigest(stream, buffer uint64, offset, bytes int64, name string, result *raw.Digest) raw.Errno {
	defer r.lock()()
	if errno := r.sync(stream, -1); errno != raw.OK {
		return errno
	}
	data, errno := r.region(buffer, uint64(offset), uint64(bytes))
	if errno != raw.OK {
		return errno
	}
	*result = digest(data)
	if name != "" {
		r.world.result.addDigest(name, r.number, len(r.world.ranks), result)
	}
	return raw.OK
}

func (r *rank) Copy(stream, dst uint64, dstOffset int64, src uint64, srcOffset, bytes int64) raw.Errno {
	return r.move(raw.KindCopy, stream, dst, dstOffset, src, srcOffset, bytes)
}

func (r *rank) Put(stream, dst uint64, dstOffset int64, src uint64, srcOffset, bytes int64) raw.Errno {
	return r.move(raw.KindPut, stream, dst, dstOffset, src, srcOffset, bytes)
}

func (r *rank) Get(stream, dst uint64, dstOffset int64, src uint64, srcOffset, bytes int64) raw.Errno {
	return r.move(raw.KindGet, stream, dst, dstOffset, src, srcOffset, bytes)
}

func (r *rank) move(kind uint32, stream, dst uint64, dstOffset int64, src uint64, srcOffset, bytes int64) raw.Errno {
	return r.submitOne(stream, raw.Op{
		Kind: kind, Dst: dst, DstOffset: uint64(dstOffset), Src: src, SrcOffset: uint64(srcOffset), Bytes: uint64(bytes),
	})
}

func (r *rank) Signal(stream uint64, peer, slot uint32, value uint64) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindSignal, Peer: peer, Slot: slot, Value: value})
}

func (r *rank) Wait(stream uint64, peer, slot uint32, value uint64) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindWait, Peer: peer, Slot: slot, Value: value})
}

func (r *rank) SignalValue(peer, number uint32, value *uint64) raw.Errno {
	defer r.lock()()
	*value = r.world.slots[slot{int(peer), r.number, number}]
	return r.at(peer, number, signalSlots)
}

func (r *rank) Send(stream uint64, peer uint32, src uint64, srcOffset, bytes int64, channel uint32) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindSend, Peer: peer, Src: src, SrcOffset: uint64(srcOffset), Bytes: uint64(bytes), Slot: channel})
}

func (r *rank) Recv(stream uint64, peer uint32, dst uint64, dstOffset, bytes int64, channel uint32) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindRecv, Peer: peer, Dst: dst, DstOffset: uint64(dstOffset), Bytes: uint64(bytes), Slot: channel})
}

func (r *rank) Reduce(stream uint64, o *raw.Op) raw.Errno {
	reduce := *o
	reduce.Kind = raw.KindReduce
	var accepted uint32
	return r.Submit(stream, &reduce, 1, &accepted)
}

func (r *rank) EventRecord(stream, event uint64) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindEventRecord, Event: event})
}

func (r *rank) EventWait(stream, event uint64) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindEventWait, Event: event})
}
