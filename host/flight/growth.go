package flight

import "golang.org/x/sys/unix"

// growAhead is how many records before its end the file begins to grow, so
// that the new blocks are ready when they are needed.
const growAhead = segment / RecordBytes / 2

// stepRecords is how many records' pages are made present at a time, by who
// needs the first of them: the kernel zeroes pages, and what it has just zeroed
// is still in a near cache when it is written. A thread that did so ahead would
// take the processor from the guest for a millisecond, and the ranks of a
// collective, each at another time, would wait for one another.
const stepRecords = 256

// room reports whether record i has a place, and sees to it that the next ones
// will have.
func (w *Writer) room(i int64) bool {
	grown := w.header.grown.Load()
	if i >= grown {
		return w.grow(i)
	}
	for ahead := w.ahead.Load(); i >= ahead; ahead = w.ahead.Load() {
		if end := min(ahead+stepRecords, grown); w.ahead.CompareAndSwap(ahead, end) {
			w.touch(headerBytes+ahead*RecordBytes, headerBytes+end*RecordBytes)
			if ahead%(segment/RecordBytes) == segment/RecordBytes-growAhead {
				go w.grow(grown)
			}
		}
	}
	return true
}

// grow makes room for record i and reports whether it did. Once it could not,
// it never does again: the records end there, without a gap, and dropping the
// rest costs no system call each.
func (w *Writer) grow(i int64) bool {
	if i >= w.limit.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mem == nil {
		return false
	}
	for grown := w.header.grown.Load(); i >= grown; grown = w.header.grown.Load() {
		if i >= w.limit.Load() {
			return false
		}
		at := headerBytes + grown*RecordBytes
		n := min(segment, int64(len(w.mem))-at)
		if reserve(int(w.file.Fd()), at, n) != nil {
			w.limit.Store(grown)
			return false
		}
		w.setGrown(grown + n/RecordBytes)
	}
	return true
}

// setGrown says how many records the file can hold now.
func (w *Writer) setGrown(records int64) {
	w.header.grown.Store(records)
}

// touch makes pages present for writing, so that Append does not fault.
func (w *Writer) touch(from, to int64) {
	const populateWrite = 23 // MADV_POPULATE_WRITE, Linux 5.14; older kernels fault on first use
	_ = unix.Madvise(w.mem[from:to], populateWrite)
}
