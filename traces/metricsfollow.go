package traces

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// settleNanos is how long after its last record a collective that all its ranks
// have ended counts as settled although they are busy with something: whether
// with it, nobody can say.
const settleNanos = int64(1e9)

// follower reads the flight files of a run while it lasts, each record once,
// and gives each collective when nothing of it can be missing any more.
type follower struct {
	dir      string
	run      *Run // the files that are there
	opened   map[string]bool
	clock    flight.Clock
	patience int64 // settleNanos

	feeds  []*feed // one for each of run.logs
	groups map[uint16]bool
	open   map[collectiveKey]*assembly
	full   []*assembly // of open, those that all ranks have ended

	spare [][]flight.Record // memory of what has settled

	damaged  int64 // records that no recorder can have written
	unplaced int64 // records that belong to nobody knows which collective
	late     int64 // records of collectives that were taken for settled
}

// feed is the reading of one rank's file.
type feed struct {
	log    *flight.Log
	next   int64             // index of the first record that has not been read
	pieces map[uint32]*piece // by the rank's own number, those that have not settled
	fresh  []*piece          // of them, ended, but maybe not whole
	placed uint32            // collectives up to this number of the rank have a key
	counts map[uint16]uint32 // of them, by group

	looked int64  // when begun was read
	begun  uint32 // collectives that the rank had begun then
	ended  int64  // collectives that the rank has ended
	later  int64  // of them, after it was looked
}

// piece is what a rank recorded of one collective.
type piece struct {
	number     uint32 // the rank's own
	mark       flight.Record
	marked     bool
	whole      bool  // no more of it can come
	settled    bool  // it has been given
	last       int64 // end of its last record
	operations []flight.Record
}

// assembly is a collective of which more may come.
type assembly struct {
	key    collectiveKey
	ranks  int // that take part, by what the ranks have said so far
	pieces []rankPiece
	queued bool // all have ended it, or had by what was said
}

type rankPiece struct {
	feed *feed
	*piece
}

func newFollower(dir string) *follower {
	return &follower{
		dir: dir, run: &Run{ranks: make(map[int]bool)}, opened: make(map[string]bool), clock: flight.NewClock(), patience: settleNanos,
		groups: make(map[uint16]bool), open: make(map[collectiveKey]*assembly),
	}
}

// close unmaps the files.
func (f *follower) close() error { return f.run.Close() }

// poll reads what was recorded since the last time and gives the collectives
// that have settled.
func (f *follower) poll(give func(*Collective)) {
	f.openFiles()
	for _, feed := range f.feeds {
		feed.look(f.clock.Now())
		f.read(feed, false)
		if feed.log.Pending() > 0 {
			feed.fresh = slices.DeleteFunc(feed.fresh, func(p *piece) bool { return p.settled })
			continue
		}
		// What the rank had ended it had submitted, so all of it is recorded now.
		ended := feed.fresh
		feed.fresh = nil
		f.read(feed, false)
		for _, p := range ended {
			p.whole = true
		}
	}
	f.place()
	silence := f.clock.Now() - f.patience
	f.full = slices.DeleteFunc(f.full, func(a *assembly) bool {
		settled := a.settled(silence)
		if settled {
			f.settle(a, give)
		}
		return settled
	})
}

// finish reads the rest after the run and gives all that is left, as
// [Run.Collectives] would.
func (f *follower) finish(give func(*Collective)) {
	f.openFiles()
	for _, feed := range f.feeds {
		feed.look(f.clock.Now())
		f.read(feed, true)
		feed.fresh = nil
	}
	f.place()
	f.placeRest()
	left := make([]*assembly, 0, len(f.open))
	for _, a := range f.open {
		left = append(left, a)
	}
	slices.SortFunc(left, func(a, b *assembly) int {
		return cmp.Or(cmp.Compare(a.key.group, b.key.group), cmp.Compare(a.key.sequence, b.key.sequence))
	})
	for _, a := range left {
		f.settle(a, give)
	}
	f.full = nil
}

// openFiles opens the files that have come since. One that is not whole yet is
// tried again.
func (f *follower) openFiles() {
	if f.run.size > 0 && len(f.feeds) == f.run.size {
		return
	}
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(f.dir), "rank-*.flight"))
	for _, path := range paths {
		if f.opened[path] || f.run.open(path) != nil {
			continue
		}
		f.opened[path] = true
		f.feeds = append(f.feeds, &feed{
			log: f.run.logs[len(f.run.logs)-1], pieces: make(map[uint32]*piece), counts: make(map[uint16]uint32),
		})
	}
}

// read takes the new records of a rank. Up to the end of the run it stops at
// one that is being written, so as to read it the next time.
func (f *follower) read(feed *feed, toEnd bool) {
	for i, rec := range feed.log.RecordsFrom(feed.next) {
		if i != feed.next && !toEnd {
			return
		}
		feed.next = i + 1
		if !believable(&rec) {
			f.damaged++
			continue
		}
		if rec.Collective == 0 || op.Kind(rec.Kind) > op.Collective {
			continue
		}
		f.add(feed, &rec)
	}
}

// add puts a record to its collective.
func (f *follower) add(feed *feed, rec *flight.Record) {
	p := feed.pieces[rec.Collective]
	if p == nil {
		if rec.Collective <= feed.placed {
			f.late++
			return
		}
		p = &piece{number: rec.Collective, operations: f.spareRecords()}
		feed.pieces[rec.Collective] = p
	}
	p.last = max(p.last, rec.End)
	switch {
	case !isCollective(rec):
		p.operations = append(p.operations, *rec)
	case !p.marked:
		p.mark, p.marked = *rec, true
		f.groups[rec.Group] = true
		feed.fresh = append(feed.fresh, p)
		feed.end(rec)
	}
}

// look asks the rank how many collectives it has begun. Those that it ends
// while its records are read are open at that time.
func (feed *feed) look(now int64) {
	begun, _ := feed.log.Collective()
	feed.looked, feed.begun, feed.later = now, max(feed.begun, begun), 0
}

// end counts a collective that the rank has ended.
func (feed *feed) end(rec *flight.Record) {
	feed.ended++
	if rec.End > feed.looked {
		feed.later++
		return
	}
	feed.begun = max(feed.begun, rec.Collective) // the one begun last need not have the highest number
}

// inFlight is how many collectives the rank had open when it was looked at.
func (feed *feed) inFlight() int64 { return max(0, int64(feed.begun)-(feed.ended-feed.later)) }

// place gives keys to what ranks have ended, in the order of their own numbers:
// the k-th in a group has the key k, see [numbering].
func (f *follower) place() {
	for _, feed := range f.feeds {
		for {
			p := feed.pieces[feed.placed+1]
			if p == nil || !p.marked {
				break
			}
			feed.placed++
			feed.counts[p.mark.Group]++
			f.assemble(collectiveKey{p.mark.Group, feed.counts[p.mark.Group]}, feed, p)
		}
	}
}

// placeRest places what a rank has not ended, or ended without its record of
// one before: with one group the rank's own number is the key.
func (f *follower) placeRest() {
	var numbering numbering
	numbering.groups = len(f.groups) > 1
	for group := range f.groups {
		numbering.group = group
	}
	for _, feed := range f.feeds {
		for number, p := range feed.pieces {
			if number <= feed.placed {
				continue
			}
			key, ok := numbering.unmarked(number)
			if !ok {
				f.unplaced += p.records()
				continue
			}
			f.assemble(key, feed, p)
		}
		feed.placed = ^uint32(0)
	}
}

// records is how many records a piece is of.
func (p *piece) records() int64 {
	n := int64(len(p.operations))
	if p.marked {
		n++
	}
	return n
}

func (f *follower) assemble(key collectiveKey, feed *feed, p *piece) {
	a := f.open[key]
	if a == nil {
		a = &assembly{key: key}
		f.open[key] = a
	}
	a.pieces = append(a.pieces, rankPiece{feed, p})
	if !p.marked {
		return
	}
	a.ranks = max(a.ranks, claimOf(feed.log.Rank, &p.mark, f.run.size).ranks)
	if len(a.pieces) >= a.ranks && !a.queued {
		a.queued = true
		f.full = append(f.full, a)
	}
}

// settled reports whether nothing more of it is expected: all ranks have ended
// it, and of each it is whole, or its last record ended before the given time.
func (a *assembly) settled(before int64) bool {
	if len(a.pieces) < a.ranks {
		return false
	}
	for _, p := range a.pieces {
		if !p.whole && p.last > before {
			return false
		}
	}
	return true
}

// settle gives a collective and forgets it.
func (f *follower) settle(a *assembly, give func(*Collective)) {
	delete(f.open, a.key)
	slices.SortFunc(a.pieces, func(a, b rankPiece) int { return a.feed.log.Rank - b.feed.log.Rank })
	d := newDraft(a.key, f.run.size)
	operations := 0
	for _, p := range a.pieces {
		operations += len(p.operations)
	}
	d.messages = make([]Message, 0, operations)
	for _, p := range a.pieces {
		delete(p.feed.pieces, p.number)
		if p.marked {
			d.addMark(p.feed.log, &p.mark, f.run.size)
		}
		for i := range p.operations {
			d.add(p.feed.log, &p.operations[i])
		}
		f.reuse(p.operations)
		p.operations, p.settled = nil, true // it may still be among the fresh
	}
	d.finish(len(f.run.logs))
	give(&d.Collective)
}

// spareMax bounds the memory that is kept for what comes.
const spareMax = 256

func (f *follower) reuse(records []flight.Record) {
	if len(f.spare) < spareMax {
		f.spare = append(f.spare, records[:0])
	}
}

func (f *follower) spareRecords() (records []flight.Record) {
	if n := len(f.spare); n > 0 {
		records, f.spare = f.spare[n-1], f.spare[:n-1]
	}
	return records
}
