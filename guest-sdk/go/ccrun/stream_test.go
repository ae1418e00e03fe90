package ccrun_test

import (
	"errors"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// refused are operations that the SDK itself refuses.
var refused = map[string]func(*ccrun.Stream, *ccrun.Buffer){
	"copy":           func(s *ccrun.Stream, b *ccrun.Buffer) { s.Copy(b.At(0, 8), b.At(8, 4)) },
	"reduce":         func(s *ccrun.Stream, b *ccrun.Buffer) { s.Reduce(ccrun.Sum, ccrun.U8, b.At(0, 8)) },
	"reduce, source": func(s *ccrun.Stream, b *ccrun.Buffer) { s.Reduce(ccrun.Sum, ccrun.U8, b.At(0, 8), b.At(8, 4)) },
	"tag":            func(s *ccrun.Stream, _ *ccrun.Buffer) { s.Tag(ccrun.Term{Step: -1}) },
}

// What a stream holds when an operation is refused was good: it is carried out.
func TestRefusedOperationKeepsWhatIsHeld(t *testing.T) {
	for name, refuse := range refused {
		single(t, func(w *ccrun.World) error {
			b, s, err := parts(w, 64)
			if err != nil {
				return err
			}
			other, err := w.NewStream()
			if err != nil {
				return err
			}
			s.Hold()
			s.Fill(b.At(32, 8), ccrun.U8, 5)
			s.Signal(0, 0, 1)
			refuse(s, b)
			s.Signal(0, 0, 2) // ignored
			if s.Err() == nil || !errors.Is(s.Sync(), s.Err()) {
				t.Errorf("%s: %v, then %v", name, s.Err(), s.Sync())
			}
			other.Wait(0, 0, 1)
			found, err := other.Verify(b.At(32, 8), ccrun.U8, 5, 0)
			if found.Mismatches != 0 {
				t.Errorf("%s: the operation before it is lost", name)
			}
			if value, _ := w.SignalValue(0, 0); value != 1 {
				t.Errorf("%s: slot is %d, want 1", name, value)
			}
			return err
		})
	}
}

func TestBadOperationOfABatchIsNamed(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		s.Hold()
		s.Signal(0, 0, 1)
		s.Fill(b.At(0, 8), ccrun.U8, 1)
		s.Put(b.At(0, 64), b.At(1, 64)) // reaches outside
		s.Wait(0, 0, 1)
		err = s.Sync()
		var e *ccrun.Error
		if !errors.As(err, &e) || e.Call != "put" || e.Errno != ccrun.ErrRange {
			t.Errorf("the third of four operations is bad: %v", err)
		}
		return nil
	})
}

func TestFlushEndsHold(t *testing.T) {
	result := single(t, func(w *ccrun.World) error {
		_, s, err := parts(w, 0)
		if err != nil {
			return err
		}
		s.Hold()
		s.Signal(0, 0, 1)
		s.Flush()
		s.Signal(0, 0, 2)
		return nil // without anything that would flush
	})
	if got := len(result.Ops[0]); got != 2 {
		t.Errorf("%d operations were submitted, want 2", got)
	}
}

func TestCloseReportsTheFirstFailure(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		b, s, err := parts(w, 64)
		if err != nil {
			return err
		}
		s.Copy(b.At(0, 8), b.At(8, 4))
		if err := s.Close(); !errors.Is(err, ccrun.ErrRange) {
			t.Errorf("closed after a bad copy: %v", err)
		}
		return nil
	})
}

// Numbers that the host has no room for are refused, never cut.
func TestLargeNumbersAreNotCut(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		for name, c := range map[string]struct {
			want   ccrun.Errno
			submit func(*ccrun.Stream)
		}{
			"flow":      {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Tag(ccrun.Term{Flow: 1 << 16}) }},
			"step":      {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Tag(ccrun.Term{Step: 1 << 16}) }},
			"chunk":     {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Tag(ccrun.Term{Chunk: 1 << 32}) }},
			"slice":     {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Tag(ccrun.Term{Slice: 1 << 32}) }},
			"message":   {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Tag(ccrun.Term{Message: 1 << 32}) }},
			"below":     {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Tag(ccrun.Term{Chunk: -1}) }},
			"peer":      {ccrun.ErrNoRank, func(s *ccrun.Stream) { s.Signal(1<<32, 0, 1) }},
			"below 0":   {ccrun.ErrNoRank, func(s *ccrun.Stream) { s.Wait(-1, 0, 0) }},
			"slot":      {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Signal(0, 1<<32, 1) }},
			"the slots": {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Wait(0, w.SignalSlots(), 0) }},
			"channel":   {ccrun.ErrInvalid, func(s *ccrun.Stream) { s.Send(0, ccrun.Region{}, w.SendChannels()) }},
		} {
			s, err := w.NewStream()
			if err != nil {
				return err
			}
			c.submit(s)
			if err := s.Err(); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			_ = s.Close()
		}
		for _, c := range []ccrun.CollectiveInfo{{Ranks: 1<<32 + 1}, {Ranks: -1}, {Group: 1 << 32}, {SliceBytes: 1 << 32}, {Bytes: -1}} {
			if _, err := w.Begin(c); !errors.Is(err, ccrun.ErrInvalid) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if _, err := w.SignalValue(0, w.SignalSlots()); !errors.Is(err, ccrun.ErrInvalid) {
			t.Errorf("value of a slot too far: %v", err)
		}
		if _, err := w.Lookup(1<<32, "x", 0, 0); !errors.Is(err, ccrun.ErrNoRank) {
			t.Errorf("share of a rank too far: %v", err)
		}
		s, err := w.NewStream()
		if err != nil {
			return err
		}
		s.Tag(ccrun.Term{Flow: 1<<16 - 1, Step: 1<<16 - 1, Chunk: 1<<32 - 1, Slice: 1<<32 - 1, Message: 1<<32 - 1})
		s.Signal(0, 0, 1)
		return s.Close()
	})
}
