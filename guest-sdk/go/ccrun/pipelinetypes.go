package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Admission is when a pipeline admits buckets, within its limits.
type Admission uint32

// The policies.
const (
	AllAtOnce  Admission = raw.AdmissionAllAtOnce  // as soon as it can
	Windowed   Admission = raw.AdmissionWindowed   // a window at a time
	Serialized Admission = raw.AdmissionSerialized // one at a time
	Credits    Admission = raw.AdmissionCredits    // when all receivers have granted a credit
	Scripted   Admission = raw.AdmissionScripted   // when the guest says so
)

// Oversize is what becomes of a bucket that needs more memory than the budget.
type Oversize uint32

// What may become of it.
const (
	OversizeAlone  Oversize = raw.OversizeAlone  // it has the rank to itself
	OversizeRefuse Oversize = raw.OversizeRefuse // the pipeline is refused
)

// Publishing is when what has arrived is written to where it belongs.
type Publishing uint32

// When that is.
const (
	PublishAtOnce   Publishing = raw.PublishAtOnce   // when it has arrived
	PublishInOrder  Publishing = raw.PublishInOrder  // when all earlier buckets of the order have arrived on all ranks
	PublishOneByOne Publishing = raw.PublishOneByOne // when all earlier buckets of the order have been written on all ranks
)

// Transport is how a bucket travels.
type Transport uint8

// The transports.
const (
	Packed    Transport = raw.TransportPacked    // packed, from its source to each destination
	Chain     Transport = raw.TransportChain     // packed, from destination to destination
	Scattered Transport = raw.TransportScattered // entry by entry, from where they lie
	Direct    Transport = raw.TransportDirect    // not at all: destinations copy it from the memory of the source, which they must be able to reach; not with parts or checksums
)

// Stall is why the next bucket of a rank is not admitted.
type Stall uint32

// The causes.
const (
	StallNone     Stall = raw.StallNone
	StallOrder    Stall = raw.StallOrder    // a rank's turn in the order
	StallChannel  Stall = raw.StallChannel  // PipelineOptions.MaxInFlight
	StallBuckets  Stall = raw.StallBuckets  // PipelineOptions.MaxBuckets
	StallBytes    Stall = raw.StallBytes    // PipelineOptions.MaxBytes
	StallPolicy   Stall = raw.StallPolicy   // the window, or the script
	StallCredit   Stall = raw.StallCredit   // receivers' credits
	StallStreams  Stall = raw.StallStreams  // a stream, or a send channel
	StallOversize Stall = raw.StallOversize // all others, as it needs more than MaxBytes
)

// String is the stall's name, as the ABI has it.
func (s Stall) String() string {
	names := [...]string{"none", "order", "channel", "buckets", "bytes", "policy", "credit", "streams", "oversize"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// PipelinePlan is what the entries of a pipeline came to.
type PipelinePlan struct {
	Entries, Buckets, Channels int
	Mine                       int    // buckets that this rank has a part in
	MyChannels                 int    // channels of those
	Bytes                      int64  // of all entries
	LargestBytes               int64  // staging memory of the bucket that needs most on this rank
	Hash                       uint64 // of the entries and their buckets, the same on all ranks
}

// Bucket is entries that travel together.
type Bucket struct {
	Number       int
	Channel      int
	Source       int // rank that it comes from
	Destinations int // how many ranks it goes to
	Destination  int // the first of them, or the source
	Parts        int // ranks whose parts are added up first, 0 for none
	Entries      int
	Entry        int // the first of them
	Bytes        int64
	Mine         bool // this rank has a part in it
}

// PipelineStatus is how far a rank is.
type PipelineStatus struct {
	Mine      int // buckets that it has a part in
	Admitted  int // of those
	Finished  int // and of those
	Next      int // place in the order of the first that is not admitted; the number of all buckets if none is left
	Published int // so many buckets of the order have arrived on all their ranks, as far as this one knows
	Stalled   Stall
	Done      bool  // the run has ended well on all ranks
	HeldBytes int64 // staging memory that its buckets hold
}

// PipelineStats is a rank's run of a pipeline.
type PipelineStats struct {
	Elapsed         time.Duration // from its start to its end, or until now
	SentBytes       int64         // to other ranks
	ReceivedBytes   int64         // from them
	CopiedBytes     int64         // copied here without being sent
	PeakBytes       int64         // most staging memory that was held at a time
	MeanBytes       int64         // on average over time
	PeakBuckets     int           // most buckets in flight at a time
	MeanBuckets     float64       // on average over time
	PeakOperations  int           // most operations under way at a time
	PeakDescriptors int           // most entries of buckets in flight at a time
	Buckets         int           // finished
	Operations      int64         // submitted
	DevicePeakBytes int64         // most memory that the device had given this rank during the run, beyond what it had at the start
	Runs            int64         // begun
	Skipped         int64         // buckets admitted before one that comes earlier in the order
	Allocations     int64         // times that the device was asked for staging memory

	Stalls [StallOversize + 1]time.Duration // in which the next bucket waited, by cause
}

func planOf(p *raw.PipelinePlan) PipelinePlan {
	return PipelinePlan{
		Entries: int(p.Entries), Buckets: int(p.Buckets), Channels: int(p.Channels), Mine: int(p.Mine), MyChannels: int(p.MyChannels),
		Bytes: int64(p.Bytes), LargestBytes: int64(p.Largest), Hash: p.Hash,
	}
}

func bucketOf(b *raw.PipelineBucket) Bucket {
	return Bucket{
		Number: int(b.Bucket), Channel: int(b.Channel), Source: int(b.Source), Destinations: int(b.Destinations),
		Destination: int(b.Destination), Parts: int(b.Parts), Entries: int(b.Entries), Entry: int(b.Entry),
		Bytes: int64(b.Bytes), Mine: b.Mine != 0,
	}
}

func statsOf(s *raw.PipelineStats) PipelineStats {
	return PipelineStats{
		Elapsed: time.Duration(s.Nanos), SentBytes: int64(s.Sent), ReceivedBytes: int64(s.Received), CopiedBytes: int64(s.Copied),
		PeakBytes: int64(s.PeakBytes), MeanBytes: int64(s.MeanBytes), PeakBuckets: int(s.PeakBuckets), MeanBuckets: float64(s.MeanBucketsMilli) / 1000,
		PeakOperations: int(s.PeakOperations), PeakDescriptors: int(s.PeakDescriptors), Buckets: int(s.Buckets), Operations: int64(s.Operations),
		DevicePeakBytes: int64(s.DevicePeakBytes), Runs: int64(s.Runs), Skipped: int64(s.Skipped), Allocations: int64(s.Allocations),
		Stalls: [...]time.Duration{
			StallNone: 0, StallOrder: time.Duration(s.StallOrder), StallChannel: time.Duration(s.StallChannel),
			StallBuckets: time.Duration(s.StallBuckets), StallBytes: time.Duration(s.StallBytes), StallPolicy: time.Duration(s.StallPolicy),
			StallCredit: time.Duration(s.StallCredit), StallStreams: time.Duration(s.StallStreams), StallOversize: time.Duration(s.StallOversize),
		},
	}
}
