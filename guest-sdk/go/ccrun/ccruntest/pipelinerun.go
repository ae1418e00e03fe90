package ccruntest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// place is where the box of an entry lies.
type place struct{ buffer, offset, row, plane uint64 }

func (e *entry) from() place { return place{e.Src, e.SrcOffset, e.SrcRow, e.SrcPlane} }

func (e *entry) to() place { return place{e.Dst, e.DstOffset, e.DstRow, e.DstPlane} }

func (e *entry) bytes() uint64 { return e.Planes * e.Rows * e.RowBytes }

// rows are the rows of an entry's box in this rank's memory.
func (p *pipeline) rows(e *entry, at place) ([][]byte, raw.Errno) {
	if b := p.rank.buffers[at.buffer]; b != nil && !b.own {
		return nil, p.rank.fail(raw.ErrnoInvalid, "a peer's buffer")
	}
	box := raw.Box{Planes: e.Planes, Rows: e.Rows, RowBytes: e.RowBytes}
	whole, errno := p.rank.region(at.buffer, at.offset, boxSpan(&box, at.row, at.plane))
	if errno != raw.OK {
		return nil, errno
	}
	var rows [][]byte
	for plane := range e.Planes {
		for row := range e.Rows {
			rows = append(rows, whole[plane*at.plane+row*at.row:][:e.RowBytes])
		}
	}
	return rows, raw.OK
}

// ranks are those that have a part in an entry.
func (e *entry) ranks() []uint32 { return slices.Concat([]uint32{e.Source}, e.parts, e.destinations) }

// has reports whether a rank has a part in a bucket.
func (p *pipeline) has(b bucket, number uint32) bool {
	return slices.Contains(p.entries[b.entries[0]].ranks(), number)
}

// describe is all that ranks must have in common in an entry.
func (e *entry) describe() string {
	return fmt.Sprintf("tensor %d, cell %d: rank %d -> %v, parts of %v (%d, %d), %dx%dx%d bytes, transport %d",
		e.Tensor, e.Cell, e.Source, e.destinations, e.parts, e.Dtype, e.Redop, e.Planes, e.Rows, e.RowBytes, e.Transport)
}

func (p *pipeline) hash() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, p.params.BucketBytes)
	for i := range p.entries {
		fmt.Fprintln(h, p.entries[i].describe())
	}
	return h.Sum64()
}

// difference is the first one between two ranks' plans, "" if there is none.
func (p *pipeline) difference(q *pipeline) string {
	here, there := fmt.Sprintf("rank %d", p.rank.number), fmt.Sprintf("rank %d", q.rank.number)
	for i := range max(len(p.entries), len(q.entries)) {
		if i >= len(p.entries) || i >= len(q.entries) {
			return fmt.Sprintf("%s has %d entries, %s has %d", here, len(p.entries), there, len(q.entries))
		}
		if a, b := p.entries[i].describe(), q.entries[i].describe(); a != b {
			return fmt.Sprintf("entry %d: %s has %s, %s has %s", i, here, a, there, b)
		}
	}
	a, b := p.params, q.params
	if a.BucketBytes != b.BucketBytes || a.Policy != b.Policy || a.Publish != b.Publish || a.Flags != b.Flags ||
		a.FirstSlot != b.FirstSlot || a.FirstChannel != b.FirstChannel || a.Channels != b.Channels {
		return fmt.Sprintf("%s and %s have made the pipeline differently", here, there)
	}
	if !slices.Equal(p.order, q.order) {
		return fmt.Sprintf("%s and %s have set different orders", here, there)
	}
	return ""
}

func (p *pipeline) shared() *conveyor { return p.rank.world.conveyors[p.number] }

func (r *rank) PipelineAgree(handle uint64, timeout int64) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, true)
	if errno != raw.OK {
		return errno
	}
	w, c := r.world, p.shared()
	if p.votes == len(c.votes) {
		c.votes = append(c.votes, make([]*pipeline, len(w.ranks)))
	}
	votes := c.votes[p.votes]
	votes[r.number] = p
	w.changed.Broadcast()
	if errno := w.await(time.Duration(timeout), func() bool { return !slices.Contains(votes, nil) }); errno != raw.OK {
		return r.fail(errno, "not all ranks have come to agree")
	}
	p.votes++
	for _, other := range votes {
		if text := votes[0].difference(other); text != "" {
			return r.fail(raw.ErrnoMismatch, text)
		}
	}
	p.agreed = true
	return raw.OK
}

func (r *rank) PipelineStart(handle uint64, streams *uint64, streamsLen uint32) raw.Errno {
	defer r.lock()()
	p, errno := r.pipeline(handle, true)
	if errno != raw.OK {
		return errno
	}
	for i, stream := range listAt(streams, streamsLen) {
		if _, errno := find(r, r.streams, stream); errno != raw.OK {
			return errno
		}
		if slices.Contains(listAt(streams, uint32(i)), stream) {
			return r.fail(raw.ErrnoInvalid, "a stream twice")
		}
	}
	switch {
	case !p.agreed || p.underWay():
		return r.fail(raw.ErrnoInvalid, "ranks have not agreed, or the pipeline is under way")
	case p.hasFailed():
		return r.fail(raw.ErrnoFailed, "an earlier run failed: "+p.shared().failed.text)
	case streamsLen == 0:
		return r.fail(raw.ErrnoInvalid, "no streams")
	case r.inTheWay(p):
		return r.fail(raw.ErrnoInvalid, "another pipeline under way, or one that failed, has its signal slots or send channels")
	}
	p.runs++
	p.limit, p.looked, p.began = 0, false, time.Now()
	p.stats = raw.PipelineStats{Runs: uint64(p.runs)}
	if c := p.shared(); len(c.moved) < p.runs {
		c.moved = append(c.moved, make([]bool, len(p.buckets)))
	}
	p.looks()
	p.shared().advance(p.runs)
	r.world.changed.Broadcast()
	return p.failure()
}

// inTheWay reports whether another pipeline of the rank has slots or channels
// that p is to have. One that failed keeps them, also when it is destroyed.
func (r *rank) inTheWay(p *pipeline) bool {
	for _, c := range r.world.conveyors {
		if q := c.members[r.number]; q != nil && q != p && (q.underWay() || q.hasFailed()) && p.overlaps(q) {
			return true
		}
	}
	return false
}

// overlaps reports whether two pipelines have a signal slot or a send channel in
// common.
func (p *pipeline) overlaps(q *pipeline) bool {
	a, b := &p.params, &q.params
	first, end := p.channels()
	otherFirst, otherEnd := q.channels()
	end, otherEnd = end+first, otherEnd+otherFirst
	return a.FirstSlot < b.FirstSlot+4 && b.FirstSlot < a.FirstSlot+4 || first < otherEnd && otherFirst < end
}

// channels are the pipeline's send channels: the first, and how many.
func (p *pipeline) channels() (first, count uint32) {
	if p.params.Channels == 0 {
		return p.params.FirstChannel, sendChannels - p.params.FirstChannel
	}
	return p.params.FirstChannel, p.params.Channels
}

// looks has the run fail if a buffer of this rank's entries has been freed.
func (p *pipeline) looks() {
	for _, number := range p.order {
		if p.shared().failed != nil {
			return
		}
		p.shared().failed = p.lacks(p.buckets[number], p.runs)
	}
}

// lacks is what a bucket fails for on this rank, nil if it does not.
func (p *pipeline) lacks(b bucket, run int) *failure {
	for _, number := range b.entries {
		if errno := p.readPlaces(&p.entries[number]); errno != raw.OK {
			return &failure{run, p.rank.number, errno, fmt.Sprintf("entry %d: %s", number, p.rank.text)}
		}
	}
	return nil
}

// hasFailed reports whether a run has that this rank has begun.
func (p *pipeline) hasFailed() bool { f := p.shared().failed; return f != nil && f.run <= p.runs }

// failure is how the pipeline has failed as this rank sees it.
func (p *pipeline) failure() raw.Errno {
	f := p.shared().failed
	switch {
	case !p.hasFailed():
		return raw.OK
	case f.rank == p.rank.number:
		return p.rank.fail(f.errno, f.text)
	}
	return p.rank.fail(raw.ErrnoFailed, fmt.Sprintf("rank %d says that it failed: %s", f.rank, f.text))
}

// moved says which buckets of this rank's run have been.
func (p *pipeline) moved() []bool { return p.shared().moved[p.runs-1] }

func (p *pipeline) underWay() bool {
	return p.runs > 0 && !p.hasFailed() && slices.Contains(p.moved(), false)
}

// lets reports whether this rank lets the bucket at a place move in a run.
func (p *pipeline) lets(run, place int) bool {
	return p.runs >= run && (p.params.Policy != raw.AdmissionScripted || place < int(p.limit))
}

// advance moves what all let it in a run, until something fails.
func (c *conveyor) advance(run int) {
	first := c.members[slices.IndexFunc(c.members, func(p *pipeline) bool { return p != nil && p.runs >= run })]
	for place, number := range first.order {
		if c.failed != nil {
			return
		}
		if c.moved[run-1][number] {
			continue
		}
		ranks := first.entries[first.buckets[number].entries[0]].ranks()
		if !slices.ContainsFunc(ranks, func(r uint32) bool { return c.members[r] == nil || !c.members[r].lets(run, place) }) {
			c.moved[run-1][number] = c.move(first.buckets[number], run)
		}
	}
}

// move copies a bucket's entries from rank to rank, and reports whether it
// could.
func (c *conveyor) move(b bucket, run int) bool {
	for _, p := range c.members {
		if c.failed = p.lacks(b, run); c.failed != nil {
			return false
		}
	}
	for _, number := range b.entries {
		parts := c.members[0].chain(number)
		data := c.read(parts[0], number)
		for i, part := range parts[1:] {
			e := &c.members[part].entries[number]
			reduce(e.Dtype, e.Redop, data, [][]byte{slices.Clone(data), c.read(part, number)})
			c.count(parts[i], part, data)
		}
		source := parts[len(parts)-1]
		e, at := &c.members[source].entries[number], source
		for _, destination := range e.destinations {
			c.write(destination, number, data)
			if destination == source {
				c.count(source, source, data)
				continue
			}
			c.count(at, destination, data)
			if e.Transport == raw.TransportChain {
				at = destination
			}
		}
	}
	for rank, p := range c.members {
		if p.has(b, uint32(rank)) {
			p.stats.Buckets++
		}
	}
	return true
}

// chain is whose parts of an entry are added up, in order: the source comes
// last.
func (p *pipeline) chain(number int) []uint32 {
	e := &p.entries[number]
	others := slices.DeleteFunc(slices.Clone(e.parts), func(r uint32) bool { return r == e.Source })
	return append(others, e.Source)
}

func (c *conveyor) read(rank uint32, number int) []byte {
	e := &c.members[rank].entries[number]
	rows, _ := c.members[rank].rows(e, e.from()) // which move has looked at
	return slices.Concat(rows...)
}

func (c *conveyor) write(rank uint32, number int, data []byte) {
	e := &c.members[rank].entries[number]
	rows, _ := c.members[rank].rows(e, e.to())
	for _, row := range rows {
		data = data[copy(row, data):]
	}
}

// count adds a transfer to the statistics.
func (c *conveyor) count(from, to uint32, data []byte) {
	n := uint64(len(data))
	if from == to {
		c.members[to].stats.Copied += n
		return
	}
	c.members[from].stats.Sent += n
	c.members[to].stats.Received += n
}

// status is how far the rank is.
func (p *pipeline) status() raw.PipelineStatus {
	moved := p.moved()
	s := raw.PipelineStatus{Done: 1}
	all := true
	for place, number := range p.order {
		mine, lets := p.has(p.buckets[number], uint32(p.rank.number)), p.lets(p.runs, place)
		if all = all && moved[number]; all {
			s.Published++
		}
		switch {
		case !mine:
		case moved[number]:
			s.Finished++
			fallthrough
		case lets:
			s.Admitted++
		case s.Stalled == raw.StallNone:
			s.Next, s.Stalled = uint32(place), raw.StallPolicy
		}
		if mine {
			s.Mine++
		}
	}
	if s.Stalled == raw.StallNone {
		s.Next = uint32(len(p.order))
	}
	if !all {
		s.Done = 0
	}
	return s
}

func (r *rank) PipelinePoll(handle uint64, status *raw.PipelineStatus) raw.Errno {
	defer r.lock()()
	p, errno := r.begun(handle)
	if errno == raw.OK {
		errno = p.failure()
	}
	if errno == raw.OK {
		*status = p.tell()
	}
	return errno
}

// begun looks up a pipeline of which a run has begun.
func (r *rank) begun(handle uint64) (*pipeline, raw.Errno) {
	p, errno := find(r, r.pipelines, handle)
	if errno == raw.OK && p.runs == 0 {
		errno = r.fail(raw.ErrnoInvalid, "the pipeline has not been started")
	}
	return p, errno
}

// tell is the status, which is known to the guest from then on.
func (p *pipeline) tell() raw.PipelineStatus {
	p.told, p.looked = p.status(), true
	if p.told.Done == 1 && p.stats.Nanos == 0 {
		p.stats.Nanos = uint64(time.Since(p.began))
	}
	return p.told
}

// PipelineWait returns at the limit of the scripted policy when there is
// something that the guest has not been told.
func (r *rank) PipelineWait(handle uint64, timeout int64, status *raw.PipelineStatus) raw.Errno {
	defer r.lock()()
	p, errno := r.begun(handle)
	if errno != raw.OK {
		return errno
	}
	errno = r.world.await(time.Duration(timeout), func() bool {
		now := p.status()
		atLimit := p.params.Policy == raw.AdmissionScripted && now.Admitted < now.Mine
		return p.hasFailed() || now.Done == 1 || atLimit && (!p.looked || now != p.told)
	})
	if errno != raw.OK {
		return r.fail(errno, "not all buckets have arrived")
	}
	if errno := p.failure(); errno != raw.OK {
		return errno
	}
	*status = p.tell()
	return raw.OK
}

func (r *rank) PipelineAdmit(handle uint64, limit uint32) raw.Errno {
	defer r.lock()()
	p, errno := r.begun(handle)
	switch {
	case errno != raw.OK:
		return errno
	case p.params.Policy != raw.AdmissionScripted:
		return r.fail(raw.ErrnoInvalid, "the policy is not the scripted one")
	}
	p.limit = max(p.limit, limit)
	p.shared().advance(p.runs)
	r.world.changed.Broadcast()
	return raw.OK
}

func (r *rank) PipelineStats(handle uint64, stats *raw.PipelineStats) raw.Errno {
	defer r.lock()()
	p, errno := r.begun(handle)
	if errno == raw.OK {
		*stats = p.stats
	}
	return errno
}
