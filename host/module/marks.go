package module

import (
	"math"
	"slices"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Notes is told what a guest says of its own doings, which no device hears of.
type Notes interface {
	// CollectiveBegun gives the record that the collective's end will write, but
	// for its end, and the name of its algorithm.
	CollectiveBegun(r *flight.Record, algorithm string)
	// CollectiveEnded gives the number of the one that has ended.
	CollectiveEnded(sequence uint32)
	// MarkBegun gives a handle that no other open mark has.
	MarkBegun(handle uint64, name string)
	// MarkEnded gives the handle of the one that has ended.
	MarkEnded(handle uint64)
}

// Limits on what a rank may have open at a time.
const (
	maxOpenCollectives = 64
	maxOpenMarks       = 256
)

// warmup is the bit of a collective's Aux that leaves it out of statistics;
// the other bits are the index of the algorithm's name.
const warmup = 1 << 31

// trace is what a guest has said of its own doings.
type trace struct {
	term     op.Term         // of the scalar calls, set by tag
	sequence uint32          // of the collective begun last
	open     []flight.Record // collectives begun and not ended, in order
	names    map[string]uint16
}

// openMark is what a mark handle names.
type openMark struct {
	name  uint16
	start int64
}

// checkTerm refuses a collective that was never begun.
func (t *trace) checkTerm(term *op.Term) error {
	if term.Collective > t.sequence {
		return refuse(abi.Invalid, "collective: %d was never begun", term.Collective)
	}
	return nil
}

// tag sets the place of the following scalar operations. invalid: flow or step
// over 65535, or a collective never begun.
func tag(c *call) error {
	flow, step := c.uint32(3), c.uint32(4)
	if flow > math.MaxUint16 || step > math.MaxUint16 {
		return refuse(abi.Invalid, "flow and step: at most %d", math.MaxUint16)
	}
	term := op.Term{
		Collective: c.uint32(0), Chunk: c.uint32(1), Slice: c.uint32(2),
		Flow: uint16(flow), Step: uint16(step), Message: c.uint32(5),
	}
	if err := c.trace.checkTerm(&term); err != nil {
		return err
	}
	c.trace.term = term
	return nil
}

// collectiveBegin writes the sequence number of a new collective. limit: too
// many are open, or 2^32-1 were begun.
func collectiveBegin(c *call) error {
	t := &c.trace
	if len(t.open) >= maxOpenCollectives || t.sequence == math.MaxUint32 {
		return refuse(abi.Limit, "%d collectives are open", len(t.open))
	}
	r, err := c.decodeCollective(c.in)
	if err != nil {
		return err
	}
	t.sequence++
	r.Collective = t.sequence
	r.Start = c.config.Device.Now()
	t.open = append(t.open, r)
	c.config.Recorder.BeginCollective(r.Collective, r.Red)
	if c.config.Notes != nil {
		c.config.Notes.CollectiveBegun(&t.open[len(t.open)-1], t.nameOf(uint16(r.Aux&^warmup)))
	}
	put32(c.out[0], r.Collective)
	return nil
}

// decodeCollective reads a collective structure into the record that its end
// will write.
func (c *call) decodeCollective(b []byte) (flight.Record, error) {
	none := flight.Record{}
	kind, size, group, isWarmup := get32(b), get64(b[8:]), get32(b[32:]), get32(b[36:])
	ranks := get32(b[20:])
	switch {
	case kind > math.MaxUint8 || !op.CollectiveOp(kind).Valid():
		return none, refuse(abi.Invalid, "op: %d is not a collective", kind)
	case !op.Dtype(b[4]).Valid() || !op.RedOp(b[5]).Valid():
		return none, refuse(abi.Invalid, "dtype or redop: not a value of the enumeration")
	case size > math.MaxInt64:
		return none, refuse(abi.Invalid, "bytes: over 2^63-1")
	case uint64(ranks) > uint64(c.config.Size):
		return none, refuse(abi.Invalid, "ranks: %d of a world of %d", ranks, c.config.Size)
	case group > math.MaxUint16:
		return none, refuse(abi.Invalid, "group: at most %d", math.MaxUint16)
	case isWarmup > 1:
		return none, refuse(abi.Invalid, "warmup: not 0 or 1")
	case get16(b[6:]) != 0 || get64(b[40:]) != 0:
		return none, errReserved
	}
	algorithm, err := c.algorithm(get32(b[24:]), get32(b[28:]))
	if err != nil {
		return none, err
	}
	if ranks == 0 {
		ranks = uint32(c.config.Size)
	}
	return flight.Record{
		Bytes: size, Chunk: ranks, Slice: get32(b[16:]), Step: uint16(b[5]), Peer: -1,
		Aux: uint32(algorithm) | isWarmup*warmup, Kind: uint8(op.Collective), Type: b[4], Red: uint8(kind), Group: uint16(group),
	}, nil
}

// algorithm is the index of the name that a collective structure points to; an
// empty one is allowed.
func (c *call) algorithm(pointer, bytes uint32) (uint16, error) {
	if bytes == 0 {
		return 0, nil
	}
	name, err := c.region(uint64(pointer), uint64(bytes), 1)
	if err == nil {
		err = checkName(name)
	}
	if err != nil {
		return 0, inField("algorithm", err)
	}
	return c.nameIndex(name), nil
}

// maxNameIndex is the highest index that a flight file gives out.
const maxNameIndex = 255

// nameIndex asks the recorder once for each name: a guest names the same
// algorithm over and over. Past what a flight file can hold, names are empty
// and nothing is kept.
func (c *call) nameIndex(name []byte) uint16 {
	if index, ok := c.trace.names[string(name)]; ok {
		return index
	}
	if len(c.trace.names) >= maxNameIndex {
		return 0
	}
	index := c.config.Recorder.Name(string(name))
	c.trace.names[string(name)] = index
	return index
}

// nameOf is the name that has an index, "" if none has.
func (t *trace) nameOf(index uint16) string {
	for name, i := range t.names {
		if i == index {
			return name
		}
	}
	return ""
}

// collectiveEnd records the collective. not_found: it is not open.
func collectiveEnd(c *call) error {
	t, sequence := &c.trace, c.uint32(0)
	at := slices.IndexFunc(t.open, func(r flight.Record) bool { return r.Collective == sequence })
	if at < 0 {
		return refuse(abi.NotFound, "collective %d is not open", sequence)
	}
	c.appendMark(&t.open[at], flight.StatusOK)
	t.open = slices.Delete(t.open, at, at+1)
	if c.config.Notes != nil {
		c.config.Notes.CollectiveEnded(sequence)
	}
	return nil
}

// appendMark writes r, which ends now, unless nothing is to be recorded.
func (i *Instance) appendMark(r *flight.Record, status uint8) {
	if i.config.Recorder.Level < flight.LevelCollective {
		return
	}
	r.End, r.Status = i.config.Device.Now(), status
	i.config.Recorder.Append(r)
}

// markBegin writes the handle of a new mark.
func markBegin(c *call) error {
	if err := c.marks.full(); err != nil {
		return err
	}
	if err := checkName(c.in); err != nil {
		return inField("name", err)
	}
	m := openMark{name: c.nameIndex(c.in), start: c.config.Device.Now()}
	handle := c.marks.add(m)
	put64(c.out[0], handle)
	if c.config.Notes != nil {
		c.config.Notes.MarkBegun(handle, c.trace.nameOf(m.name))
	}
	return nil
}

// markEnd records the mark. not_found: it is not open.
func markEnd(c *call) error {
	m, err := c.marks.get(c.stack[0])
	if err != nil {
		return refuse(abi.NotFound, "mark: %v", err)
	}
	r := m.record()
	c.appendMark(&r, flight.StatusOK)
	if c.config.Notes != nil {
		c.config.Notes.MarkEnded(c.stack[0])
	}
	return c.marks.remove(c.stack[0])
}

func (m openMark) record() flight.Record {
	return flight.Record{Start: m.start, Peer: -1, Aux: uint32(m.name), Kind: uint8(op.Mark)}
}

// closeTrace records what is still open as aborted.
func (i *Instance) closeTrace() {
	for n := range i.trace.open {
		i.appendMark(&i.trace.open[n], flight.StatusAborted)
	}
	i.trace.open = nil
	for h, m := range i.marks.all() {
		r := m.record()
		i.appendMark(&r, flight.StatusAborted)
		_ = i.marks.remove(h)
	}
}
