package ccrun_test

import (
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

// single runs guest on one rank and fails the test on its error.
func single(t *testing.T, guest func(*ccrun.World) error) *ccruntest.Result {
	t.Helper()
	return all(t, 1, guest)
}

func all(t *testing.T, ranks int, guest func(*ccrun.World) error) *ccruntest.Result {
	t.Helper()
	result := ccruntest.Run(t, ranks, guest)
	for rank, err := range result.Errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	return result
}

// parts are what most tests need.
func parts(w *ccrun.World, bytes int64) (*ccrun.Buffer, *ccrun.Stream, error) {
	b, err := w.Alloc(bytes)
	if err != nil {
		return nil, nil, err
	}
	s, err := w.NewStream()
	return b, s, err
}

func TestOpenWithoutHostSaysWhatToDo(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "GOOS=wasip1") || !strings.Contains(text, "ccruntest") {
			t.Errorf("panics with %q", text)
		}
	}()
	_, _ = ccrun.Open()
	t.Error("opened a world without a host")
}

func TestErrorsNameTheCallAndTheCondition(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		s.Put(b.At(0, 64), b.At(1, 64))
		s.Signal(0, 0, 1) // ignored
		err = s.Sync()
		var e *ccrun.Error
		if !errors.As(err, &e) || e.Call != "put" || !errors.Is(err, ccrun.ErrRange) || errors.Is(err, ccrun.ErrStale) {
			t.Errorf("a put outside the buffer: %v", err)
		}
		if value, _ := w.SignalValue(0, 0); value != 0 {
			t.Error("an operation after a failed one was carried out")
		}
		if err := b.Free(); err != nil {
			return err
		}
		if err := b.Free(); !errors.Is(err, ccrun.ErrStale) || err.Error() != "buffer_free: freed" {
			t.Errorf("freed twice: %v", err)
		}
		return nil
	})
}

func TestSizesMustAgree(t *testing.T) {
	for name, submit := range map[string]func(*ccrun.Stream, *ccrun.Buffer){
		"copy":   func(s *ccrun.Stream, b *ccrun.Buffer) { s.Copy(b.At(0, 8), b.At(8, 4)) },
		"reduce": func(s *ccrun.Stream, b *ccrun.Buffer) { s.Reduce(ccrun.Sum, ccrun.F32, b.At(0, 8), b.At(8, 4)) },
	} {
		single(t, func(w *ccrun.World) error {
			b, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			submit(s, b)
			if err := s.Err(); !errors.Is(err, ccrun.ErrRange) {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
	}
}

func TestHoldSubmitsInOneGo(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		_, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		s.Hold()
		for value := range uint64(64) {
			s.Signal(0, 3, value+1)
		}
		if value, _ := w.SignalValue(0, 3); value != 0 {
			t.Errorf("held operations were carried out: %d", value)
		}
		s.Signal(0, 3, 65) // does not fit: the 64 before go
		s.Wait(0, 3, 65)
		if err := s.Sync(); err != nil {
			return err
		}
		if value, _ := w.SignalValue(0, 3); value != 65 {
			t.Errorf("slot is %d, want 65", value)
		}
		return nil
	})
}

func TestReduceReadsItsSources(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		if err := b.Write([]byte{1, 2, 3, 4, 10, 20, 30, 40, 100, 100, 100, 100}, 0); err != nil {
			return err
		}
		s.Hold()
		s.Reduce(ccrun.Sum, ccrun.U8, b.At(16, 4), b.At(0, 4), b.At(4, 4), b.At(8, 4))
		s.Reduce(ccrun.Max, ccrun.U8, b.At(20, 4), b.At(0, 4), b.At(4, 4))
		if err := s.Sync(); err != nil {
			return err
		}
		var got [8]byte
		if err := b.Read(got[:], 16); err != nil {
			return err
		}
		if want := [8]byte{111, 122, 133, 144, 10, 20, 30, 40}; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		return nil
	})
}

// Three ranks' chunks of a region hold whole elements, whatever its size.
func TestChunksCanBeReduced(t *testing.T) {
	for name, dtype := range map[string]ccrun.Dtype{"f16": ccrun.F16, "bf16": ccrun.BF16, "f32": ccrun.F32, "f64": ccrun.F64} {
		single(t, func(w *ccrun.World) error {
			const size = 1 << 16 // no multiple of 3
			b, s, err := parts(w, 2*size)
			if err != nil {
				return err
			}
			total, source := b.At(0, size), b.At(size, size)
			s.Fill(source, dtype, 1)
			for i := range 3 {
				s.Reduce(ccrun.Max, dtype, total.Chunk(i, 3), source.Chunk(i, 3), source.Chunk(i, 3))
			}
			found, err := s.Verify(total, dtype, 1, 0)
			if found.Mismatches != 0 {
				t.Errorf("%s: %+v", name, found)
			}
			return err
		})
	}
}

// Parts of a pattern that are filled one by one make up the whole one.
func TestFillFrom(t *testing.T) {
	for name, dtype := range map[string]ccrun.Dtype{"u8": ccrun.U8, "bf16": ccrun.BF16, "f64": ccrun.F64} {
		single(t, func(w *ccrun.World) error {
			whole, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			for _, r := range []ccrun.Region{whole.At(40, 24), whole.At(0, 16), whole.At(16, 24)} {
				s.FillFrom(r, dtype, 9, r.Offset)
			}
			found, err := s.Verify(whole.All(), dtype, 9, 0)
			if found.Mismatches != 0 {
				t.Errorf("%s: %+v", name, found)
			}
			return err
		})
	}
}

func TestPartsOfElementsAreRefused(t *testing.T) {
	for name, submit := range map[string]func(*ccrun.Stream, *ccrun.Buffer){
		"reduce": func(s *ccrun.Stream, b *ccrun.Buffer) { s.Reduce(ccrun.Sum, ccrun.F32, b.At(0, 6), b.At(8, 6)) },
		"fill":   func(s *ccrun.Stream, b *ccrun.Buffer) { s.Fill(b.At(0, 6), ccrun.F32, 1) },
	} {
		single(t, func(w *ccrun.World) error {
			b, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			submit(s, b)
			if err := s.Err(); !errors.Is(err, ccrun.ErrRange) {
				t.Errorf("%s of one and a half elements: %v", name, err)
			}
			return nil
		})
	}
}

func TestSendThenReceiveOnEveryRank(t *testing.T) {
	all(t, 3, func(w *ccrun.World) error {
		b, s, err := parts(w, 32)
		if err != nil {
			return err
		}
		ring := w.Ring()
		s.Fill(b.At(0, 16), ccrun.U8, uint64(ring.Rank))
		s.Send(ring.Next, b.At(0, 16), 1)
		s.Recv(ring.Prev, b.At(16, 16), 1)
		found, err := s.Verify(b.At(16, 16), ccrun.U8, uint64(ring.Prev), 0)
		if found.Mismatches != 0 || found.FirstBad != -1 {
			t.Errorf("rank %d: %+v", ring.Rank, found)
		}
		return err
	})
}

func TestEventsOrderStreams(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, first, err := parts(w, 16)
		if err != nil {
			return err
		}
		second, err := w.NewStream()
		if err != nil {
			return err
		}
		e, err := w.NewEvent()
		if err != nil {
			return err
		}
		first.Wait(0, 0, 1)
		first.Fill(b.All(), ccrun.U8, 7)
		first.Record(e)
		second.WaitEvent(e)
		if done, err := e.Query(); done || err != nil {
			t.Errorf("complete before its stream: %v %v", done, err)
		}
		if err := second.SyncWithin(time.Millisecond); !errors.Is(err, ccrun.ErrTimedOut) {
			t.Errorf("sync of a stream that waits: %v", err)
		}
		third, err := w.NewStream()
		if err != nil {
			return err
		}
		third.Signal(0, 0, 1)
		if err := second.Sync(); err != nil {
			return err
		}
		found, err := second.Verify(b.All(), ccrun.U8, 7, 0)
		if found.Mismatches != 0 {
			t.Errorf("the second stream ran ahead: %+v", found)
		}
		return errors.Join(err, e.Sync(ccrun.Forever), e.Close(), first.Close(), second.Close(), third.Close())
	})
}

func TestStaleShares(t *testing.T) {
	all(t, 2, func(w *ccrun.World) error {
		b, err := w.Alloc(64)
		if err != nil {
			return err
		}
		if err := w.Publish("part", 4, b.At(16, 32)); err != nil {
			return err
		}
		peer, err := w.Lookup(1-w.Rank(), "part", 4, ccrun.Forever)
		if err != nil {
			return err
		}
		if peer.Bytes() != 32 || peer.Peer() != 1-w.Rank() || b.Peer() != -1 {
			t.Errorf("looked up %d bytes of rank %d", peer.Bytes(), peer.Peer())
		}
		if _, err := w.Lookup(1-w.Rank(), "part", 5, 0); !errors.Is(err, ccrun.ErrTimedOut) {
			t.Errorf("another epoch: %v", err)
		}
		if err := errors.Join(w.Barrier(ccrun.Forever), b.Free(), w.Barrier(ccrun.Forever)); err != nil {
			return err
		}
		if err := peer.Write([]byte{1}, 0); !errors.Is(err, ccrun.ErrStale) {
			t.Errorf("a freed share: %v", err)
		}
		return nil
	})
}

func TestTermsAndCollectivesReachTheHost(t *testing.T) {
	result := single(t, func(w *ccrun.World) error {
		_, s, err := parts(w, 0)
		if err != nil {
			return err
		}
		c, err := w.Begin(ccrun.CollectiveInfo{Op: ccrun.AllReduce, Algorithm: "tree", Bytes: 1 << 40, SliceBytes: 1 << 20, Red: ccrun.Avg, Dtype: ccrun.BF16, Warmup: true})
		if err != nil {
			return err
		}
		s.Tag(ccrun.Term{Collective: c.Sequence, Chunk: 2, Slice: 3, Message: 4, Flow: 5, Step: 6})
		s.Signal(0, 7, 8)
		if _, err := w.Begin(ccrun.CollectiveInfo{Algorithm: strings.Repeat("x", 64)}); !errors.Is(err, ccrun.ErrInvalid) {
			t.Errorf("a long name: %v", err)
		}
		m, err := w.Mark("phase")
		return errors.Join(err, m.End(), c.End(), s.Sync())
	})
	wantOp := raw.Op{Kind: raw.KindSignal, Slot: 7, Value: 8, Collective: 1, Chunk: 2, Slice: 3, Message: 4, Flow: 5, Step: 6}
	if !slices.Equal(result.Ops[0], []raw.Op{wantOp}) {
		t.Errorf("got %+v\nwant %+v", result.Ops[0], wantOp)
	}
	begun := result.Begun[0]
	want := raw.Collective{Op: 1, Dtype: raw.DtypeBf16, Redop: raw.RedopAvg, Bytes: 1 << 40, SliceBytes: 1 << 20, Algorithm: 1, AlgorithmLen: 4, Warmup: 1}
	if !slices.Equal(begun, []raw.Collective{want}) {
		t.Errorf("got %+v\nwant %+v", begun, want)
	}
}

func TestAbortEndsAllRanks(t *testing.T) {
	result := ccruntest.Run(t, 2, func(w *ccrun.World) error {
		if w.Rank() == 0 {
			return w.Abort(3, "enough")
		}
		return w.Barrier(ccrun.Forever)
	})
	for rank, err := range result.Errs {
		if err == nil {
			t.Errorf("rank %d ended as if nothing had happened", rank)
		}
	}
}

// quiet is a host that takes everything and does nothing.
type quiet struct{ raw.Calls }

func (quiet) World(info *raw.World) raw.Errno           { *info = raw.World{Size: 2}; return raw.OK }
func (quiet) BufferAlloc(_ int64, h *uint64) raw.Errno  { *h = 1; return raw.OK }
func (quiet) StreamCreate(h *uint64) raw.Errno          { *h = 2; return raw.OK }
func (quiet) StreamSync(uint64, int64) raw.Errno        { return raw.OK }
func (quiet) StreamQuery(_ uint64, d *uint32) raw.Errno { *d = 1; return raw.OK }
func (quiet) AddressOfViews(*[8]raw.View) uint32        { return 1 }
func (quiet) AddressOfText(*[64]byte) uint32            { return 1 }
func (quiet) CollectiveEnd(uint32) raw.Errno            { return raw.OK }
func (quiet) Submit(_ uint64, _ *raw.Op, n uint32, a *uint32) raw.Errno {
	*a = n
	return raw.OK
}
func (quiet) CollectiveBegin(_ *raw.Collective, s *uint32) raw.Errno {
	*s = 1
	return raw.OK
}

func TestOperationsDoNotAllocate(t *testing.T) {
	w, err := ccrun.OpenHost(raw.Host{Calls: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	b, s, err := parts(w, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	s.Reduce(ccrun.Sum, ccrun.F32, b.At(0, 4), b.At(4, 4)) // makes room for sources, once
	allocs := testing.AllocsPerRun(100, func() {
		c, _ := w.Begin(ccrun.CollectiveInfo{Op: ccrun.AllGather, Algorithm: "ring"})
		s.Hold()
		for i, slice := range b.All().Slices(1 << 18) {
			s.Tag(ccrun.Term{Collective: c.Sequence, Slice: i})
			s.Put(slice, slice)
			s.Signal(1, 0, 1)
			s.Wait(1, 0, 1)
			s.Reduce(ccrun.Sum, ccrun.F32, b.At(0, 4), b.At(4, 4), b.At(8, 4))
		}
		s.Flush()
		_, _ = s.Query()
		_ = s.Sync()
		_ = c.End()
	})
	if allocs != 0 {
		t.Errorf("%.0f allocations in an iteration, want none", allocs)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}
