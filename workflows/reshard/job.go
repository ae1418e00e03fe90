package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// job is tensors to be moved, which can be done in several ways, and this
// rank's parts of them.
type job struct {
	site           *site
	plan           *reshard.Plan
	source, target side
	bytes          int64 // of all tensors
}

// side is a rank's parts of all tensors before they are moved, or after.
type side struct {
	buffer  *ccrun.Buffer
	offsets []int64 // by tensor
}

// align is what each part of a tensor begins at a multiple of.
const align = 256

// newJob allocates what this rank has and gets by a plan, and fills what it
// has.
func (s *site) newJob(plan *reshard.Plan) (*job, error) {
	j := &job{site: s, plan: plan}
	for i := range plan.Moves {
		j.bytes += plan.Moves[i].Tensor.Size()
	}
	var err error
	if j.source, err = s.side(plan.SourceOffsets(s.world.Rank(), align)); err != nil {
		return nil, err
	}
	if j.target, err = s.side(plan.TargetOffsets(s.world.Rank(), align)); err != nil {
		return nil, err
	}
	return j, j.fill()
}

func (s *site) side(offsets []int64, bytes int64) (side, error) {
	buffer, err := s.world.Alloc(bytes)
	if errors.Is(err, ccrun.ErrNoMemory) {
		err = fmt.Errorf("%w; %s", err, s.smaller(s.world.Device()))
	}
	return side{buffer, offsets}, err
}

// smaller is what to do where memory does not suffice.
func (o *options) smaller(device string) string {
	hint := "try a smaller -tensor"
	if o.model != "" {
		hint = fmt.Sprintf("try -scale %d", 8*o.scale)
	}
	if device == "cpu" {
		hint += ", or ccrun --device sim:h100x2"
	}
	return hint
}

// close shows the digest of the targets and frees the buffers.
func (j *job) close() error {
	j.site.countWrong()
	if err := j.digest(); err != nil {
		return err
	}
	if err := j.source.buffer.Free(); err != nil {
		return err
	}
	return j.target.buffer.Free()
}

// entriesAtOnce bounds the memory that giving the host its entries takes.
const entriesAtOnce = 1024

// add gives a pipeline the entries of the plan, with the places where this rank
// has them.
func (j *job) add(p *ccrun.Pipeline) error {
	rank := j.site.world.Rank()
	part := make([]ccrun.PipelineEntry, 0, entriesAtOnce)
	for some := range slices.Chunk(j.plan.Entries, entriesAtOnce) {
		part = part[:0]
		for i := range some {
			e := &some[i]
			part = append(part, e.Pipeline(rank, j.source.place(e.Tensor), j.target.place(e.Tensor)))
		}
		if err := p.Add(part...); err != nil {
			return err
		}
	}
	return nil
}

// place is where the rank's part of a tensor begins.
func (s *side) place(tensor uint32) ccrun.Place {
	return ccrun.Place{Buffer: s.buffer, Offset: s.offsets[tensor]}
}

// run moves everything in one way, as often as the flags say, and gives what
// all ranks have counted.
func (j *job) run(how setting) (measured, error) {
	s := j.site
	p, err := s.world.NewPipeline(how.pipeline())
	if err != nil {
		return measured{}, err
	}
	if err := j.add(p); err != nil {
		return measured{}, err
	}
	plan, err := p.Build()
	if err != nil {
		return measured{}, err
	}
	if err := p.Agree(ccrun.Forever); err != nil {
		return measured{}, err
	}
	streams, err := s.take(min(how.width(plan), max(plan.Mine, 1)))
	if err != nil {
		return measured{}, err
	}
	counted := newCounts(s.iters)
	counted.largest = plan.LargestBytes
	for i := range s.warmup + s.iters {
		if err := j.iterate(p, streams, i, counted); err != nil {
			return measured{}, fmt.Errorf("%s, iteration %d: %w", how.name, i, err)
		}
	}
	if err := p.Destroy(); err != nil {
		return measured{}, err
	}
	m, err := s.gather(counted)
	m.setting, m.bytes, m.plan = how, j.bytes, plan
	return m, err
}

// iterate moves everything once.
func (j *job) iterate(p *ccrun.Pipeline, streams []*ccrun.Stream, i int, counted *counts) error {
	s := j.site
	last := i == s.warmup+s.iters-1
	verifies := s.verify == "all" || s.verify == "last" && last
	if verifies {
		if err := j.spoil(i); err != nil {
			return err
		}
	}
	if err := s.world.Barrier(ccrun.Forever); err != nil {
		return err
	}
	if err := p.Run(streams, ccrun.Forever); err != nil {
		return err
	}
	if i >= s.warmup {
		stats, err := p.Stats()
		if err != nil {
			return err
		}
		counted.add(&stats)
	}
	if verifies {
		return j.check(counted)
	}
	return nil
}

// pipeline is the setting in the SDK's terms.
func (how *setting) pipeline() ccrun.PipelineOptions {
	o := ccrun.PipelineOptions{
		Name: "reshard_" + how.name, BucketBytes: int64(how.bucket), MaxBytes: how.maxBytes, MaxBuckets: how.maxBuckets,
		MaxInFlight: how.inFlight, Policy: ccrun.Admission(number(policies, how.policy)), Window: how.window, Checksums: how.checksum,
		Publish: ccrun.Publishing(number(publishing, how.publish)),
	}
	if how.refuse {
		o.Oversize = ccrun.OversizeRefuse
	}
	how.script(&o)
	return o
}

// width is how many buckets a rank can have in flight.
func (how *setting) width(plan ccrun.PipelinePlan) int {
	width := plan.MyChannels * how.inFlight
	if how.maxBuckets > 0 {
		width = min(width, how.maxBuckets)
	}
	switch ccrun.Admission(number(policies, how.policy)) {
	case ccrun.Serialized:
		width = 1
	case ccrun.Windowed:
		width = min(width, how.window)
	}
	return width
}

// serial is one chunk at a time: nothing is joined, and the next begins when
// the one before is finished.
func (how setting) serial() setting {
	how.name, how.bucket, how.inFlight, how.policy, how.maxBytes, how.maxBuckets = "serial", 0, 1, "serialized", 0, 0
	return how
}

// pipelined has limits per channel only.
func (how setting) pipelined() setting {
	how.name, how.maxBytes, how.maxBuckets = "pipelined", 0, 0
	return how
}

// budgeted has a budget over all channels.
func (how setting) budgeted(maxBytes int64) setting {
	how.name, how.maxBytes = "budget", maxBytes
	return how
}
