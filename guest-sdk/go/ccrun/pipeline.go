package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Pipeline is a bucket pipeline: it gets boxes from ranks to ranks, joined to
// buckets, of which many are under way at a time, within limits per channel and
// over all of them. All ranks make it alike and go through the same steps:
//
//	p, err := world.NewPipeline(ccrun.PipelineOptions{BucketBytes: 8 << 20})
//	err = p.Add(entries...)         // all entries, on every rank
//	plan, err := p.Build()          // joined to buckets
//	err = p.Agree(ccrun.Forever)    // the same on all ranks, or nothing moves
//	err = p.Run(streams, ccrun.Forever)
//	stats, err := p.Stats()
//
// Run can be repeated. What is marked (own) may differ between ranks.
type Pipeline struct {
	world  *World
	handle uint64
	plan   PipelinePlan
	lists  map[string]uint32 // where a list of ranks begins among those that the host has
	listed uint32            // ranks in them
	admit  func(PipelineStatus) int
	order  func([]Bucket) []int
	limit  int // that Admit has given last

	// What the host reads and writes, kept here so that it stays where it is.
	params  raw.Pipeline
	name    [64]byte
	entries []raw.PipelineEntry
	ranks   []uint32
	streams []uint64
	status  raw.PipelineStatus
	counted raw.PipelineStats
}

// PipelineOptions say how a pipeline works. The zero value has no limit but two
// buckets in flight per channel, and joins no entries.
type PipelineOptions struct {
	Name        string    // in traces, at most 63 bytes; "" for bucket_pipeline
	BucketBytes int64     // entries of a channel are joined until a bucket has so many; 0: every entry is one
	MaxBytes    int64     // (own) staging memory held at a time, over all channels; 0 for no limit
	MaxBuckets  int       // (own) buckets in flight, over all channels; 0 for no limit
	MaxInFlight int       // (own) buckets in flight per channel; 0 for 2
	Policy      Admission // when buckets are admitted, within the limits
	Window      int       // (own) buckets of a window of the policy Windowed
	Oversize    Oversize  // what becomes of a bucket that needs more than MaxBytes
	Publish     Publishing
	Checksums   bool // digests of each bucket are compared
	Warmup      bool // runs are left out of the statistics of the whole run

	FirstSlot    int // the pipeline uses 4 signal slots from here on, which nobody else raises from Agree on
	FirstChannel int // and send channels from here on:
	Channels     int // so many, 0 for all that there are

	// Order is the script that orders buckets: Build gives it all of them and
	// calls SetOrder with what it returns, the number of each bucket once. It
	// must be the same on all ranks. Without it, channels take turns.
	Order func([]Bucket) []int

	// Admit is the script of the policy Scripted: Poll and Wait give it how
	// far this rank is and call AdmitBefore with what it returns. A limit that
	// is not higher than the one before changes nothing.
	Admit func(PipelineStatus) int
}

// NewPipeline makes a bucket pipeline. It is not inlined, so that a Pipeline is
// on the heap and addresses in it hold.
//
//go:noinline
func (w *World) NewPipeline(o PipelineOptions) (*Pipeline, error) {
	if text := o.check(); text != "" {
		return nil, &Error{Call: "pipeline_create", Errno: ErrInvalid, Text: text}
	}
	p := &Pipeline{world: w, lists: map[string]uint32{}, admit: o.Admit, order: o.Order}
	p.params = raw.Pipeline{
		BucketBytes: uint64(o.BucketBytes), MaxBytes: uint64(o.MaxBytes),
		MaxBuckets: hostIndex(o.MaxBuckets), MaxInFlight: hostIndex(o.MaxInFlight),
		Policy: uint32(o.Policy), Window: hostIndex(o.Window), Oversize: uint32(o.Oversize), Publish: uint32(o.Publish),
		FirstSlot: hostIndex(o.FirstSlot), FirstChannel: hostIndex(o.FirstChannel), Channels: hostIndex(o.Channels),
	}
	if o.Checksums {
		p.params.Flags |= 1
	}
	if o.Warmup {
		p.params.Flags |= 2
	}
	if o.Name != "" {
		copy(p.name[:], o.Name)
		p.params.Name, p.params.NameLen = w.host.AddressOfText(&p.name), uint32(len(o.Name))
	}
	if err := w.check("pipeline_create", w.host.PipelineCreate(&p.params, &p.handle)); err != nil {
		return nil, err
	}
	return p, nil
}

// check says what the host cannot be asked for.
func (o *PipelineOptions) check() string {
	for _, n := range [...]int{o.MaxBuckets, o.MaxInFlight, o.Window, o.FirstSlot, o.FirstChannel, o.Channels} {
		if !fits(n, 1<<31-1) {
			return "a limit, a slot or a channel is negative or too large"
		}
	}
	switch {
	case o.BucketBytes < 0 || o.MaxBytes < 0:
		return "a negative number of bytes"
	case len(o.Name) >= 64:
		return "the name has more than 63 bytes"
	}
	return ""
}

// Handle is the pipeline's handle, for package raw.
func (p *Pipeline) Handle() uint64 { return p.handle }

// Destroy gives the pipeline and its staging memory back. One that is under way
// cannot be destroyed.
func (p *Pipeline) Destroy() error {
	return p.world.check("pipeline_destroy", p.world.host.PipelineDestroy(p.handle))
}

// Build joins the entries to buckets and lets the script order them. From then
// on the pipeline takes no more entries.
func (p *Pipeline) Build() (PipelinePlan, error) {
	var plan raw.PipelinePlan
	if err := p.world.check("pipeline_build", p.world.host.PipelineBuild(p.handle, &plan)); err != nil {
		return PipelinePlan{}, err
	}
	p.plan = planOf(&plan)
	p.entries, p.ranks, p.lists = nil, nil, nil // the host has them
	if p.order == nil {
		return p.plan, nil
	}
	buckets, err := p.Buckets()
	if err != nil {
		return p.plan, err
	}
	return p.plan, p.SetOrder(p.order(buckets))
}

// Buckets describes all buckets, in the order in which they were formed.
func (p *Pipeline) Buckets() ([]Bucket, error) {
	buckets := make([]Bucket, 0, p.plan.Buckets)
	part := make([]raw.PipelineBucket, 64)
	for {
		var described uint32
		errno := p.world.host.PipelineBuckets(p.handle, uint32(len(buckets)), &part[0], uint32(len(part)), &described)
		if err := p.world.check("pipeline_buckets", errno); err != nil {
			return nil, err
		}
		for i := range part[:described] {
			buckets = append(buckets, bucketOf(&part[i]))
		}
		if int(described) < len(part) {
			return buckets, nil
		}
	}
}

// SetOrder sets the order in which buckets are admitted, the number of each
// once. All ranks set the same, before Agree.
func (p *Pipeline) SetOrder(order []int) error {
	numbers := make([]uint32, len(order), len(order)+1) // so that there is a first one to point to
	for i, number := range order {
		numbers[i] = hostIndex(number)
	}
	first := &numbers[:1][0]
	return p.world.check("pipeline_order", p.world.host.PipelineOrder(p.handle, first, uint32(len(order))))
}

// Agree compares the plan with that of all other ranks, which call it too.
// Nothing moves before they agree. It fails with [ErrMismatch], and so does the
// run, if two of them differ; the error names the first difference.
func (p *Pipeline) Agree(timeout time.Duration) error {
	return p.world.check("pipeline_agree", p.world.host.PipelineAgree(p.handle, int64(timeout)))
}

// Stats are the statistics of this rank's present or last run.
func (p *Pipeline) Stats() (PipelineStats, error) {
	err := p.world.check("pipeline_stats", p.world.host.PipelineStats(p.handle, &p.counted))
	if err != nil {
		return PipelineStats{}, err
	}
	return statsOf(&p.counted), nil
}
