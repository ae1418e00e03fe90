// Failedbucket runs a bucket pipeline of which a bucket is to fail, and then looks
// at all that it writes: all ranks must name the same bucket, each must have all of
// its new bytes or none, and published in order none behind the one that failed
// may have any (one by one also if it was to be written that failed). Every rank
// prints one line.
//
// Buckets are numbered, and ordered, as the entries are; entry i goes from rank i
// to the ranks after it, mod their number.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// laneCount is how many streams the pipeline has, placeSlot a signal slot that it
// has not.
const (
	laneCount = 8
	placeSlot = 100
)

// exitFailed is the exit code of a run of which a bucket has failed.
const exitFailed = 3

// settling is how long is waited for what is still written when the run has
// failed. Streams may be stuck then: what they wait for is not sent any more.
const settling = 300 * time.Millisecond

// options are what the flags say.
type options struct {
	buckets, copies, inFlight int
	bytes                     int64
	checksums, goOn, parts    bool
	transport                 ccrun.Transport
	publish                   ccrun.Publishing
}

// What flags may say.
var (
	publishing = words[ccrun.Publishing]{"at_once": ccrun.PublishAtOnce, "in_order": ccrun.PublishInOrder, "one_by_one": ccrun.PublishOneByOne}
	transports = words[ccrun.Transport]{"packed": ccrun.Packed, "chain": ccrun.Chain, "scattered": ccrun.Scattered, "direct": ccrun.Direct}
)

// words name values.
type words[T any] map[string]T

// flag sets a value to what a flag names.
func (w words[T]) flag(to *T, name, usage string) {
	known := strings.Join(slices.Sorted(maps.Keys(w)), ", ")
	flag.Func(name, usage+": "+known, func(text string) error {
		value, ok := w[text]
		if !ok {
			return fmt.Errorf("it is none of %s", known)
		}
		*to = value
		return nil
	})
}

func main() {
	o := options{publish: ccrun.PublishInOrder}
	flag.IntVar(&o.buckets, "buckets", 24, "how many")
	flag.Int64Var(&o.bytes, "bytes", 4096, "size of each")
	flag.IntVar(&o.copies, "copies", 1, "ranks that each goes to")
	flag.IntVar(&o.inFlight, "in-flight", 2, "buckets in flight per channel")
	publishing.flag(&o.publish, "publish", "when buckets are written")
	flag.BoolVar(&o.checksums, "checksums", false, "compare digests")
	flag.BoolVar(&o.goOn, "go-on", false, "end well though a bucket has failed")
	flag.BoolVar(&o.parts, "parts", false, "add up two ranks' parts")
	transports.flag(&o.transport, "transport", "how they travel")
	flag.Parse()
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, &o)
	}
	if errors.Is(err, errBucket) {
		os.Exit(exitFailed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "failedbucket:", err)
		os.Exit(1)
	}
}

var errBucket = errors.New("a bucket has failed")

// site is one rank's side.
type site struct {
	*options
	world   *ccrun.World
	from    *ccrun.Buffer
	to      *ccrun.Buffer
	streams []*ccrun.Stream // of the pipeline
	spare   *ccrun.Stream
	entries []ccrun.PipelineEntry
}

func run(world *ccrun.World, o *options) error {
	s := &site{options: o, world: world}
	if err := s.open(); err != nil {
		return err
	}
	failed := s.move()
	if errors.Is(failed, ccrun.ErrFailed) {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", world.Rank(), failed)
	} else if failed != nil {
		return failed
	}
	s.settle()
	place, err := s.placeOf(failed)
	if err == nil {
		err = s.compare(place)
	}
	if err == nil {
		err = s.look(place)
	}
	if err := errors.Join(err, world.Barrier(ccrun.Forever)); err != nil { // until all have looked
		return err
	}
	if failed != nil && !o.goOn {
		return errBucket
	}
	return nil
}

// settle waits until streams are idle, have failed, or are stuck.
func (s *site) settle() {
	deadline := time.Now().Add(settling)
	for _, stream := range s.streams {
		for {
			if done, err := stream.Query(); done || err != nil || time.Now().After(deadline) {
				break
			}
		}
	}
}

// open makes buffers and fills them: the source with what is to be moved, the
// target with what must not stay.
func (s *site) open() error {
	var err1, err2, err3 error
	total := int64(s.buckets) * s.bytes
	s.from, err1 = s.world.Alloc(total)
	s.to, err2 = s.world.Alloc(total)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for range laneCount {
		stream, err := s.world.NewStream()
		if err != nil {
			return err
		}
		s.streams = append(s.streams, stream)
	}
	s.spare, err3 = s.world.NewStream()
	for i := range s.buckets {
		at := int64(i) * s.bytes
		err1 = errors.Join(err1, s.from.Write(s.content(i, isNew), at), s.to.Write(s.content(i, isOld), at))
		s.entries = append(s.entries, s.entry(i))
	}
	return errors.Join(err1, err3)
}

func (s *site) entry(i int) ccrun.PipelineEntry {
	size := s.world.Size()
	place := ccrun.Place{Offset: int64(i) * s.bytes}
	e := ccrun.PipelineEntry{
		Source: i % size, Tensor: i, Dtype: ccrun.U8, Planes: 1, Rows: 1, RowBytes: s.bytes, Src: place, Dst: place,
		Transport: s.transport,
	}
	e.Src.Buffer, e.Dst.Buffer = s.from, s.to
	for n := range s.copies {
		e.Destinations = append(e.Destinations, (i+1+n)%size)
	}
	if s.parts { // which are alike
		e.RedOp, e.Parts = ccrun.Max, []int{i % size, (i + size - 1) % size}
		slices.Sort(e.Parts)
	}
	slices.Sort(e.Destinations)
	return e
}

// lands reports whether this rank gets a bucket.
func (s *site) lands(i int) bool { return slices.Contains(s.entries[i].Destinations, s.world.Rank()) }

// move runs the pipeline.
func (s *site) move() error {
	o := ccrun.PipelineOptions{
		MaxInFlight: s.inFlight, Checksums: s.checksums,
		Publish: s.publish,
		Order: func(buckets []ccrun.Bucket) []int { // as the entries are
			slices.SortFunc(buckets, func(a, b ccrun.Bucket) int { return a.Entry - b.Entry })
			order := make([]int, len(buckets))
			for i := range buckets {
				order[i] = buckets[i].Number
			}
			return order
		},
	}
	p, err := s.world.NewPipeline(o)
	if err != nil {
		return err
	}
	if err := p.Add(s.entries...); err != nil {
		return err
	}
	if _, err := p.Build(); err != nil {
		return err
	}
	if err := p.Agree(ccrun.Forever); err != nil {
		return err
	}
	return p.Run(s.streams, ccrun.Forever)
}

// state is what a place holds.
type state int

const (
	isOld state = iota
	isNew
	isTorn
)

// content is what a bucket has, or its place before it came.
func (s *site) content(i int, which state) []byte {
	b := make([]byte, s.bytes)
	for at := range b {
		b[at] = byte(at*7+i*31) ^ byte(0x80*(1-which))
	}
	return b
}

// at is what the place of a bucket holds.
func (s *site) at(i int) (state, error) {
	got := make([]byte, s.bytes)
	if err := s.to.Read(got, int64(i)*s.bytes); err != nil {
		return isTorn, err
	}
	for _, which := range []state{isOld, isNew} {
		if slices.Equal(got, s.content(i, which)) {
			return which, nil
		}
	}
	return isTorn, nil
}

var placed = regexp.MustCompile(`at place (\d+)`)

// placeOf is the place of the bucket that has failed, as the host names it; that
// behind the last one if none has.
func (s *site) placeOf(failed error) (int, error) {
	if failed == nil {
		return s.buckets, nil
	}
	found := placed.FindStringSubmatch(failed.Error())
	if found == nil {
		return 0, fmt.Errorf("rank %d: no place in %q", s.world.Rank(), failed)
	}
	return strconv.Atoi(found[1])
}

// compare tells all ranks of a place, and that they tell of the same.
func (s *site) compare(place int) error {
	for rank := range s.world.Size() {
		s.spare.Signal(rank, placeSlot, uint64(place)+1)
	}
	if err := s.spare.Sync(); err != nil {
		return err
	}
	for rank := range s.world.Size() {
		s.spare.Wait(rank, placeSlot, 1)
		if err := s.spare.Sync(); err != nil {
			return err
		}
		theirs, err := s.world.SignalValue(rank, placeSlot)
		if err != nil {
			return err
		}
		if int(theirs) != place+1 {
			return fmt.Errorf("rank %d: place %d has failed, and rank %d says %d", s.world.Rank(), place, rank, theirs-1)
		}
	}
	return nil
}

// look prints how what is written is, and refuses what must not be.
func (s *site) look(failed int) error {
	var before, there, after [3]int // by state
	for i := range s.buckets {
		if !s.lands(i) {
			continue
		}
		which, err := s.at(i)
		switch {
		case err != nil:
			return err
		case i < failed:
			before[which]++
		case i == failed:
			there[which]++
		default:
			after[which]++
		}
	}
	rank := s.world.Rank()
	switch {
	case before[isTorn]+there[isTorn]+after[isTorn] > 0:
		return fmt.Errorf("rank %d: wrong bytes: in %d buckets before place %d, %d there, %d after it", rank, before[isTorn], failed, there[isTorn], after[isTorn])
	case after[isNew] > 0 && s.publish != ccrun.PublishAtOnce:
		return fmt.Errorf("rank %d: %d buckets after place %d have been published", rank, after[isNew], failed)
	case failed == s.buckets && before[isOld] > 0:
		return fmt.Errorf("rank %d: %d buckets have not come", rank, before[isOld])
	case failed == s.buckets:
		fmt.Printf("rank %d: all %d buckets are there\n", rank, before[isNew])
	default:
		fmt.Printf("rank %d: place %d has failed, %d later ones are as they were\n", rank, failed, after[isOld])
	}
	return nil
}
