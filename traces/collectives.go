package traces

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// warmupFlag marks a warm-up in the Aux field of a collective's record; the
// rest of Aux is the name index of the algorithm.
const warmupFlag = 1 << 31

// gathering puts the records of all ranks together, collective by collective.
type gathering struct {
	run       *Run
	numbering numbering
	byKey     map[collectiveKey]*draft
	damaged   int64 // records that no recorder can have written
	unplaced  int64 // records that belong to nobody knows which collective
}

// draft is a collective whose messages are not sorted yet.
type draft struct {
	Collective
	claim    claim // of the first rank that recorded its end
	messages []Message
	sends    []Message
	waits    []interval
}

// interval is a time in which a rank waited.
type interval struct {
	rank       int
	start, end int64
}

// Collectives puts the records of all ranks together and gives the
// collectives by group and sequence number, as they are at the first call.
func (r *Run) Collectives() []*Collective {
	return r.gather().list
}

// gathered is what the records of all ranks make together.
type gathered struct {
	list     []*Collective
	damaged  int64 // records that no recorder can have written
	unplaced int64 // records that belong to nobody knows which collective
}

// gather is Collectives, and how many records did not become part of one. The
// files are put together once: the summary and every output read the same.
func (r *Run) gather() *gathered {
	r.once.Do(func() { r.all = r.gatherNow() })
	return r.all
}

func (r *Run) gatherNow() *gathered {
	marks := make([][]flight.Record, len(r.logs))
	for i, log := range r.logs {
		marks[i] = marksOf(log)
	}
	g := gathering{run: r, numbering: newNumbering(marks), byKey: make(map[collectiveKey]*draft)}
	for i, log := range r.logs {
		g.addOperations(log, g.addMarks(log, marks[i]))
	}
	drafts := make([]*draft, 0, len(g.byKey))
	for _, d := range g.byKey {
		drafts = append(drafts, d)
	}
	slices.SortFunc(drafts, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Sequence, b.Sequence))
	})
	list := make([]*Collective, len(drafts))
	for i, d := range drafts {
		d.finish(len(r.logs))
		list[i] = &d.Collective
	}
	return &gathered{list, g.damaged, g.unplaced}
}

// addMarks enters a rank's records of its collectives, and gives its drafts by
// the rank's own numbers: operations name these.
func (g *gathering) addMarks(log *flight.Log, marks []flight.Record) map[uint32]*draft {
	drafts := make(map[uint32]*draft, len(marks))
	keys := g.numbering.keys(marks)
	for i, key := range keys {
		drafts[marks[i].Collective] = g.addMark(key, log, &marks[i])
	}
	g.unplaced += int64(len(marks) - len(keys))
	return drafts
}

// addOperations enters a rank's operations. They come after its marks, which a
// rank records last.
func (g *gathering) addOperations(log *flight.Log, drafts map[uint32]*draft) {
	var last *draft
	var lastSequence uint32
	for rec := range log.Records() {
		if !believable(&rec) {
			g.damaged++
			continue
		}
		if rec.Collective == 0 || op.Kind(rec.Kind) >= op.Collective {
			continue
		}
		if rec.Collective != lastSequence {
			last, lastSequence = g.draftOf(drafts, rec.Collective), rec.Collective
		}
		if last == nil {
			g.unplaced++
			continue
		}
		last.add(log, &rec)
	}
}

// draftOf finds the draft of a rank's own number, nil if the rank has no mark
// of it and it could be of any group.
func (g *gathering) draftOf(drafts map[uint32]*draft, sequence uint32) *draft {
	if d := drafts[sequence]; d != nil {
		return d
	}
	key, ok := g.numbering.unmarked(sequence)
	if !ok {
		return nil
	}
	drafts[sequence] = g.draft(key)
	return drafts[sequence]
}

func (g *gathering) draft(key collectiveKey) *draft {
	d := g.byKey[key]
	if d == nil {
		d = newDraft(key, g.run.size)
		g.byKey[key] = d
	}
	return d
}

func newDraft(key collectiveKey, size int) *draft {
	return &draft{Collective: Collective{Sequence: key.sequence, Group: key.group, Ranks: size}}
}

func isCollective(rec *flight.Record) bool { return op.Kind(rec.Kind) == op.Collective }

// addMark enters a rank's record of the collective as a whole.
func (g *gathering) addMark(key collectiveKey, log *flight.Log, rec *flight.Record) *draft {
	d := g.draft(key)
	d.addMark(log, rec, g.run.size)
	return d
}

// addMark enters what a rank says of a collective, in a run of the given size.
// The lowest rank says what the collective is.
func (d *draft) addMark(log *flight.Log, rec *flight.Record, size int) {
	says := claimOf(log.Rank, rec, size)
	if !d.described() {
		d.claim = says
		d.Op, d.Bytes, d.Type, d.Ranks = says.op, says.bytes, says.dtype, says.ranks
		d.Algorithm, d.SliceBytes, d.Red = printable(log.Name(uint16(rec.Aux&^warmupFlag))), rec.Slice, op.RedOp(rec.Step)
		d.Warmup = rec.Aux&warmupFlag != 0
	}
	if d.Disagreement == "" && !d.claim.agrees(says) {
		d.Disagreement = fmt.Sprintf("%s: %s, %s", d.label(), d.claim, says)
	}
	d.Parts = append(d.Parts, Part{Rank: log.Rank, Start: rec.Start, Finish: rec.End, Status: rec.Status, Marked: true, number: rec.Collective})
}

// described reports whether a rank has said what the collective is.
func (d *draft) described() bool {
	for i := range d.Parts {
		if d.Parts[i].Marked {
			return true
		}
	}
	return false
}

// add enters one operation. Files are read in the order of ranks, so the part
// of this rank is the last one if it is there.
func (d *draft) add(log *flight.Log, rec *flight.Record) {
	if len(d.Parts) == 0 || d.Parts[len(d.Parts)-1].Rank != log.Rank {
		d.Parts = append(d.Parts, Part{Rank: log.Rank, Start: rec.Start, number: rec.Collective})
	}
	p := &d.Parts[len(d.Parts)-1]
	p.opEnd = max(p.opEnd, rec.End)
	if !p.Marked {
		p.Start = min(p.Start, rec.Start)
	}
	if p.Status == flight.StatusOK {
		p.Status = rec.Status
	}
	kind := op.Kind(rec.Kind)
	if kind == op.Wait || kind == op.EventWait {
		d.waits = append(d.waits, interval{log.Rank, rec.Start, rec.End})
	}
	if kind.Moves() && rec.Bytes < maxMessageBytes {
		d.addMessage(log, rec, kind)
	}
}

// addMessage sorts a movement of bytes into those that leave the source by its
// own doing, those that the destination fetches, and those inside one rank.
func (d *draft) addMessage(log *flight.Log, rec *flight.Record, kind op.Kind) {
	m := Message{
		Start: rec.Start, End: rec.End, Bytes: int64(rec.Bytes), Chunk: rec.Chunk, Slice: rec.Slice, ID: rec.Message,
		Source: int32(log.Rank), Dest: int32(log.Rank), Flow: rec.Flow, Step: rec.Step, Kind: kind, Status: rec.Status,
	}
	crosses := rec.Peer >= 0 && int(rec.Peer) < log.Size && int(rec.Peer) != log.Rank
	switch {
	case !crosses || kind.Local():
		d.Local = append(d.Local, m)
	case kind == op.Send:
		m.Dest = rec.Peer
		d.sends = append(d.sends, m)
	case kind == op.Put:
		m.Dest = rec.Peer
		d.messages = append(d.messages, m)
	default: // get, get_box, recv, and a reduce that reads a peer's memory
		m.Source = rec.Peer
		d.messages = append(d.messages, m)
	}
}

// finish computes what needs all records of the collective.
func (d *draft) finish(files int) {
	ended := 0
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.opEnd > 0 {
			p.Finish = max(p.opEnd, p.Start)
		}
		if p.Marked && p.Status == flight.StatusOK {
			ended++
		}
	}
	d.pairSends()
	d.addWaits()
	d.Transfers = group(d.messages, d.sends)
	d.Complete = ended == min(d.Ranks, files) && d.described()
	d.messages, d.sends, d.waits = nil, nil, nil
}

// addWaits adds up, for each rank, the time in which at least one of its
// streams waited.
func (d *draft) addWaits() {
	slices.SortFunc(d.waits, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.start, b.start))
	})
	var p *Part
	var covered int64
	for _, w := range d.waits {
		if p == nil || p.Rank != w.rank {
			if p = d.part(w.rank); p == nil {
				continue
			}
			covered = p.Start
		}
		from, to := max(w.start, covered), min(w.end, p.Finish)
		if to > from {
			p.Wait += to - from
			covered = to
		}
	}
}
