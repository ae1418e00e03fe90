package module

import (
	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/pipeline"
)

// pipelineBuild joins the entries to buckets and writes the pipeline_plan
// structure.
func pipelineBuild(c *call) error {
	p := c.pipe
	if p.plan != nil {
		return errBuilt
	}
	plan, err := pipeline.Build(c.config.Size, p.entries, p.bucketBytes)
	if err != nil {
		return refuse(abi.Invalid, "%v", err)
	}
	if edges := edgesOf(plan); edges > maxPipelineEdges {
		return refuse(abi.Limit, "buckets go to %d ranks in all, more than %d", edges, maxPipelineEdges)
	}
	if plan.HasDirect() {
		if err := p.splitWires(); err != nil {
			return err
		}
	}
	p.plan = plan
	if err := p.cast(c.config.Rank); err != nil {
		p.plan = nil
		return err
	}
	p.describe(c.out[0])
	return nil
}

// edgesOf is how many destinations all buckets have.
func edgesOf(plan *pipeline.Plan) int {
	edges := 0
	for c := range plan.Channels {
		edges += len(plan.Channels[c].Buckets) * (len(plan.Channels[c].Destinations) + len(plan.Channels[c].Parts))
	}
	return edges
}

// cast works out this rank's part in the plan.
func (p *pipe) cast(rank int) error {
	p.tasks = p.plan.Tasks(rank)
	p.mine = make([]bool, len(p.plan.Buckets))
	p.layouts, p.staging = make([]pipeline.Layout, len(p.tasks)), make([]int64, len(p.tasks))
	for i := range p.tasks {
		p.mine[p.tasks[i].Bucket] = true
		p.layouts[i] = p.plan.Layout(&p.tasks[i], p.contiguous, p.staged())
		p.staging[i] = pipeline.Class(p.layouts[i].Bytes)
	}
	if err := pipeline.CheckOversize(p.tasks, p.staging, p.limits); err != nil {
		return refuse(abi.Invalid, "%v", err)
	}
	return nil
}

// staged reports whether what comes is looked at, or held back, before it is
// written to where it belongs.
func (p *pipe) staged() bool { return p.checksum || p.limits.Publish != pipeline.AtOnce }

// contiguous implements [pipeline.Contiguous].
func (p *pipe) contiguous(entry int32, dst bool) bool {
	e, place := &p.entries[entry], &p.places[entry]
	row, plane := place.srcRow, place.srcPlane
	if dst {
		row, plane = place.dstRow, place.dstPlane
	}
	return (e.Rows <= 1 || row == e.RowBytes) && (e.Planes <= 1 || plane == e.Rows*e.RowBytes)
}

func (p *pipe) describe(b []byte) {
	clear(b[:abi.PipelinePlanBytes])
	put32(b, uint32(len(p.entries)))
	put32(b[4:], uint32(len(p.plan.Buckets)))
	put32(b[8:], uint32(len(p.plan.Channels)))
	put32(b[12:], uint32(len(p.tasks)))
	channels := make(map[int32]struct{})
	largest := int64(0)
	for i := range p.tasks {
		channels[p.tasks[i].Channel] = struct{}{}
		largest = max(largest, p.staging[i])
	}
	put32(b[16:], uint32(len(channels)))
	put64(b[24:], uint64(p.plan.Bytes))
	put64(b[32:], uint64(largest))
	put64(b[40:], p.plan.Hash())
}

// pipelineBuckets writes pipeline_bucket structures.
func pipelineBuckets(c *call) error {
	p := c.pipe
	if p.plan == nil {
		return errNotBuilt
	}
	first := int(c.uint32(1))
	if first > len(p.plan.Buckets) {
		return refuse(abi.Invalid, "first: bucket %d of %d", first, len(p.plan.Buckets))
	}
	n := min(len(c.out[0])/abi.PipelineBucketBytes, len(p.plan.Buckets)-first)
	for i := range n {
		bucket := &p.plan.Buckets[first+i]
		b := c.out[0][i*abi.PipelineBucketBytes:][:abi.PipelineBucketBytes]
		clear(b)
		channel := &p.plan.Channels[bucket.Channel]
		put32(b, uint32(first+i))
		put32(b[4:], uint32(bucket.Channel))
		put32(b[8:], uint32(channel.Source))
		put32(b[12:], uint32(len(channel.Destinations)))
		to := channel.Source
		if len(channel.Destinations) > 0 {
			to = channel.Destinations[0]
		}
		put32(b[16:], uint32(to))
		put32(b[20:], uint32(len(channel.Parts)))
		put32(b[24:], uint32(len(bucket.Entries)))
		put32(b[28:], uint32(bucket.Entries[0]))
		put64(b[32:], uint64(bucket.Bytes))
		put32(b[40:], word(p.mine[first+i]))
	}
	put32(c.out[1], uint32(n))
	return nil
}

// pipelineOrder sets the order of the buckets.
func pipelineOrder(c *call) error {
	p := c.pipe
	switch {
	case p.plan == nil:
		return errNotBuilt
	case p.proposed:
		return refuse(abi.Invalid, "the order was proposed to the other ranks: set it before pipeline_agree")
	case len(c.in)/4 != len(p.plan.Buckets):
		return refuse(abi.Invalid, "order: %d numbers for %d buckets: name each bucket once", len(c.in)/4, len(p.plan.Buckets))
	}
	order := make([]uint32, len(c.in)/4)
	for i := range order {
		order[i] = get32(c.in[4*i:])
	}
	if err := p.plan.SetOrder(order); err != nil {
		return refuse(abi.Invalid, "order: %v", err)
	}
	return p.cast(c.config.Rank)
}
