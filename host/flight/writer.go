package flight

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Meta is what a file says of its rank.
type Meta struct {
	Rank int
	Size int
	PID  int
}

// Writer is the recorder of one rank. Append, the lane calls and the counters
// may be called from any goroutine.
type Writer struct {
	Clock
	Level Level // what to record; set before the first Append

	header *header
	mem    []byte
	file   *os.File // nil of a virtual one
	path   string   // of the file that a virtual one is saved to

	limit atomic.Int64 // records that the file will ever hold
	ahead atomic.Int64 // the record from which on pages are not known to be present

	mu    sync.Mutex // guards growing and names
	names map[string]uint16
}

// Create makes the file of a rank, which may grow to hold the given number of
// records, 4 billion at most. The first records and the header have their disk blocks when Create
// returns, so that a full disk is an error here and a counted drop later, and
// never a fault.
func Create(path string, meta Meta, capacityRecords int64) (*Writer, error) {
	capacityRecords = min(max(capacityRecords, segment/RecordBytes), maxRecords, fileLimitRecords())
	if capacityRecords < segment/RecordBytes {
		return nil, fmt.Errorf("flight file: %w: the limit of file sizes (ulimit -f) is too low", unix.EFBIG)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("flight file: %w", err)
	}
	w := &Writer{Clock: NewClock(), Level: LevelSlice, file: file, names: make(map[string]uint16)}
	if err := w.mapFile(capacityRecords); err != nil {
		file.Close()
		os.Remove(path)
		return nil, fmt.Errorf("flight file: %w", err)
	}
	w.publish(meta, capacityRecords)
	return w, nil
}

// publish fills in the header.
func (w *Writer) publish(meta Meta, capacityRecords int64) {
	h := w.header
	h.version, h.rank, h.size, h.pid = version, int32(meta.Rank), int32(meta.Size), int32(meta.PID)
	h.wallOffset, h.capacity = w.Wall(0), capacityRecords
	h.nameCount.Store(1) // index 0 is the empty name
	h.magic.Store(magicWord())
}

func (w *Writer) mapFile(capacityRecords int64) error {
	fd := int(w.file.Fd())
	total := headerBytes + capacityRecords*RecordBytes
	if err := reserve(fd, 0, headerBytes+segment); err != nil {
		return fmt.Errorf("allocate: %w", err)
	}
	if err := unix.Ftruncate(fd, total); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	mem, err := unix.Mmap(fd, 0, int(total), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map: %w", err)
	}
	w.mem, w.header = mem, headerOf(mem)
	w.touch(0, headerBytes+segment)
	w.ahead.Store(segment/RecordBytes - growAhead) // present too, but where growing is due
	w.limit.Store(capacityRecords)
	w.setGrown(segment / RecordBytes)
	return nil
}

// Append writes r; the caller keeps it. When the file is full or the disk is,
// the record is dropped and counted.
func (w *Writer) Append(r *Record) {
	if slot, number := w.Begin(); slot != nil {
		*slot = *r
		w.Commit(slot, number)
	}
}

// Begin gives the place of a new record, to be filled in where it lies and then
// passed to [Writer.Commit] with its number. It is zero. A nil place says that
// the record was dropped and counted, for want of room.
func (w *Writer) Begin() (place *Record, number uint32) {
	i := w.header.next.Add(1) - 1
	if i >= w.ahead.Load() && !w.room(i) {
		w.header.dropped.Add(1)
		return nil, 0
	}
	return recordAt(w.mem, i), uint32(i) + 1
}

// Commit says that the record is whole.
func (w *Writer) Commit(place *Record, number uint32) { storeRelease(&place.commit, number) }

// Name gives the index of a name, entering it if it is new: marks and
// algorithms are recorded by index. At most 255 names of 63 bytes are kept;
// others get index 0, the empty name.
func (w *Writer) Name(name string) uint16 {
	if name == "" {
		return 0
	}
	if len(name) >= nameBytes {
		name = name[:nameBytes-1]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i, ok := w.names[name]; ok {
		return i
	}
	i := w.header.nameCount.Load()
	if i >= maxNames {
		return 0
	}
	copy(w.header.names[i][:], name)
	w.header.nameCount.Store(i + 1)
	w.names[name] = uint16(i)
	return uint16(i)
}

// SetState says which phase of its life the rank is in.
func (w *Writer) SetState(s State) { w.header.state.Store(uint32(s)) }

// BeginCollective says which collective the rank is in.
func (w *Writer) BeginCollective(seq uint32, collectiveOp uint8) {
	w.header.collective.Store(uint64(seq) | uint64(collectiveOp)<<32)
}

// Close flushes nothing, since the kernel has every byte already; it gives
// disk space back that was not used and unmaps the file. A virtual recorder is
// saved. No other call may follow. A reader that has the file open keeps what
// it may read.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mem == nil {
		return nil
	}
	if w.file == nil {
		return w.closeVirtual()
	}
	used := min(w.header.next.Load(), w.header.grown.Load())
	mem := w.mem
	w.mem, w.header = nil, nil
	err := unix.Munmap(mem)
	if e := w.file.Truncate(headerBytes + used*RecordBytes); err == nil {
		err = e
	}
	if e := w.file.Close(); err == nil {
		err = e
	}
	return err
}
