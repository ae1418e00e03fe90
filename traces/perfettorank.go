package traces

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// rankTrace is one rank on its way into a Perfetto trace.
type rankTrace struct {
	out      *packetWriter
	sequence *packetSequence
	process  uint64
	pid      int64
	log      *flight.Log
	links    *arrows
	entries  []rankEntry
	inFlight int64 // bytes of messages under way
}

// rankEntry is something that a rank did.
type rankEntry struct {
	entry
	part     *Part  // of a collective as a whole
	row      int    // a stream, or one of those below
	position uint64 // of a send or a receive in its channel
	signal   int32  // of a put: the place of the signal that tells of it, 0 for none
}

// Rows of a rank that are not streams.
const (
	rowCollectives = -2
	rowMarks       = -1
)

// gather collects what the rank did, by row.
func (t *rankTrace) gather(places map[uint32]*Collective, parts []rankPart) {
	records := 0
	for range t.log.Records() {
		records++
	}
	t.entries = make([]rankEntry, 0, len(parts)+records)
	for _, p := range parts {
		t.entries = append(t.entries, rankEntry{
			entry: entry{
				Record: flight.Record{Start: p.part.Start, End: max(p.part.Start, p.part.Finish), Status: p.part.Status, Kind: uint8(op.Collective), Peer: -1},
				log:    t.log, kind: op.Collective, collective: p.collective,
			},
			part: p.part, row: rowCollectives,
		})
	}
	for rec := range t.log.Records() {
		if !believable(&rec) || isCollective(&rec) {
			continue
		}
		e := rankEntry{entry: entry{rec, t.log, op.Kind(rec.Kind), places[rec.Collective]}, row: int(rec.Stream), position: t.links.position(t.log.Rank, &rec)}
		if e.kind == op.Mark {
			e.row = rowMarks
		}
		t.entries = append(t.entries, e)
	}
	slices.SortStableFunc(t.entries, func(a, b rankEntry) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	t.leadPuts()
}

// leadPuts finds the signal that tells of each put: the next one of its stream
// to the same rank.
func (t *rankTrace) leadPuts() {
	type told struct {
		row        int
		peer       int32
		collective uint32
	}
	next := make(map[told]int32)
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := &t.entries[i]
		key := told{e.row, e.Peer, e.Record.Collective}
		switch e.kind {
		case op.Signal:
			next[key] = int32(i)
		case op.Put:
			e.signal = next[key]
		}
	}
}

// write draws everything.
func (t *rankTrace) write() {
	var lanes []*lane
	var tracks []uint64
	var spans []span
	for first := 0; first < len(t.entries); {
		row := t.entries[first].row
		spans = spans[:0]
		next := first
		for ; next < len(t.entries) && t.entries[next].row == row; next++ {
			spans = append(spans, span{t.entries[next].Start, t.entries[next].End, int32(next)})
		}
		for i, l := range lanesOfSpans(spans) {
			lanes, tracks = append(lanes, l), append(tracks, t.track(row, i))
		}
		first = next
	}
	for lane, e := range inOrder(lanes) {
		if t.out.err != nil {
			return
		}
		if e.begin {
			t.begin(tracks[lane], e)
		} else {
			t.end(tracks[lane], e)
		}
	}
}

// begin draws the beginning of an entry. An arrow begins with it, since what
// it tells of may be seen by others before it is over.
func (t *rankTrace) begin(track uint64, at *edge) {
	e, s := &t.entries[at.item], t.sequence
	s.begin(track, e.name(), e.category())
	if e.part != nil {
		e.part.arguments(s, e.collective)
	} else {
		e.arguments(s)
	}
	if e.collective != nil && e.hasTerm() {
		s.correlate(e.collective.chunkNumber(e.Chunk))
	}
	if at.late > 0 {
		s.int(argDrawnLate, at.late)
	}
	t.leave(e)
	if e.crosses() {
		t.inFlight += e.moved()
		s.counter(t.inFlight)
	}
	s.write(at.at)
}

// end draws the end of an entry. An arrow ends with it: that is when what it
// tells of was seen.
func (t *rankTrace) end(track uint64, at *edge) {
	e, s := &t.entries[at.item], t.sequence
	s.end(track)
	t.arrive(e)
	if e.crosses() {
		t.inFlight -= e.moved()
		s.counter(t.inFlight)
	}
	s.write(at.at)
}

// chunkNumber is a number for a chunk of a collective, short for the first ones
// of a run. Two that are the same would only be shown together.
func (c *Collective) chunkNumber(chunk uint32) uint64 {
	return uint64(c.Sequence)<<20 ^ uint64(c.Group)<<52 ^ uint64(chunk)
}

// leave has the arrows begin that lead away from an entry. That of a put goes
// by its signal to the first wait that this ends.
func (t *rankTrace) leave(e *rankEntry) {
	if e.Status != flight.StatusOK {
		return
	}
	switch e.kind {
	case op.Send:
		t.sequence.arrow(slotTo(t.log.Rank, &e.Record).number(op.Send, e.position))
	case op.Signal:
		slot := slotTo(t.log.Rank, &e.Record)
		for _, value := range t.links.endedBy(slot, e.Bytes) {
			t.sequence.arrow(slot.number(op.Signal, value))
		}
	case op.Put:
		if e.signal == 0 || t.entries[e.signal].Status != flight.StatusOK {
			return
		}
		signal := &t.entries[e.signal].Record
		slot := slotTo(t.log.Rank, signal)
		if ended := t.links.endedBy(slot, signal.Bytes); len(ended) > 0 {
			t.sequence.arrow(slot.number(op.Signal, ended[0]))
		}
	}
}

// arrive has the arrow end that leads to an entry.
func (t *rankTrace) arrive(e *rankEntry) {
	if e.Status != flight.StatusOK {
		return
	}
	slot := slotFrom(t.log.Rank, &e.Record)
	switch {
	case e.kind == op.Recv:
		t.sequence.arrowEnd(slot.number(op.Send, e.position))
	case e.kind == op.Wait && t.links.ends(slot, e.Bytes):
		t.sequence.arrowEnd(slot.number(op.Signal, e.Bytes))
	}
}

// moved is the bytes of a message, as far as they are believed.
func (e *rankEntry) moved() int64 { return int64(min(e.Bytes, maxMessageBytes)) }

// name is what the entry is called: by the field's term where it has one.
func (e *rankEntry) name() string {
	switch {
	case e.part != nil:
		return e.collective.Op.String()
	case e.kind == op.Mark:
		return markName(e.log, &e.Record)
	case !e.hasTerm():
		return e.kind.String()
	}
	switch e.kind {
	case op.Put, op.Send:
		return schema[termSliceSend].name
	case op.Get, op.GetBox, op.Recv:
		return schema[termSliceRecv].name
	case op.Reduce:
		return schema[termSliceReduce].name
	case op.Copy, op.CopyBox:
		return schema[termSliceCopy].name
	default:
		return e.kind.String()
	}
}

func (e *rankEntry) category() category {
	switch e.kind {
	case op.Collective:
		return categoryCollective
	case op.Mark:
		return categoryMark
	case op.Wait, op.EventWait, op.Barrier, op.SyncStream, op.SyncEvent, op.SyncAny, op.ShareLookup:
		return categoryWait
	case op.Gemm, op.Fill, op.Verify, op.Digest:
		return categoryCompute
	}
	switch {
	case e.crosses():
		return categoryMessage
	case e.kind.Moves():
		return categoryLocal
	default:
		return categoryHost
	}
}

// arguments says what a record holds, under the names that the columns of the
// table have.
func (e *rankEntry) arguments(s *packetSequence) {
	s.string(argKind, e.kind.String())
	if e.Status != flight.StatusOK {
		s.string(argStatus, e.status())
	}
	if e.collective != nil {
		s.uint(argCollective, uint64(e.collective.Sequence))
		if e.collective.Group != 0 {
			s.uint(argGroup, uint64(e.collective.Group))
		}
	}
	if e.hasTerm() {
		s.uint(argChunk, uint64(e.Chunk))
		s.uint(argStep, uint64(e.Step))
		s.uint(argFlow, uint64(e.Flow))
		s.uint(argSlice, uint64(e.Slice))
		s.uint(argMessage, uint64(e.Message))
	}
	if e.hasPeer() {
		s.int(argPeer, int64(e.Peer))
	}
	if e.hasBytes() {
		s.uint(argBytes, e.Bytes)
	}
	if e.hasSlot() {
		s.uint(argSlot, uint64(e.Aux))
	}
	if e.hasValue() {
		s.uint(argValue, e.Bytes)
	}
	if e.hasType() {
		s.string(argDtype, op.Dtype(e.Type).String())
	}
	if e.hasRedOp() {
		s.string(argRedop, e.redOp().String())
	}
}

// arguments says what a rank did of a collective.
func (p *Part) arguments(s *packetSequence, c *Collective) {
	c.arguments(s)
	s.int(argSkew, p.Start-c.Start())
	s.int(argWait, p.Wait)
	if p.Status != flight.StatusOK {
		s.string(argStatus, failure(p.Status))
	}
}

// track describes the track of a lane of a row.
func (t *rankTrace) track(row, lane int) uint64 {
	switch row {
	case rowCollectives:
		return t.out.track(t.process, "collectives", nil)
	case rowMarks:
		return t.out.track(t.process, "marks", nil)
	}
	name, tid := "guest", t.pid
	if row > 0 {
		name = fmt.Sprintf("stream %d", row)
	}
	if row > 0 || lane > 0 {
		tid = t.out.newThread()
	}
	if lane > 0 {
		name = fmt.Sprintf("%s (%d)", name, lane+1)
	}
	return t.out.thread(t.process, t.pid, tid, name)
}
