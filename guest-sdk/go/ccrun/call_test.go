package ccrun_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// comms gives a stream, the world's communicator and the one of this rank's
// parity, in reverse order.
func comms(w *ccrun.World) (s *ccrun.Stream, whole, part *ccrun.Comm, err error) {
	if s, err = w.NewStream(); err != nil {
		return
	}
	if whole, err = w.Comm(); err != nil {
		return
	}
	part, err = whole.Split(int32(w.Rank()%2), int32(-w.Rank()))
	return
}

func TestSplit(t *testing.T) {
	groups := make([]int, 5)
	all(t, 5, func(w *ccrun.World) error {
		_, whole, part, err := comms(w)
		if err != nil {
			return err
		}
		if whole.Rank() != w.Rank() || whole.Size() != 5 || whole.Group() != 0 || whole.Ring() != w.Ring() {
			t.Errorf("rank %d: the world's communicator is %d of %d, group %d", w.Rank(), whole.Rank(), whole.Size(), whole.Group())
		}
		members := [][]int{{4, 2, 0}, {3, 1}}[w.Rank()%2]
		if part.Size() != len(members) || members[part.Rank()] != w.Rank() {
			t.Errorf("rank %d is %d of %d, want its place in %v", w.Rank(), part.Rank(), part.Size(), members)
		}
		for rank, want := range members {
			if got, err := part.WorldRank(rank); err != nil || got != want {
				t.Errorf("rank %d of the part is rank %d (%v), want %d", rank, got, err, want)
			}
		}
		if _, err := part.WorldRank(len(members)); !errors.Is(err, ccrun.ErrNoRank) {
			t.Errorf("a rank too many: %v", err)
		}
		groups[w.Rank()] = part.Group()
		none, err := whole.Split(-1, 0)
		if none != nil || err != nil {
			t.Errorf("a split without a color gives %v, %v", none, err)
		}
		if err := part.Free(); err != nil {
			return err
		}
		if err := part.Free(); !errors.Is(err, ccrun.ErrStale) {
			t.Errorf("freed twice: %v", err)
		}
		return nil
	})
	if groups[0] != groups[2] || groups[1] != groups[3] || groups[0] == groups[1] || groups[0] == 0 {
		t.Errorf("groups of ranks: %v", groups)
	}
}

func TestSplitHasADeadline(t *testing.T) {
	all(t, 2, func(w *ccrun.World) error {
		whole, err := w.Comm()
		if err != nil {
			return err
		}
		if w.Rank() == 0 {
			if _, err := whole.SplitWithin(0, 0, time.Millisecond); !errors.Is(err, ccrun.ErrTimedOut) {
				t.Errorf("a split that nobody joins: %v", err)
			}
		}
		if err := w.Barrier(ccrun.Forever); err != nil {
			return err
		}
		part, err := whole.Split(0, 0)
		if err == nil && part.Size() != 2 {
			t.Errorf("repeated, it has %d ranks", part.Size())
		}
		return err
	})
}

// Within a group, ranks may call on two communicators in different orders.
func TestGroupsOfTwoCommunicators(t *testing.T) {
	result := all(t, 4, func(w *ccrun.World) error {
		s, whole, part, err := comms(w)
		if err != nil {
			return err
		}
		b, err := w.Alloc(48)
		if err != nil {
			return err
		}
		mine, sum, sumOfPart := b.At(0, 16), b.At(16, 16), b.At(32, 16)
		s.Fill(mine, ccrun.I32, uint64(w.Rank()))
		calls := []func(){
			func() { s.AllReduce(whole, ccrun.Sum, ccrun.I32, sum, mine) },
			func() { s.AllReduce(part, ccrun.Sum, ccrun.I32, sumOfPart, mine) },
		}
		if w.Rank()%2 == 1 {
			slices.Reverse(calls)
		}
		s.Group(func() {
			calls[0]()
			s.Group(calls[1]) // one within another is part of it
		})
		if _, err := s.VerifyReduced(sum, ccrun.I32, ccrun.Sum, []uint64{0, 1, 2, 3}, 0); err != nil {
			return err
		}
		_, err = s.VerifyReduced(sumOfPart, ccrun.I32, ccrun.Sum, []uint64{uint64(w.Rank() % 2), uint64(w.Rank()%2 + 2)}, 0)
		return err
	})
	if result.Mismatches != 0 {
		t.Errorf("%d elements are wrong", result.Mismatches)
	}
}

func TestGroupsHaveRoomFor64Calls(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		s, whole, _, err := comms(w)
		if err != nil {
			return err
		}
		s.Group(func() {
			for range 64 {
				s.Barrier(whole)
			}
		})
		if err := s.Sync(); err != nil {
			return err
		}
		s.Group(func() {
			for range 65 {
				s.Barrier(whole)
			}
		})
		if err := s.Sync(); !errors.Is(err, ccrun.ErrLimit) {
			t.Errorf("65 calls: %v", err)
		}
		return nil
	})
}

// What the host is asked for, from sizes and options.
func TestCallsSayWhatTheyAre(t *testing.T) {
	result := all(t, 1, func(w *ccrun.World) error {
		s, whole, _, err := comms(w)
		if err != nil {
			return err
		}
		b, err := w.Alloc(64)
		if err != nil {
			return err
		}
		whole.Options = ccrun.CallOptions{Algorithm: "ring", SliceBytes: 4096, Warmup: true}
		s.AllReduce(whole, ccrun.Avg, ccrun.BF16, b.At(2, 8), b.At(32, 8))
		whole.Options = ccrun.CallOptions{}
		s.Broadcast(whole, ccrun.F64, 0, b.At(8, 16), ccrun.Region{})
		return s.Sync()
	})
	calls := result.Calls[0]
	for i := range calls {
		calls[i].Comm, calls[i].In, calls[i].Out = 0, 0, 0 // handles
	}
	want := []raw.Call{
		{Op: raw.CollectiveAllReduce, Dtype: raw.DtypeBf16, Redop: raw.RedopAvg, Flags: 1, SliceBytes: 4096, Count: 4, InOffset: 32, OutOffset: 2, Algorithm: 1, AlgorithmLen: 4},
		{Op: raw.CollectiveBroadcast, Dtype: raw.DtypeF64, Count: 2, OutOffset: 8},
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got  %+v\nwant %+v", calls, want)
	}
}

func TestSizesOfCollectivesMustAgree(t *testing.T) {
	for name, c := range map[string]struct {
		call func(*ccrun.Stream, *ccrun.Comm, *ccrun.Buffer)
		want error
	}{
		"all_reduce": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) {
			s.AllReduce(c, 0, ccrun.F32, b.At(0, 8), b.At(8, 4))
		}, ccrun.ErrRange},
		"elements": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) {
			s.AllReduce(c, 0, ccrun.F32, b.At(0, 6), b.At(8, 6))
		}, ccrun.ErrRange},
		"all_gather": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) {
			s.AllGather(c, ccrun.U8, b.At(0, 8), b.At(8, 8))
		}, ccrun.ErrRange},
		"parts": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) {
			s.AllGather(c, ccrun.U8, b.At(0, 7), ccrun.Region{})
		}, ccrun.ErrRange},
		"reduce_scatter": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) {
			s.ReduceScatter(c, 0, ccrun.U8, b.At(0, 8), b.At(8, 8))
		}, ccrun.ErrRange},
		"all_to_all":    {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) { s.AllToAll(c, ccrun.U8, b.At(0, 8), b.At(8, 4)) }, ccrun.ErrRange},
		"root":          {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) { s.Broadcast(c, ccrun.U8, 2, b.All(), b.All()) }, ccrun.ErrNoRank},
		"negative root": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) { s.Broadcast(c, ccrun.U8, -1, b.All(), b.All()) }, ccrun.ErrNoRank},
		"counts": {func(s *ccrun.Stream, c *ccrun.Comm, b *ccrun.Buffer) {
			s.AllToAllV(c, ccrun.U8, b.All(), b.All(), ccrun.Parts{})
		}, ccrun.ErrInvalid},
		"slices": {func(s *ccrun.Stream, c *ccrun.Comm, _ *ccrun.Buffer) {
			c.Options.SliceBytes = 1 << 32
			s.Barrier(c)
		}, ccrun.ErrInvalid},
		"matrix": {func(s *ccrun.Stream, _ *ccrun.Comm, b *ccrun.Buffer) {
			s.Gemm(ccrun.Gemm{Dtype: ccrun.F32, A: b.At(0, 4), B: b.At(4, 4), C: b.At(8, 8), M: 1, N: 1, K: 1})
		}, ccrun.ErrRange},
		"type of a matrix": {func(s *ccrun.Stream, _ *ccrun.Comm, b *ccrun.Buffer) {
			s.Gemm(ccrun.Gemm{Dtype: ccrun.I32, A: b.At(0, 4), B: b.At(4, 4), C: b.At(8, 4), M: 1, N: 1, K: 1})
		}, ccrun.ErrInvalid},
	} {
		all(t, 2, func(w *ccrun.World) error {
			s, whole, _, err := comms(w)
			if err != nil {
				return err
			}
			b, err := w.Alloc(16)
			if err != nil {
				return err
			}
			c.call(s, whole, b)
			if err := s.Err(); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			return nil
		})
	}
}

func TestRanksThatCallDifferentCollectivesFail(t *testing.T) {
	all(t, 2, func(w *ccrun.World) error {
		s, whole, _, err := comms(w)
		if err != nil {
			return err
		}
		b, err := w.Alloc(16)
		if err != nil {
			return err
		}
		s.AllReduce(whole, ccrun.Sum, ccrun.I32, b.At(0, int64(4+4*w.Rank())), ccrun.Region{})
		if err := s.Sync(); !errors.Is(err, ccrun.ErrFailed) {
			t.Errorf("rank %d: %v", w.Rank(), err)
		}
		return nil
	})
}

func TestGemm(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		// A = (1 2; 3 4), B = (5; 6), twice, so that the product is added to itself.
		if err := b.Write([]byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64, 0, 0, 160, 64, 0, 0, 192, 64}, 0); err != nil {
			return err
		}
		g := ccrun.Gemm{Dtype: ccrun.F32, M: 2, N: 1, K: 2, A: b.At(0, 16), B: b.At(16, 8), C: b.At(24, 8)}
		s.Gemm(g)
		g.Add = true
		s.Gemm(g)
		if err := s.Sync(); err != nil {
			return err
		}
		var got [8]byte
		if err := b.Read(got[:], 24); err != nil {
			return err
		}
		if want := [8]byte{0, 0, 8, 66, 0, 0, 156, 66}; got != want { // 34, 78
			t.Errorf("got %v, want %v", got, want)
		}
		return nil
	})
}

func (quiet) CommWorld(_ int64, h *uint64) raw.Errno              { *h = 3; return raw.OK }
func (quiet) CommInfo(_ uint64, i *raw.Comm) raw.Errno            { *i = raw.Comm{Size: 2}; return raw.OK }
func (quiet) AddressOfCall(*raw.Call) uint32                      { return 1 }
func (quiet) AddressOfGemm(*raw.Gemm) uint32                      { return 1 }
func (quiet) AddressOfCounts([]uint64) uint32                     { return 1 }
func (quiet) CollectiveGroup(uint64, *raw.Call, uint32) raw.Errno { return raw.OK }

func TestCollectivesDoNotAllocate(t *testing.T) {
	w, err := ccrun.OpenHost(raw.Host{Calls: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	b, s, err := parts(w, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Comm()
	if err != nil {
		t.Fatal(err)
	}
	c.Options.Algorithm = "direct"
	two := ccrun.Parts{Send: []uint64{1, 2}, SendOffsets: []uint64{0, 1}, Recv: []uint64{1, 2}, RecvOffsets: []uint64{0, 1}}
	group := func() {
		s.AllToAll(c, ccrun.F32, b.At(0, 16), b.At(16, 16))
		s.Barrier(c)
	}
	once := func() {
		s.AllReduce(c, ccrun.Sum, ccrun.F32, b.At(0, 16), b.At(16, 16))
		s.AllToAllV(c, ccrun.U8, b.At(0, 16), b.At(16, 16), two)
		s.Gemm(ccrun.Gemm{Dtype: ccrun.F32, A: b.At(0, 4), B: b.At(4, 4), C: b.At(8, 4), M: 1, N: 1, K: 1})
		s.Group(group)
	}
	if allocs := testing.AllocsPerRun(100, once); allocs != 0 {
		t.Errorf("%.0f allocations in an iteration, want none", allocs)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}
