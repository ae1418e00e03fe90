package flight

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// virtualEpochUnixNanos is the date that virtual time counts from, the first
// instant of the year 2000: a date that nobody takes for that of the run, and
// the same for each run.
const virtualEpochUnixNanos = 946_684_800e9

// VirtualClock is a clock that reads what now gives: nanoseconds of virtual
// time, from the first instant of the year 2000 on.
func VirtualClock(now func() int64) Clock {
	return Clock{base: time.Unix(0, virtualEpochUnixNanos), virtual: now}
}

// CreateVirtual makes the recorder of a simulated rank, which shares its
// process with all others and reads virtual time: room for the given number of
// records is reserved in memory and takes none until it is used, and the file
// is written by [Writer.Save] or [Writer.Close], where a full disk is an error.
// What it holds depends on nothing but what was recorded.
func CreateVirtual(path string, meta Meta, capacityRecords int64, now func() int64) (*Writer, error) {
	capacityRecords = min(max(capacityRecords, 1), maxRecords)
	bytes := int(headerBytes + capacityRecords*RecordBytes)
	mem, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("flight recorder: reserve %d bytes of addresses: %w", bytes, err)
	}
	// A page of 2 MiB for the first record of each of thousands of ranks is too much.
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // an older kernel has no such pages
	w := &Writer{Clock: VirtualClock(now), Level: LevelSlice, mem: mem, header: headerOf(mem), path: path, names: make(map[string]uint16)}
	w.ahead.Store(capacityRecords) // all of it can be written to
	w.limit.Store(capacityRecords)
	w.setGrown(capacityRecords)
	w.publish(meta, capacityRecords)
	return w, nil
}

// Log reads what a recorder made by [CreateVirtual] holds at this moment. It is
// good until the recorder is closed and need not be closed itself.
func (w *Writer) Log() *Log {
	h := w.header
	return &Log{Meta: Meta{Rank: int(h.rank), Size: int(h.size), PID: int(h.pid)}, header: h, mem: w.mem, borrowed: true}
}

// Save writes the file of a recorder made by [CreateVirtual]: all that was
// recorded so far. The recorder goes on.
func (w *Writer) Save() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.save()
}

// save is called with mu held.
func (w *Writer) save() error {
	if w.mem == nil || w.path == "" {
		return nil
	}
	used := min(w.header.next.Load(), w.header.grown.Load())
	if err := writeSparse(w.path, w.mem[:headerBytes+used*RecordBytes]); err != nil {
		return fmt.Errorf("flight file: %w", err)
	}
	return nil
}

// Discard gives up what a recorder made by [CreateVirtual] holds, without a
// file. No other call may follow.
func (w *Writer) Discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.path = ""
	if w.mem != nil {
		_ = w.closeVirtual() // there is nothing to save
	}
}

// closeVirtual is called with mu held.
func (w *Writer) closeVirtual() error {
	err := w.save()
	mem := w.mem
	w.mem, w.header = nil, nil
	if e := unix.Munmap(mem); err == nil {
		err = e
	}
	return err
}

// sparseBytes is the unit in which zeros are left out of files: a block of
// most file systems.
const sparseBytes = 4 << 10

// writeSparse writes a file of which only the blocks take disk space that are
// not all zeros: most of a header is.
func writeSparse(path string, content []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	if err := file.Truncate(int64(len(content))); err != nil {
		return err
	}
	for at := 0; at < len(content); {
		end := nextRun(content, at)
		if end == at {
			at = min(at+sparseBytes, len(content))
			continue
		}
		if _, err := file.WriteAt(content[at:end], int64(at)); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// nextRun is the end of the blocks from at on that are not all zeros, at itself
// if the first one is.
func nextRun(content []byte, at int) (end int) {
	for at < len(content) {
		block := content[at:min(at+sparseBytes, len(content))]
		if isZero(block) {
			break
		}
		at += len(block)
	}
	return at
}

func isZero(block []byte) bool {
	var zeros [sparseBytes]byte
	return bytes.Equal(block, zeros[:len(block)])
}
