package flight

// Counters of a rank, beside its records.
type Counters struct {
	Records     int64 // appended, dropped ones included
	Dropped     int64 // of them, for want of room
	HostCalls   int64 // blocking host calls that leave no record
	BadCalls    int64 // guest calls refused with an errno
	ShareHits   int64 // look-ups answered from the cache
	ShareMisses int64 // look-ups that asked the peer's rendezvous
	BufferBytes int64 // device memory in use, bytes
	BufferPeak  int64 // its highest value
	Verified    int64 // bytes that the host has verified
	Mismatches  int64 // elements that differed
}

// CountBadCall counts a guest call that was refused.
func (w *Writer) CountBadCall() { w.header.badCalls.Add(1) }

// CountHostCall counts progress that leaves no record.
func (w *Writer) CountHostCall() { w.header.hostCalls.Add(1) }

// CountShare counts a look-up of a share.
func (w *Writer) CountShare(hit bool) {
	if hit {
		w.header.shareHits.Add(1)
		return
	}
	w.header.shareMisses.Add(1)
}

// CountVerified counts bytes verified and elements found wrong.
func (w *Writer) CountVerified(bytes, mismatches int64) {
	w.header.verified.Add(bytes)
	w.header.mismatches.Add(mismatches)
}

// CountBuffer accounts device memory: positive when allocated, negative when
// freed.
func (w *Writer) CountBuffer(bytes int64) {
	now := w.header.bufferBytes.Add(bytes)
	for {
		peak := w.header.bufferPeak.Load()
		if now <= peak || w.header.bufferPeak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// Counters reads the counters of the rank that writes.
func (w *Writer) Counters() Counters { return w.header.counters() }

// Counters reads the counters as they are now.
func (l *Log) Counters() Counters { return l.header.counters() }

func (h *header) counters() Counters {
	return Counters{
		Records: h.next.Load(), Dropped: h.dropped.Load(),
		HostCalls: h.hostCalls.Load(), BadCalls: h.badCalls.Load(),
		ShareHits: h.shareHits.Load(), ShareMisses: h.shareMisses.Load(),
		BufferBytes: h.bufferBytes.Load(), BufferPeak: h.bufferPeak.Load(),
		Verified: h.verified.Load(), Mismatches: h.mismatches.Load(),
	}
}
