package ccrun_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// rows is an entry of three rows of four bytes, two bytes apart at the source
// and eight at destinations, in buffers of 64 bytes.
func rows(b *ccrun.Buffer, source int, destinations ...int) ccrun.PipelineEntry {
	return ccrun.PipelineEntry{
		Source: source, Destinations: destinations, Planes: 1, Rows: 3, RowBytes: 4,
		Src: ccrun.Place{Buffer: b, Offset: 0, Row: 6}, Dst: ccrun.Place{Buffer: b, Offset: 30, Row: 12},
	}
}

// built is a pipeline of entries that all ranks have agreed on.
func built(w *ccrun.World, o ccrun.PipelineOptions, entries ...ccrun.PipelineEntry) (*ccrun.Pipeline, error) {
	p, err := w.NewPipeline(o)
	if err != nil {
		return nil, err
	}
	if err := p.Add(entries...); err != nil {
		return nil, err
	}
	if _, err := p.Build(); err != nil {
		return nil, err
	}
	return p, p.Agree(ccrun.Forever)
}

func TestPipelineMovesBoxes(t *testing.T) {
	for _, transport := range []ccrun.Transport{ccrun.Packed, ccrun.Chain, ccrun.Scattered} {
		all(t, 3, func(w *ccrun.World) error {
			b, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			mine := bytes.Repeat([]byte{byte(w.Rank() + 1)}, 16)
			e := rows(b, 1, 0, 2)
			e.Transport = transport
			p, err := built(w, ccrun.PipelineOptions{Name: "boxes"}, e)
			if err != nil {
				return err
			}
			for round := range 2 {
				err := errors.Join(b.Write(make([]byte, 64), 0), b.Write(mine, 0), p.Run([]*ccrun.Stream{s}, ccrun.Forever))
				if err != nil {
					return err
				}
				got, want := make([]byte, 34), make([]byte, 34)
				if w.Rank() != 1 {
					for i := range want {
						if i%12 < 4 && i < 28 {
							want[i] = 2
						}
					}
				}
				if err := b.Read(got, 30); err != nil || !bytes.Equal(got, want) {
					t.Errorf("transport %d, round %d, rank %d: got %v, want %v (%v)", transport, round, w.Rank(), got, want, err)
				}
			}
			stats, err := p.Stats()
			if stats.Runs != 2 || stats.Buckets != 1 || stats.Elapsed <= 0 {
				t.Errorf("rank %d: %+v", w.Rank(), stats)
			}
			return errors.Join(err, p.Destroy())
		})
	}
}

// Parts are added up without the source's, ascending, which comes last. In F16
// the order shows: 2048 + 1 + 1 is 2048, 1 + 1 + 2048 is 2050.
func TestPipelineAddsPartsInOrder(t *testing.T) {
	value := [...]uint16{0x6800, 0x3c00, 0x3c00} // 2048, 1, 1
	for source, want := range [...]uint16{0x6801, 0x6800, 0x6800} {
		all(t, 3, func(w *ccrun.World) error {
			b, s, err := parts(w, 4)
			if err != nil {
				return err
			}
			v := value[w.Rank()]
			e := ccrun.PipelineEntry{
				Source: source, Destinations: []int{0, 1, 2}, Parts: []int{0, 1, 2}, Dtype: ccrun.F16, RedOp: ccrun.Sum,
				Planes: 1, Rows: 1, RowBytes: 2, Src: ccrun.Place{Buffer: b}, Dst: ccrun.Place{Buffer: b, Offset: 2},
			}
			p, err := built(w, ccrun.PipelineOptions{}, e)
			if err != nil {
				return err
			}
			var got [2]byte
			err = errors.Join(b.Write([]byte{byte(v), byte(v >> 8)}, 0), p.Run([]*ccrun.Stream{s}, ccrun.Forever), b.Read(got[:], 2))
			if sum := uint16(got[0]) | uint16(got[1])<<8; sum != want {
				t.Errorf("source %d: rank %d has %#x, want %#x", source, w.Rank(), sum, want)
			}
			stats, err2 := p.Stats()
			if total := stats.SentBytes + stats.ReceivedBytes + stats.CopiedBytes; total == 0 || w.Rank() == source && stats.CopiedBytes != 2 {
				t.Errorf("source %d: rank %d has moved %+v", source, w.Rank(), stats)
			}
			return errors.Join(err, err2)
		})
	}
}

func TestPipelineBuckets(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, err := w.Alloc(1000)
		if err != nil {
			return err
		}
		var entries []ccrun.PipelineEntry
		for i, size := range []int64{10, 50, 120, 45, 7, 3} {
			entries = append(entries, ccrun.PipelineEntry{
				Destinations: []int{0}, Tensor: i, Planes: 1, Rows: 1, RowBytes: size,
				Src: ccrun.Place{Buffer: b}, Dst: ccrun.Place{Buffer: b, Offset: 500},
			})
		}
		p, err := w.NewPipeline(ccrun.PipelineOptions{BucketBytes: 100})
		if err != nil {
			return err
		}
		if err := errors.Join(p.Add(entries[:2]...), p.Add(), p.Add(entries[2:]...)); err != nil {
			return err
		}
		plan, err := p.Build()
		if err != nil {
			return err
		}
		if plan.Entries != 6 || plan.Buckets != 3 || plan.Channels != 1 || plan.Mine != 3 || plan.Bytes != 235 || plan.Hash == 0 {
			t.Errorf("plan %+v", plan)
		}
		var got []int64
		buckets, err := p.Buckets()
		for _, bucket := range buckets {
			got = append(got, bucket.Bytes)
		}
		slices.Sort(got)
		if !slices.Equal(got, []int64{10, 105, 120}) {
			t.Errorf("buckets of %v bytes", got)
		}
		return err
	})
}

// More buckets than one call describes.
func TestPipelineDescribesManyBuckets(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, err := w.Alloc(64)
		if err != nil {
			return err
		}
		for _, n := range []int{0, 1, 64, 65, 200} {
			p, err := built(w, ccrun.PipelineOptions{}, slices.Repeat([]ccrun.PipelineEntry{rows(b, 0, 0)}, n)...)
			if err != nil {
				return err
			}
			buckets, err := p.Buckets()
			if err != nil {
				return err
			}
			for i, bucket := range buckets {
				if bucket.Number != i || bucket.Entry != i || !bucket.Mine || bucket.Bytes != 12 {
					t.Errorf("bucket %d of %d: %+v", i, n, bucket)
				}
			}
			if len(buckets) != n {
				t.Errorf("%d buckets, want %d", len(buckets), n)
			}
		}
		return nil
	})
}

// bench is what pipelines that are refused are tried with.
type bench struct {
	*ccrun.World
	p *ccrun.Pipeline
	b *ccrun.Buffer // of 64 bytes
	s *ccrun.Stream
}

// refusals are what is tried, by name, and the errors.
type refusals map[string]struct {
	do   func(*bench) error
	want error
}

// try tries each with a pipeline of its own, on one rank.
func (r refusals) try(t *testing.T) {
	for name, c := range r {
		single(t, func(w *ccrun.World) error {
			b, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			p, err := w.NewPipeline(ccrun.PipelineOptions{})
			if err != nil {
				return err
			}
			if err := c.do(&bench{w, p, b, s}); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			return nil
		})
	}
}

// made only makes a pipeline.
func (k *bench) made(o ccrun.PipelineOptions) error {
	_, err := k.NewPipeline(o)
	return err
}

func TestPipelineRefusesOptions(t *testing.T) {
	refusals{
		"name":  {func(k *bench) error { return k.made(ccrun.PipelineOptions{Name: strings.Repeat("x", 64)}) }, ccrun.ErrInvalid},
		"limit": {func(k *bench) error { return k.made(ccrun.PipelineOptions{MaxBuckets: -1}) }, ccrun.ErrInvalid},
		"count": {func(k *bench) error { return k.made(ccrun.PipelineOptions{Channels: -1}) }, ccrun.ErrInvalid},
	}.try(t)
}

func TestPipelineRefusesEntries(t *testing.T) {
	refusals{
		"no buffer": {func(k *bench) error { return k.p.Add(rows(nil, 0, 0)) }, ccrun.ErrBadHandle},
		"outside": {func(k *bench) error {
			e := rows(k.b, 0, 0)
			e.Dst.Row = 30
			return k.p.Add(e)
		}, ccrun.ErrRange},
		"rank":   {func(k *bench) error { return k.p.Add(rows(k.b, 0, 1)) }, ccrun.ErrNoRank},
		"source": {func(k *bench) error { return k.p.Add(rows(k.b, -1, 0)) }, ccrun.ErrNoRank},
	}.try(t)
}

func TestPipelineRefusesSteps(t *testing.T) {
	refusals{
		"early": {func(k *bench) error { return k.p.Agree(ccrun.Forever) }, ccrun.ErrInvalid},
		"late": {func(k *bench) error {
			_, err := k.p.Build()
			return errors.Join(err, k.p.Add(rows(k.b, 0, 0)))
		}, ccrun.ErrInvalid},
		"order": {func(k *bench) error {
			err := k.p.Add(rows(k.b, 0, 0), rows(k.b, 0, 0))
			_, err2 := k.p.Build()
			return errors.Join(err, err2, k.p.SetOrder([]int{1, 1}))
		}, ccrun.ErrInvalid},
		"streams": {func(k *bench) error {
			_, err := k.p.Build()
			return errors.Join(err, k.p.Agree(ccrun.Forever), k.p.Start())
		}, ccrun.ErrInvalid},
		"stream": {func(k *bench) error {
			k.s.Reduce(ccrun.Sum, ccrun.U8, ccrun.Region{})
			return k.p.Start(k.s)
		}, ccrun.ErrInvalid},
		"destroyed": {func(k *bench) error {
			if err := k.p.Destroy(); err != nil {
				return fmt.Errorf("destroy: %v", err)
			}
			_, err := k.p.Stats()
			return err
		}, ccrun.ErrStale},
	}.try(t)
}

func TestPipelineMismatch(t *testing.T) {
	all(t, 3, func(w *ccrun.World) error {
		b, err := w.Alloc(64)
		if err != nil {
			return err
		}
		odd := rows(b, 0, 1, 2)
		if w.Rank() == 1 {
			odd.Destinations = []int{1}
		}
		_, err = built(w, ccrun.PipelineOptions{}, rows(b, 2, 0), odd)
		if !errors.Is(err, ccrun.ErrMismatch) || !strings.Contains(fmt.Sprint(err), "entry 1: rank 0") {
			t.Errorf("rank %d: %v", w.Rank(), err)
		}
		return nil
	})
}

func TestPipelineDeadlines(t *testing.T) {
	all(t, 2, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		p, err := w.NewPipeline(ccrun.PipelineOptions{})
		if err != nil {
			return err
		}
		err = p.Add(rows(b, 0, 1))
		_, err2 := p.Build()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if w.Rank() == 0 {
			if err := p.Agree(time.Millisecond); !errors.Is(err, ccrun.ErrTimedOut) {
				t.Errorf("agreed alone: %v", err)
			}
		}
		if err := errors.Join(w.Barrier(ccrun.Forever), p.Agree(ccrun.Forever)); err != nil {
			return err
		}
		if w.Rank() == 1 {
			return errors.Join(w.Barrier(ccrun.Forever), p.Run([]*ccrun.Stream{s}, ccrun.Forever))
		}
		if err := p.Start(s); err != nil {
			return err
		}
		if _, err := p.Wait(time.Millisecond); !errors.Is(err, ccrun.ErrTimedOut) {
			t.Errorf("done alone: %v", err)
		}
		if err := p.Destroy(); !errors.Is(err, ccrun.ErrInvalid) {
			t.Errorf("destroyed under way: %v", err)
		}
		err = w.Barrier(ccrun.Forever)
		status, err2 := p.Wait(ccrun.Forever)
		if !status.Done || status.Finished != 1 {
			t.Errorf("status %+v", status)
		}
		return errors.Join(err, err2)
	})
}

// A script without a hook admits by hand, place by place.
func TestPipelineAdmittedByHand(t *testing.T) {
	all(t, 2, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		entries := slices.Repeat([]ccrun.PipelineEntry{rows(b, 0, 1)}, 3)
		p, err := built(w, ccrun.PipelineOptions{Policy: ccrun.Scripted}, entries...)
		if err != nil {
			return err
		}
		if err := p.Run([]*ccrun.Stream{s}, ccrun.Forever); !errors.Is(err, ccrun.ErrInvalid) {
			t.Errorf("a run that nobody admits: %v", err)
		}
		var finished []int
		for place := 0; ; {
			status, err := p.Poll()
			if err != nil {
				return err
			}
			if status.Admitted > place {
				t.Errorf("%d buckets admitted before place %d", status.Admitted, place)
			}
			if status.Done {
				break
			}
			if status.Finished == place {
				finished = append(finished, status.Finished)
				place++
				if err := p.AdmitBefore(place); err != nil {
					return err
				}
			} else if _, err := p.Wait(ccrun.Forever); err != nil {
				return err
			}
		}
		if !slices.Equal(finished, []int{0, 1, 2}) {
			t.Errorf("rank %d admitted at %v", w.Rank(), finished)
		}
		return nil
	})
}

func TestPipelineScripts(t *testing.T) {
	all(t, 3, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		var ordered []ccrun.Bucket
		var limits []int
		o := ccrun.PipelineOptions{
			Policy: ccrun.Scripted,
			Order: func(buckets []ccrun.Bucket) []int {
				ordered = buckets
				return []int{2, 1, 0, 3}
			},
			Admit: func(s ccrun.PipelineStatus) int {
				limits = append(limits, s.Published+1)
				return s.Published + 1
			},
		}
		entries := []ccrun.PipelineEntry{rows(b, 0, 1), rows(b, 1, 2), rows(b, 2, 0), rows(b, 0, 1, 2)}
		p, err := built(w, o, entries...)
		if err != nil {
			return err
		}
		for range 2 {
			limits = nil
			if err := p.Run([]*ccrun.Stream{s}, time.Hour); err != nil {
				return err
			}
			if len(ordered) != 4 || !slices.IsSorted(limits) || limits[0] < 1 || slices.Max(limits) > 4 {
				t.Errorf("rank %d: %d buckets, limits %v", w.Rank(), len(ordered), limits)
			}
		}
		return nil
	})
}

// A script that admits nothing is stopped by the deadline.
func TestPipelineScriptThatNeverAdmits(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		o := ccrun.PipelineOptions{Policy: ccrun.Scripted, Admit: func(ccrun.PipelineStatus) int { return 0 }}
		p, err := built(w, o, rows(b, 0, 0))
		if err != nil {
			return err
		}
		if err := p.Run([]*ccrun.Stream{s}, time.Millisecond); !errors.Is(err, ccrun.ErrTimedOut) {
			t.Errorf("a run that nobody admits: %v", err)
		}
		status, err := p.Poll()
		if status.Done || status.Admitted != 0 || status.Stalled != ccrun.StallPolicy {
			t.Errorf("status %+v", status)
		}
		return err
	})
}

// recorded keeps what the host is given.
type recorded struct {
	raw.Calls
	params  raw.Pipeline
	name    *[64]byte
	ranks   []uint32
	entries []raw.PipelineEntry
}

func (r *recorded) World(*raw.World) raw.Errno               { return raw.OK }
func (r *recorded) AddressOfText(text *[64]byte) uint32      { r.name = text; return 1 }
func (r *recorded) BufferAlloc(_ int64, h *uint64) raw.Errno { *h = 7; return raw.OK }
func (r *recorded) PipelineCreate(p *raw.Pipeline, h *uint64) raw.Errno {
	r.params, *h = *p, 5
	return raw.OK
}
func (r *recorded) PipelineRanks(_ uint64, ranks *uint32, n uint32) raw.Errno {
	r.ranks = append(r.ranks, copied(ranks, n)...)
	return raw.OK
}
func (r *recorded) PipelineAdd(_ uint64, entries *raw.PipelineEntry, n uint32) raw.Errno {
	r.entries = append(r.entries, copied(entries, n)...)
	return raw.OK
}

func TestPipelineSaysWhatItIs(t *testing.T) {
	host := &recorded{}
	w, err := ccrun.OpenHost(raw.Host{Calls: host})
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.NewPipeline(ccrun.PipelineOptions{
		Name: "weights", BucketBytes: 1, MaxBytes: 2, MaxBuckets: 3, MaxInFlight: 4, Policy: ccrun.Credits, Window: 5,
		Oversize: ccrun.OversizeRefuse, Publish: ccrun.PublishInOrder, Checksums: true, Warmup: true, FirstSlot: 6, FirstChannel: 7, Channels: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := raw.Pipeline{
		BucketBytes: 1, MaxBytes: 2, MaxBuckets: 3, MaxInFlight: 4, Policy: raw.AdmissionCredits, Window: 5, Oversize: raw.OversizeRefuse,
		Publish: raw.PublishInOrder, Flags: 3, FirstSlot: 6, FirstChannel: 7, Channels: 8, Name: 1, NameLen: 7,
	}
	if host.params != want || string(host.name[:8]) != "weights\x00" {
		t.Errorf("got  %+v %q\nwant %+v", host.params, host.name, want)
	}
	e := ccrun.PipelineEntry{
		Source: 2, Destinations: []int{0, 3}, Parts: []int{1, 2}, Dtype: ccrun.BF16, RedOp: ccrun.Max, Transport: ccrun.Scattered,
		Tensor: 9, Cell: 10, Planes: 11, Rows: 12, RowBytes: 14,
		Src: ccrun.Place{Buffer: b, Offset: 15, Row: 16, Plane: 17}, Dst: ccrun.Place{Buffer: b, Offset: 18, Row: 19, Plane: 20},
	}
	again := e
	again.Parts = []int{0, 3} // the destinations of the first
	if err := errors.Join(p.Add(e), p.Add(again)); err != nil {
		t.Fatal(err)
	}
	raws := []raw.PipelineEntry{{
		Source: 2, DstFirst: 0, DstCount: 2, PartFirst: 2, PartCount: 2, Tensor: 9, Cell: 10, Dtype: raw.DtypeBf16, Redop: raw.RedopMax,
		Transport: raw.TransportScattered, Planes: 11, Rows: 12, RowBytes: 14,
		Src: 7, SrcOffset: 15, SrcRow: 16, SrcPlane: 17, Dst: 7, DstOffset: 18, DstRow: 19, DstPlane: 20,
	}}
	raws = append(raws, raws[0])
	raws[1].PartFirst = 0
	if !slices.Equal(host.entries, raws) || !slices.Equal(host.ranks, []uint32{0, 3, 1, 2}) {
		t.Errorf("got  %+v of %v\nwant %+v", host.entries, host.ranks, raws)
	}
}

// A world of the package ends, whatever its delays.
func TestPipelinesUnderDelays(t *testing.T) {
	for seed := range uint64(20) {
		result := ccruntest.RunDelayed(t, 4, seed, func(w *ccrun.World) error {
			b, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			s.Fill(b.All(), ccrun.U8, uint64(w.Rank()))
			if err := s.Sync(); err != nil {
				return err
			}
			p, err := built(w, ccrun.PipelineOptions{}, rows(b, 0, 1), rows(b, 2, 3), rows(b, 3, 0))
			if err != nil {
				return err
			}
			return p.Run([]*ccrun.Stream{s}, ccrun.Forever)
		})
		if err := errors.Join(result.Errs...); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
