package traces

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ccrun/ccrun/host/flight"
)

// MaxRanks is the largest number of ranks whose files one run directory may
// hold.
const MaxRanks = 1 << 20

// ErrNoFlight is wrapped by the error of [Open] for a directory without flight
// files.
var ErrNoFlight = errors.New("no flight files (rank-*.flight)")

// Run is the flight files of one run, opened for reading.
type Run struct {
	// Damaged says which files were left out, and why.
	Damaged []error

	logs  []*flight.Log // by rank
	ranks map[int]bool  // that have one
	size  int

	once sync.Once
	all  *gathered // by once
}

// Open maps the flight files of a run directory, whether the run is over or
// not. A file that is not whole enough to be read is left out and listed in
// Damaged; a directory without any flight file is an error that wraps
// [ErrNoFlight].
func Open(dir string) (*Run, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "rank-*.flight"))
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoFlight)
	}
	r := &Run{ranks: make(map[int]bool)}
	for _, path := range paths {
		if err := r.open(path); err != nil {
			r.Damaged = append(r.Damaged, err)
		}
	}
	slices.SortFunc(r.logs, func(a, b *flight.Log) int { return a.Rank - b.Rank })
	return r, nil
}

// Of reads the records of a run whose recorders are in this process, one of each
// rank, in their order. It is good for as long as they are.
func Of(logs []*flight.Log) *Run {
	r := &Run{ranks: make(map[int]bool), logs: slices.Clone(logs), size: len(logs)}
	for _, log := range logs {
		r.ranks[log.Rank] = true
	}
	return r
}

// open adds one file. The rank in its name, that in its header and the size
// that the other files give must agree.
func (r *Run) open(path string) error {
	digits := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "rank-"), ".flight")
	rank, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || rank >= MaxRanks {
		return fmt.Errorf("%s: %w: no rank in its name", path, flight.ErrFormat)
	}
	log, err := flight.Open(path)
	if err != nil {
		return err
	}
	sizeAgrees := r.size == 0 || r.size == log.Size
	if log.Rank != int(rank) || log.Size > MaxRanks || !sizeAgrees || r.ranks[log.Rank] {
		log.Close()
		return fmt.Errorf("%s: %w: rank %d of %d does not fit in", path, flight.ErrFormat, log.Rank, log.Size)
	}
	r.size, r.ranks[log.Rank] = log.Size, true
	r.logs = append(r.logs, log)
	return nil
}

// escapeGlob makes a directory name mean itself in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// Size is the number of ranks of the run, 0 if no file could be read.
func (r *Run) Size() int { return r.size }

// Close unmaps the files.
func (r *Run) Close() error {
	var errs []error
	for _, log := range r.logs {
		errs = append(errs, log.Close())
	}
	r.logs = nil
	return errors.Join(errs...)
}

// maxTime bounds the times that are believed, so that no difference of two
// overflows: 2^61 nanoseconds are 73 years.
const maxTime = 1 << 61

// maxMessageBytes bounds the length of one message that is believed.
const maxMessageBytes = 1 << 48

// believable reports whether a record can have been written by a recorder.
func believable(rec *flight.Record) bool {
	return rec.Start >= 0 && rec.Start <= rec.End && rec.End < maxTime
}
