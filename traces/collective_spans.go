package traces

import (
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// scene is one collective being turned into a trace.
type scene struct {
	*emitter
	c     *Collective
	id    identity
	level flight.Level // the smallest term that fits the budget
	root  SpanID
	name  string
	whole stretch   // of the collective
	ranks []stretch // of its parts
}

// collective emits the trace of one collective, at the finest level that the
// limits leave room for.
func (e *emitter) collective(c *Collective) {
	if len(c.Parts) == 0 {
		return
	}
	s := scene{emitter: e, c: c, id: newIdentity(e.info.RunID, c.Group, c.Sequence), name: c.Op.String()}
	s.root = s.id.span(place{term: termCollective})
	counts := s.counts()
	budget := min(e.options.PerCollective, e.left())
	s.level = e.options.Level
	for s.level > flight.LevelOff && counts[s.level] > budget {
		s.level--
	}
	lost := int64(counts[e.options.Level] - counts[s.level])
	e.dropped += lost
	if s.level == flight.LevelOff {
		return
	}
	s.whole = stretch{c.Start(), max(c.Start()+1, c.End())}
	for i := range c.Parts {
		s.ranks = append(s.ranks, stretch{c.Parts[i].Start, c.Parts[i].Finish}.within(s.whole))
	}
	s.collectiveSpan(lost)
	for i := range c.Parts {
		s.rankSpan(&c.Parts[i], s.ranks[i])
	}
	if s.level >= flight.LevelFlow {
		for i := range c.Transfers {
			s.transfer(&c.Transfers[i])
		}
	}
	if s.level >= flight.LevelSlice {
		s.localWork()
	}
}

// counts says how many spans the collective has at each level.
func (s *scene) counts() (n [flight.LevelMessage + 1]int) {
	var chunks, flows, pieces, messages int
	for i := range s.c.Transfers {
		t := &s.c.Transfers[i]
		for _, rank := range [...]int32{t.Source, t.Dest} {
			if s.c.part(int(rank)) != nil {
				chunks++
			}
		}
		flows += len(t.Flows)
		pieces += t.sliceSpans()
		for j := range t.Flows {
			messages += len(t.Flows[j].Messages)
		}
	}
	n[flight.LevelCollective] = 1 + len(s.c.Parts)
	n[flight.LevelFlow] = n[flight.LevelCollective] + chunks + flows
	n[flight.LevelSlice] = n[flight.LevelFlow] + pieces + len(s.c.Local)
	n[flight.LevelMessage] = n[flight.LevelSlice] + messages
	return n
}

func (s *scene) collectiveSpan(lost int64) {
	c := s.c
	algBW, busBW := bandwidth(c.Op, c.Bytes, c.Ranks, seconds(c.CCT()))
	attributes := []Attribute{
		textAttr("ccl.operation", c.Op.String()), textAttr("ccl.algorithm", c.Algorithm), intAttr("ccl.size", c.Ranks),
		intAttr("ccl.sequence", c.Sequence), intAttr("ccl.group", c.Group),
		intAttr("ccl.data.bytes", c.Bytes), intAttr("ccl.chunk.bytes", c.chunkBytes()), intAttr("ccl.slice.bytes", c.SliceBytes),
		textAttr("ccl.datatype", c.Type.String()), boolAttr("ccl.warmup", c.Warmup), intAttr("ccl.cct_ns", c.CCT()),
		intAttr("ccl.straggler.rank", c.Straggler()), floatAttr("ccl.algbw", algBW), floatAttr("ccl.busbw", busBW),
		textAttr("ccl.level", s.level.String()), intAttr("ccl.spans.dropped", lost),
	}
	if c.Op == op.AllReduce || c.Op == op.ReduceScatter || c.Op == op.ReduceTo {
		attributes = append(attributes, textAttr("ccl.reduce_op", c.Red.String()))
	}
	why := failure(c.Failed())
	switch {
	case c.Disagreement != "":
		why = "desync"
	case why == "" && !c.Complete:
		why = "incomplete"
	}
	s.emit(termCollective, s.whole, &Span{
		Trace: s.id.trace, ID: s.root, Name: s.name, Attributes: attributes,
		Links: []Link{{s.runTrace, s.runSpanID}}, Failure: why, Resource: s.resources.run,
	})
}

// chunkBytes is the size of the largest rank-chunk.
func (c *Collective) chunkBytes() int64 {
	largest := int64(0)
	for i := range c.Transfers {
		largest = max(largest, c.Transfers[i].Bytes)
	}
	return largest
}

func (s *scene) rankSpan(p *Part, at stretch) {
	why := failure(p.Status)
	if why == "" && !p.Marked {
		why = "incomplete"
	}
	s.emit(termRank, at, &Span{
		Trace: s.id.trace, ID: s.rankID(int32(p.Rank)), Parent: s.root, Name: s.name + " rank",
		Attributes: []Attribute{intAttr("ccl.rank", p.Rank), intAttr("ccl.start_skew_ns", p.Start-s.c.Start()), intAttr("ccl.wait_ns", p.Wait)},
		Failure:    why, Resource: s.resources.byRank[p.Rank],
	})
}

// rank is the time of a rank's part, if it has one.
func (s *scene) rank(rank int32) (at stretch, ok bool) {
	i, ok := slices.BinarySearchFunc(s.c.Parts, int(rank), func(p Part, rank int) int { return p.Rank - rank })
	if !ok {
		return stretch{}, false
	}
	return s.ranks[i], true
}

func (s *scene) rankID(rank int32) SpanID { return s.id.span(place{term: termRank, rank: rank}) }

// end is one end of a transfer: the span of its chunk there, and what hangs
// below it.
type end struct {
	*Transfer
	chunk      term
	slice      term
	rank, peer int32
	at         stretch
	alone      bool // this end moves all bytes
}

// ends are the source's and the destination's end.
func (t *Transfer) ends() (source, dest end) {
	at := stretch{t.Start, t.End}
	source = end{Transfer: t, chunk: termChunkSend, slice: termSliceSend, rank: t.Source, peer: t.Dest, at: at, alone: !t.Pulled}
	dest = end{Transfer: t, chunk: termChunkRecv, slice: termSliceRecv, rank: t.Dest, peer: t.Source, at: at, alone: !t.Pushed}
	for i, sent := range t.Sends {
		if i == 0 {
			source.at = stretch{sent.Start, sent.End}
		}
		source.at = stretch{min(source.at.start, sent.Start), max(source.at.end, sent.End)}
	}
	return source, dest
}

// place is the place of a term at this end.
func (e *end) place(t term) place {
	return place{term: t, rank: e.rank, peer: e.peer, step: e.Step, chunk: e.Chunk}
}

// transfer emits both ends of a rank-chunk's way. An end whose rank left no
// file is left out.
func (s *scene) transfer(t *Transfer) {
	source, dest := t.ends()
	var fromSource []Link
	if s.c.part(int(source.rank)) != nil {
		fromSource = []Link{{s.id.trace, s.id.span(source.place(termChunkSend))}}
	}
	s.chunkSpan(&source, nil)
	s.chunkSpan(&dest, fromSource)
	// The records of who moves say that it moves, so its file is there.
	for i := range t.Flows {
		s.flowSpan(mover(&source, &dest, t.Flows[i].Pulled), &t.Flows[i])
	}
	if s.level >= flight.LevelSlice {
		s.slices(&source, &dest)
	}
	if s.level >= flight.LevelMessage {
		for i := range t.Flows {
			s.messages(mover(&source, &dest, t.Flows[i].Pulled), &t.Flows[i])
		}
	}
}

// mover is the end that moves what is pulled, or not pulled.
func mover(source, dest *end, pulled bool) *end {
	if pulled {
		return dest
	}
	return source
}

func (s *scene) chunkSpan(e *end, links []Link) {
	part, ok := s.rank(e.rank)
	if !ok {
		return
	}
	if !e.alone { // what a peer does to a rank may begin before the rank does
		e.at.start = min(max(e.at.start, part.start), part.end)
		e.at.end = min(max(e.at.end, e.at.start), part.end)
	}
	e.at = e.at.within(part)
	s.emit(e.chunk, e.at, &Span{
		Trace: s.id.trace, ID: s.id.span(e.place(e.chunk)), Parent: s.rankID(e.rank),
		Attributes: []Attribute{
			intAttr("ccl.chunk.id", e.Chunk), intAttr("ccl.step", e.Step), intAttr("ccl.peer.rank", e.peer), intAttr("ccl.bytes", e.Bytes),
			intAttr("ccl.flow.count", len(e.Flows)), intAttr("ccl.rcct_ns", e.RCCT()),
		},
		Links: links, Failure: failure(e.Status), Resource: s.resources.byRank[e.rank],
	})
}

func (s *scene) flowSpan(e *end, f *Flow) {
	s.emit(termFlow, e.flow(f), &Span{
		Trace: s.id.trace, ID: s.flowID(e, f), Parent: s.id.span(e.place(e.chunk)),
		Attributes: []Attribute{
			intAttr("ccl.flow.id", f.ID), intAttr("ccl.chunk.id", e.Chunk), intAttr("ccl.step", e.Step), intAttr("ccl.peer.rank", e.peer),
			intAttr("ccl.bytes", f.Bytes), intAttr("ccl.message.count", len(f.Messages)), intAttr("ccl.fct_ns", f.FCT()),
		},
		Failure: failure(f.Status), Resource: s.resources.byRank[e.rank],
	})
}

// flow is the time of a flow below this end's chunk.
func (e *end) flow(f *Flow) stretch { return stretch{f.Start, f.End}.within(e.at) }

func (s *scene) flowID(e *end, f *Flow) SpanID {
	p := e.place(termFlow)
	p.flow, p.slice = f.ID, direction(f.Pulled)
	return s.id.span(p)
}

// direction keeps apart what two ranks move from each other and to each other.
func direction(pulled bool) uint32 {
	if pulled {
		return 1
	}
	return 0
}
