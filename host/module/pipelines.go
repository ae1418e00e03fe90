package module

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// Limits on what a guest can have the host keep.
const (
	maxPipelines       = 256
	maxPipelineEntries = 1 << 20
	maxPipelineRanks   = 1 << 22 // in the list that entries refer to
	maxPipelineEdges   = 1 << 23 // destinations of all buckets
	pipelineSlots      = 4       // signal slots that a pipeline may use
	defaultInFlight    = 2
)

// pipe is what a pipeline handle names.
type pipe struct {
	pipeParams
	number  int // of the rank's pipelines: the same on all ranks
	size    int // of the world
	ranks   []int32
	entries []pipeline.Entry
	places  []entryPlace

	plan     *pipeline.Plan // nil until it is built
	tasks    []pipeline.Task
	layouts  []pipeline.Layout
	staging  []int64 // bytes that each task holds
	proposed bool    // to the other ranks, some of which may have agreed: nothing can be changed any more
	agreed   bool
	differs  error  // not nil if they found that they do not
	mine     []bool // by bucket: whether this rank has a part in it

	machine *pipeline.Machine // of the present or last run, nil before the first
	run     pipeRun
	pool    stagingPool
	reached []op.Buffer // peers' buffers that buckets are copied from
	runs    int
}

// pipeParams is a pipeline structure.
type pipeParams struct {
	bucketBytes int64
	limits      pipeline.Limits
	checksum    bool
	warmup      bool
	firstSlot   uint32
	firstWire   uint32
	channels    uint32 // send channels from there on
	name        string
}

// entryPlace is where an entry's box lies on this rank.
type entryPlace struct {
	src, dst         op.View
	srcRow, srcPlane int64
	dstRow, dstPlane int64
}

const (
	checksumFlag = 1 << iota
	pipelineWarmupFlag
)

// pipelineCreate writes the handle of a new pipeline.
func pipelineCreate(c *call) error {
	if err := c.pipes.full(); err != nil {
		return err
	}
	p := &pipe{number: c.pipesMade, size: c.config.Size}
	if err := c.decodePipeline(&p.pipeParams, c.in); err != nil {
		return err
	}
	c.pipesMade++
	put64(c.out[0], c.pipes.add(p))
	return nil
}

func (c *call) decodePipeline(p *pipeParams, b []byte) error {
	l := &p.limits
	var err error
	if p.bucketBytes, err = size("bucket_bytes", b); err != nil {
		return err
	}
	if l.MaxBytes, err = size("max_bytes", b[8:]); err != nil {
		return err
	}
	counts := [...]*int{&l.MaxBuckets, &l.MaxInFlight}
	for n, to := range counts {
		*to = int(get32(b[16+4*n:]))
	}
	if l.MaxInFlight == 0 {
		l.MaxInFlight = defaultInFlight
	}
	l.Window = int(get32(b[28:]))
	for _, f := range [...]struct {
		name string
		at   int
	}{{"admission", 24}, {"oversize", 32}, {"publish", 36}} {
		if v := get32(b[f.at:]); uint64(v) >= enumValues(f.name) {
			return inField(f.name, errEnum)
		}
	}
	l.Policy, l.Oversize, l.Publish = pipeline.Policy(b[24]), pipeline.Oversize(b[32]), pipeline.Publish(b[36])
	flags := get32(b[40:])
	if flags&^(checksumFlag|pipelineWarmupFlag) != 0 || get64(b[64:]) != 0 || get64(b[72:]) != 0 {
		return errReserved
	}
	p.checksum, p.warmup = flags&checksumFlag != 0, flags&pipelineWarmupFlag != 0
	if l.Policy == pipeline.Windowed && l.Window == 0 {
		return refuse(abi.Invalid, "window: the windowed policy needs one of at least 1 bucket")
	}
	return first(c.decodeWires(p, b), c.decodePipelineName(p, b))
}

// decodeWires reads which signal slots and send channels the pipeline uses.
func (c *call) decodeWires(p *pipeParams, b []byte) error {
	p.firstSlot, p.firstWire = get32(b[44:]), get32(b[48:])
	wires := get32(b[52:])
	if uint64(p.firstSlot)+pipelineSlots > uint64(c.facts.SignalSlots) {
		return refuse(abi.Invalid, "first_slot: %d slots from %d on, of %d", pipelineSlots, p.firstSlot, c.facts.SignalSlots)
	}
	if wires == 0 && p.firstWire < c.facts.SendChannels {
		wires = c.facts.SendChannels - p.firstWire
	}
	if wires == 0 || uint64(p.firstWire)+uint64(wires) > uint64(c.facts.SendChannels) {
		return refuse(abi.Invalid, "first_channel: %d channels from %d on, of %d", wires, p.firstWire, c.facts.SendChannels)
	}
	p.channels, p.limits.Wires = wires, int(wires)
	return nil
}

func (c *call) decodePipelineName(p *pipeParams, b []byte) error {
	p.name = "bucket_pipeline"
	bytes := get32(b[60:])
	if bytes == 0 {
		return nil
	}
	name, err := c.region(uint64(get32(b[56:])), uint64(bytes), 1)
	if err == nil {
		err = checkName(name)
	}
	p.name = string(name)
	return inField("name", err)
}

var (
	errBuilt    = &refusal{abi.Invalid, "the pipeline is built, and takes no more"}
	errNotBuilt = &refusal{abi.Invalid, "the pipeline is not built: call pipeline_build first"}
	errUnderWay = &refusal{abi.Invalid, "a run of the pipeline is under way: wait for its end"}
)

// pipelineRanks appends to the list that entries refer to.
func pipelineRanks(c *call) error {
	p := c.pipe
	if p.plan != nil {
		return errBuilt
	}
	n := len(c.in) / 4
	if len(p.ranks)+n > maxPipelineRanks {
		return refuse(abi.Limit, "%d ranks, more than %d", len(p.ranks)+n, maxPipelineRanks)
	}
	for i := range n {
		if rank := get32(c.in[4*i:]); uint64(rank) >= uint64(c.config.Size) {
			return refuse(abi.NoRank, "ranks: there is no rank %d among %d", rank, c.config.Size)
		}
	}
	for i := range n {
		p.ranks = append(p.ranks, int32(get32(c.in[4*i:])))
	}
	return nil
}

// pipelineAdd appends entries, all or none.
func pipelineAdd(c *call) error {
	p := c.pipe
	if p.plan != nil {
		return errBuilt
	}
	before, n := len(p.entries), len(c.in)/abi.PipelineEntryBytes
	all := n
	for _, other := range c.pipes.all() {
		all += len(other.entries)
	}
	if all > maxPipelineEntries {
		return refuse(abi.Limit, "%d entries of all pipelines that are not destroyed, more than %d", all, maxPipelineEntries)
	}
	p.entries, p.places = slices.Grow(p.entries, n), slices.Grow(p.places, n)
	for i := range n {
		e, place, err := c.decodeEntry(c.in[i*abi.PipelineEntryBytes:][:abi.PipelineEntryBytes])
		if err != nil {
			p.entries, p.places = p.entries[:before], p.places[:before]
			return fmt.Errorf("entry %d (tensor %d, cell %d): %w", before+i, e.Tensor, e.Cell, err)
		}
		p.entries, p.places = append(p.entries, e), append(p.places, place)
	}
	return nil
}

// decodeEntry reads an entry structure. Its tensor and cell are good even if it
// fails.
func (c *call) decodeEntry(b []byte) (e pipeline.Entry, place entryPlace, err error) {
	e = pipeline.Entry{
		Source: int32(get32(b)), Tensor: get32(b[20:]), Cell: get32(b[24:]),
		Type: op.Dtype(b[28]), Red: op.RedOp(b[29]), Transport: pipeline.Transport(b[30]),
	}
	switch {
	case uint64(get32(b)) >= uint64(c.config.Size):
		return e, place, inField("source", errRank)
	case !e.Type.Valid() || !e.Red.Valid() || e.Red == op.Avg && get32(b[16:]) > 0:
		return e, place, refuse(abi.Invalid, "dtype or redop: not a value of the enumeration")
	case uint64(b[30]) >= enumValues("transport"):
		return e, place, inField("transport", errEnum)
	case b[31] != 0 || get64(b[120:]) != 0:
		return e, place, errReserved
	}
	if e.Destinations, err = c.pipe.listed("dst", get32(b[4:]), get32(b[8:])); err != nil {
		return e, place, err
	}
	if e.Parts, err = c.pipe.listed("part", get32(b[12:]), get32(b[16:])); err != nil {
		return e, place, err
	}
	sizes := [...]*int64{&e.Planes, &e.Rows, &e.RowBytes}
	for n, to := range sizes {
		if *to, err = size(boxFields[n], b[32+8*n:]); err != nil {
			return e, place, err
		}
	}
	place, err = c.decodePlaces(&e, b)
	return e, place, err
}

// listed is a part of the list of ranks.
func (p *pipe) listed(field string, from, count uint32) ([]int32, error) {
	if count == 0 {
		return nil, nil
	}
	if uint64(from)+uint64(count) > uint64(len(p.ranks)) || uint64(count) > uint64(p.size) {
		return nil, refuse(abi.Range, "%s_first: %d ranks from %d on, of a list of %d", field, count, from, len(p.ranks))
	}
	list := p.ranks[from:][:count:count]
	for i, rank := range list {
		if i > 0 && rank <= list[i-1] {
			return nil, refuse(abi.Invalid, "%s_first: rank %d comes after rank %d: list each once, ascending", field, rank, list[i-1])
		}
	}
	return list, nil
}

// decodePlaces reads where the box lies on this rank, if it has a part in it.
func (c *call) decodePlaces(e *pipeline.Entry, b []byte) (p entryPlace, err error) {
	rank := int32(c.config.Rank)
	box := op.BoxShape{Planes: e.Planes, Rows: e.Rows, RowBytes: e.RowBytes}
	if box.Bytes() < 0 {
		return p, refuse(abi.Range, "the box has more than 2^63-1 bytes")
	}
	if e.Source == rank || slices.Contains(e.Parts, rank) {
		if p.src, err = c.boxSide(&box, "src", b[56:], &p.srcRow, &p.srcPlane); err != nil {
			return p, err
		}
	}
	if slices.Contains(e.Destinations, rank) {
		if p.dst, err = c.boxSide(&box, "dst", b[88:], &p.dstRow, &p.dstPlane); err != nil {
			return p, err
		}
		box.DstRow, box.DstPlane = p.dstRow, p.dstPlane
		if !box.Apart() {
			return p, refuse(abi.Invalid, "dst: its rows overlap")
		}
	}
	return p, nil
}

// boxSide reads buffer, offset and distances of one side of a box, and checks
// that it lies in the buffer.
func (c *call) boxSide(box *op.BoxShape, name string, b []byte, row, plane *int64) (v op.View, err error) {
	if err := c.decodeView(&v, b); err != nil {
		return v, inField(name, err)
	}
	if *row, err = size(name+"_row", b[16:]); err != nil {
		return v, err
	}
	if *plane, err = size(name+"_plane", b[24:]); err != nil {
		return v, err
	}
	if !c.own(v.Buf) {
		return v, refuse(abi.Invalid, "%s: a peer's buffer; a pipeline moves between the ranks' own", name)
	}
	shape := *box
	shape.SrcRow, shape.SrcPlane = *row, *plane
	span := shape.SrcSpan()
	if span < 0 {
		return v, refuse(abi.Range, "%s: the box has more than 2^63-1 bytes", name)
	}
	return v, inField(name, checkView(v, span))
}

// pipelineDestroy gives a pipeline back.
func pipelineDestroy(c *call) error {
	p := c.pipe
	if p.run.underWay {
		return errUnderWay
	}
	if p.run.err != nil {
		c.burnt = append(c.burnt, p.pipeParams)
	}
	err := p.close(c.Instance)
	return first(c.pipes.remove(c.stack[0]), err)
}

// close gives back what the pipeline has of the device.
func (p *pipe) close(i *Instance) error {
	for _, b := range p.reached {
		_ = i.config.Device.Free(b)
	}
	p.reached = nil
	for n := range p.run.lanes { // of buckets of a run that failed
		p.pool.give(p.run.lanes[n].buffer)
		p.run.lanes[n].buffer = nil
	}
	return first(p.run.close(), p.pool.drain(i.config.Device))
}
