package ccruntest

import (
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// pipeline is a bucket pipeline as one of its ranks sees it. A bucket is moved
// in one piece, from memory to memory, as soon as all ranks that have a part in
// it let it: no budget bounds it, nothing is staged, and the peaks of its
// statistics are 0.
type pipeline struct {
	rank    *rank
	number  int // of those that the rank has made, by which ranks find each other's
	params  raw.Pipeline
	lists   []uint32
	entries []entry
	buckets []bucket
	order   []uint32 // bucket at each place
	built   bool
	agreed  bool
	votes   int // how often agree has been called
	runs    int // begun

	// Of the present or last run.
	limit  uint32             // of the scripted policy
	told   raw.PipelineStatus // what poll or wait has said last
	looked bool               // that it has said something
	began  time.Time
	stats  raw.PipelineStats
}

// entry is an entry of a pipeline with its lists of ranks.
type entry struct {
	raw.PipelineEntry
	destinations, parts []uint32
}

// bucket is entries that travel together.
type bucket struct {
	channel int
	entries []int
	bytes   uint64
}

// conveyor is what the ranks of a pipeline share.
type conveyor struct {
	members []*pipeline   // by rank, nil where it is not made yet
	votes   [][]*pipeline // by agreement and rank
	moved   [][]bool      // by run and bucket
	failed  *failure      // nil if no run has
}

// failure is why a run of a pipeline has failed: on one rank for a reason, on
// all others because that one says so.
type failure struct {
	run   int
	rank  int
	errno raw.Errno
	text  string
}

func (r *rank) PipelineCreate(params *raw.Pipeline, handle *uint64) raw.Errno {
	defer r.lock()()
	o := *params
	switch {
	case int64(o.MaxBytes) < 0 || int64(o.BucketBytes) < 0:
		return r.fail(raw.ErrnoInvalid, "a negative size")
	case o.Policy > raw.AdmissionScripted, o.Oversize > raw.OversizeRefuse, o.Publish > raw.PublishOneByOne, o.Flags > 3:
		return r.fail(raw.ErrnoInvalid, "no such policy, oversize rule, publish rule or flag")
	case o.Policy == raw.AdmissionWindowed && o.Window == 0:
		return r.fail(raw.ErrnoInvalid, "a window of 0 buckets")
	case o.FirstSlot+4 > signalSlots || o.FirstChannel >= sendChannels || o.Channels > sendChannels-o.FirstChannel:
		return r.fail(raw.ErrnoInvalid, "no such signal slots or send channels")
	}
	p := &pipeline{rank: r, number: r.pipelined, params: o}
	r.pipelined++
	*handle = r.handle()
	r.pipelines[*handle] = p
	w := r.world
	for len(w.conveyors) <= p.number {
		w.conveyors = append(w.conveyors, &conveyor{members: make([]*pipeline, len(w.ranks))})
	}
	w.conveyors[p.number].members[r.number] = p
	return raw.OK
}

func (r *rank) PipelineRanks(handle uint64, ranks *uint32, ranksLen uint32) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, false)
	if errno != raw.OK {
		return errno
	}
	for _, number := range listAt(ranks, ranksLen) {
		if errno := r.peer(number); errno != raw.OK {
			return errno
		}
	}
	p.lists = append(p.lists, listAt(ranks, ranksLen)...)
	return raw.OK
}

// pipeline looks a handle up, of one that has been built or of one that has not.
func (r *rank) pipeline(handle uint64, built bool) (*pipeline, raw.Errno) {
	p, errno := find(r, r.pipelines, handle)
	switch {
	case errno != raw.OK:
		return nil, errno
	case p.built && !built:
		return nil, r.fail(raw.ErrnoInvalid, "the pipeline is built")
	case built && !p.built:
		return nil, r.fail(raw.ErrnoInvalid, "the pipeline is not built yet")
	}
	return p, raw.OK
}

func (r *rank) PipelineAdd(handle uint64, entries *raw.PipelineEntry, entriesLen uint32) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, false)
	if errno != raw.OK {
		return errno
	}
	var added []entry
	for i, e := range listAt(entries, entriesLen) {
		read := entry{PipelineEntry: e}
		if errno := p.read(&read); errno != raw.OK {
			return r.fail(errno, fmt.Sprintf("entry %d: %s", len(p.entries)+i, r.text))
		}
		added = append(added, read)
	}
	p.entries = append(p.entries, added...)
	return raw.OK
}

// read checks an entry and finds its ranks.
func (p *pipeline) read(e *entry) raw.Errno {
	r, known := p.rank, uint64(len(p.lists))
	if uint64(e.DstFirst)+uint64(e.DstCount) > known || uint64(e.PartFirst)+uint64(e.PartCount) > known {
		return r.fail(raw.ErrnoInvalid, "names ranks that are not in the list")
	}
	e.destinations, e.parts = p.lists[e.DstFirst:][:e.DstCount], p.lists[e.PartFirst:][:e.PartCount]
	switch {
	case !ascending(e.destinations) || !ascending(e.parts) || len(e.destinations) == 0:
		return r.fail(raw.ErrnoInvalid, "its destinations or parts are none or not in ascending order")
	case len(e.parts) > 0 && !slices.Contains(e.parts, e.Source):
		return r.fail(raw.ErrnoInvalid, "its source is not among its parts")
	case e.Redop > raw.RedopAvg || e.Redop == raw.RedopAvg && len(e.parts) > 1 || e.Transport > raw.TransportDirect:
		return r.fail(raw.ErrnoInvalid, "no such operator for parts, or no such transport")
	case e.Transport == raw.TransportDirect && (len(e.parts) > 1 || p.params.Flags&1 != 0):
		return r.fail(raw.ErrnoInvalid, "parts and checksums do not travel directly")
	case e.Planes == 0 || e.Rows == 0 || e.RowBytes == 0:
		return r.fail(raw.ErrnoInvalid, "its box is empty")
	case e.Dtype > raw.DtypeF64:
		return r.fail(raw.ErrnoInvalid, "no such type")
	case len(e.parts) > 0 && e.RowBytes%uint64(numbers[e.Dtype].size) != 0:
		return r.fail(raw.ErrnoInvalid, "its rows are not whole elements")
	}
	if errno := r.peer(e.Source); errno != raw.OK {
		return errno
	}
	return p.readPlaces(e)
}

// readPlaces checks where an entry's box lies on this rank.
func (p *pipeline) readPlaces(e *entry) raw.Errno {
	me := uint32(p.rank.number)
	if e.Source == me || slices.Contains(e.parts, me) {
		if _, errno := p.rows(e, e.from()); errno != raw.OK {
			return errno
		}
	}
	if !slices.Contains(e.destinations, me) {
		return raw.OK
	}
	to := e.to()
	if !nested(e.RowBytes, e.Rows, to.row, e.Planes, to.plane) {
		return p.rank.fail(raw.ErrnoInvalid, "its rows overlap where they are written")
	}
	_, errno := p.rows(e, to)
	return errno
}

func ascending(ranks []uint32) bool {
	for i := 1; i < len(ranks); i++ {
		if ranks[i-1] >= ranks[i] {
			return false
		}
	}
	return true
}

func (r *rank) PipelineBuild(handle uint64, plan *raw.PipelinePlan) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, false)
	if errno != raw.OK {
		return errno
	}
	direct := slices.ContainsFunc(p.entries, func(e entry) bool { return e.Transport == raw.TransportDirect })
	if _, channels := p.channels(); direct && channels < 2 {
		return r.fail(raw.ErrnoInvalid, "what travels directly needs 2 send channels")
	}
	channels := p.join()
	*plan = raw.PipelinePlan{Entries: uint32(len(p.entries)), Buckets: uint32(len(p.buckets)), Channels: uint32(channels), Hash: p.hash()}
	mine := map[int]bool{}
	for _, b := range p.buckets {
		plan.Bytes += b.bytes
		if p.has(b, uint32(r.number)) {
			if p.params.Oversize == raw.OversizeRefuse && p.params.MaxBytes > 0 && b.bytes > p.params.MaxBytes {
				return r.fail(raw.ErrnoInvalid, "a bucket has more bytes than the budget")
			}
			plan.Mine++
			plan.Largest = max(plan.Largest, b.bytes)
			mine[b.channel] = true
		}
	}
	plan.MyChannels = uint32(len(mine))
	p.built = true
	return raw.OK
}

// join makes the buckets and their order, in which channels take turns; it
// returns how many channels there are.
func (p *pipeline) join() int {
	channels := map[string]int{}
	open := map[string]int{} // bucket that takes more entries, by channel
	var turns [][]uint32     // buckets by turn
	count := map[int]int{}   // by channel
	for i := range p.entries {
		e := &p.entries[i]
		key := e.channel()
		if _, known := channels[key]; !known {
			channels[key] = len(channels)
		}
		number, joined := open[key]
		if !joined || e.bytes() >= p.params.BucketBytes {
			number = len(p.buckets)
			p.buckets = append(p.buckets, bucket{channel: channels[key]})
			turn := count[channels[key]]
			count[channels[key]]++
			if turn == len(turns) {
				turns = append(turns, nil)
			}
			turns[turn] = append(turns[turn], uint32(number))
		}
		b := &p.buckets[number]
		b.entries, b.bytes = append(b.entries, i), b.bytes+e.bytes()
		if e.bytes() < p.params.BucketBytes {
			open[key] = number
			if b.bytes >= p.params.BucketBytes {
				delete(open, key)
			}
		}
	}
	p.order = slices.Concat(turns...)
	return len(channels)
}

// channel is what entries must have in common to be joined.
func (e *entry) channel() string {
	key := fmt.Sprint(e.Source, e.destinations, e.Transport, e.parts, " ")
	if len(e.parts) > 0 {
		key += fmt.Sprint(e.Dtype, e.Redop)
		if slices.Equal(e.destinations, []uint32{e.Source}) {
			key += fmt.Sprint(e.Cell)
		}
	}
	return key
}

func (r *rank) PipelineBuckets(handle uint64, first uint32, buckets *raw.PipelineBucket, bucketsLen uint32, described *uint32) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, true)
	if errno != raw.OK {
		return errno
	}
	if int(first) > len(p.buckets) {
		return r.fail(raw.ErrnoInvalid, "there are fewer buckets")
	}
	to := listAt(buckets, bucketsLen)
	*described = uint32(min(len(to), len(p.buckets)-int(first)))
	for i := range to[:*described] {
		b := p.buckets[int(first)+i]
		e := &p.entries[b.entries[0]]
		to[i] = raw.PipelineBucket{
			Bucket: first + uint32(i), Channel: uint32(b.channel), Source: e.Source,
			Destinations: e.DstCount, Destination: e.destinations[0], Parts: e.PartCount,
			Entries: uint32(len(b.entries)), Entry: uint32(b.entries[0]), Bytes: b.bytes,
		}
		if p.has(b, uint32(r.number)) {
			to[i].Mine = 1
		}
	}
	return raw.OK
}

func (r *rank) PipelineOrder(handle uint64, order *uint32, orderLen uint32) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, true)
	if errno != raw.OK {
		return errno
	}
	given := slices.Clone(listAt(order, orderLen))
	sorted := slices.Sorted(slices.Values(given))
	for i, number := range sorted {
		if int(number) != i {
			return r.fail(raw.ErrnoInvalid, "the order has a bucket twice, or one that is not there")
		}
	}
	if len(given) != len(p.buckets) || p.agreed {
		return r.fail(raw.ErrnoInvalid, "the order lacks buckets, or ranks have agreed on another one")
	}
	p.order = given
	return raw.OK
}

func (r *rank) PipelineDestroy(handle uint64) raw.Errno {
	defer r.lock()()
	p, errno := find(r, r.pipelines, handle)
	switch {
	case errno != raw.OK:
		return errno
	case p.underWay():
		return r.fail(raw.ErrnoInvalid, "the pipeline is under way")
	}
	delete(r.pipelines, handle)
	return raw.OK
}
