package flight

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"golang.org/x/sys/unix"
)

// Log is a flight file opened for reading, of a rank that runs, has ended or
// was killed.
type Log struct {
	Meta
	header   *header
	mem      []byte
	borrowed bool // the memory is the recorder's
}

// ErrFormat is wrapped by the error of [Open] for a file that is not a flight
// file of this version or is damaged.
var ErrFormat = errors.New("not a flight file")

// Open maps a flight file. Nothing in it is trusted: a wrong file is an error
// that wraps [ErrFormat].
func Open(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() < headerBytes {
		return nil, fmt.Errorf("%s: %w", path, ErrFormat)
	}
	mem, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: map: %w", path, err)
	}
	h := headerOf(mem)
	if h.magic.Load() != magicWord() || h.version != version || h.rank < 0 || h.rank >= h.size {
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("%s: %w", path, ErrFormat)
	}
	return &Log{Meta: Meta{Rank: int(h.rank), Size: int(h.size), PID: int(h.pid)}, header: h, mem: mem}, nil
}

// Close unmaps the file.
func (l *Log) Close() error {
	if l.borrowed {
		return nil
	}
	return unix.Munmap(l.mem)
}

// State is the phase of the rank's life.
func (l *Log) State() State { return State(l.header.state.Load()) }

// Collective is the sequence number and op.CollectiveOp of the collective that
// the rank began last, 0 if none.
func (l *Log) Collective() (seq uint32, collectiveOp uint8) {
	word := l.header.collective.Load()
	return uint32(word), uint8(word >> 32)
}

// WallOffset is what to add to a record's time to get Unix nanoseconds.
func (l *Log) WallOffset() int64 { return l.header.wallOffset }

// Name is the name with the given index.
func (l *Log) Name(index uint16) string {
	if uint32(index) >= min(l.header.nameCount.Load(), maxNames) {
		return ""
	}
	return cString(l.header.names[index][:])
}

// count is how many records the file can be read for: a rank may be writing
// past the mapping, or may have truncated the file at its end.
func (l *Log) count() int64 {
	return max(0, min(l.header.next.Load(), l.header.grown.Load(), (int64(len(l.mem))-headerBytes)/RecordBytes))
}

// Records yields the whole records in the order in which they were begun to be
// written; one torn by a kill is left out.
func (l *Log) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, r := range l.RecordsFrom(0) {
			if !yield(r) {
				return
			}
		}
	}
}

// RecordsFrom yields the whole records from index i on, with their indexes. In
// the log of a rank that runs, an index that is left out is of a record that is
// being written.
func (l *Log) RecordsFrom(i int64) iter.Seq2[int64, Record] {
	return func(yield func(int64, Record) bool) {
		n := l.count()
		for ; i < n; i++ {
			r := recordAt(l.mem, i)
			if commitOf(r).Load() != uint32(i)+1 {
				continue
			}
			if !yield(i, *r) {
				return
			}
		}
	}
}

// Last is the newest whole record.
func (l *Log) Last() (Record, bool) {
	for i := l.count() - 1; i >= 0; i-- {
		if r := recordAt(l.mem, i); commitOf(r).Load() == uint32(i)+1 {
			return *r, true
		}
	}
	return Record{}, false
}
