package ccrun_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

func TestSendWaitsForItsReceiver(t *testing.T) {
	all(t, 2, func(w *ccrun.World) error {
		b, s, err := parts(w, 16)
		if err != nil {
			return err
		}
		if w.Rank() == 0 {
			s.Fill(b.All(), ccrun.U8, 9)
			s.Send(1, b.All(), 0)
			s.Signal(1, 0, 1) // not before rank 1 has received
			if err := s.SyncWithin(time.Millisecond); !errors.Is(err, ccrun.ErrTimedOut) {
				t.Errorf("a send that nobody receives: %v", err)
			}
			return errors.Join(w.Barrier(ccrun.Forever), s.Sync())
		}
		if err := w.Barrier(ccrun.Forever); err != nil {
			return err
		}
		if value, _ := w.SignalValue(0, 0); value != 0 {
			t.Error("the stream went on before its send was complete")
		}
		s.Recv(0, b.All(), 0)
		s.Wait(0, 0, 1)
		found, err := s.Verify(b.All(), ccrun.U8, 9, 0)
		if found.Mismatches != 0 {
			t.Errorf("received %+v", found)
		}
		return err
	})
}

func TestReceiveThenSendOnEveryRank(t *testing.T) {
	all(t, 3, func(w *ccrun.World) error {
		b, s, err := parts(w, 32)
		if err != nil {
			return err
		}
		ring := w.Ring()
		for round := range 5 {
			s.Fill(b.At(0, 16), ccrun.U8, uint64(10*round+ring.Rank))
			s.Recv(ring.Prev, b.At(16, 16), 1)
			s.Send(ring.Next, b.At(0, 16), 1)
			found, err := s.Verify(b.At(16, 16), ccrun.U8, uint64(10*round+ring.Prev), 0)
			if err != nil || found.Mismatches != 0 {
				t.Errorf("rank %d, round %d: %+v %v", ring.Rank, round, found, err)
			}
		}
		return nil
	})
}

func TestMessagesOfDifferentSizeFailBothStreams(t *testing.T) {
	result := ccruntest.Run(t, 2, func(w *ccrun.World) error {
		b, s, err := parts(w, 16)
		if err != nil {
			return err
		}
		if w.Rank() == 0 {
			s.Send(1, b.At(0, 8), 0)
		} else {
			s.Recv(0, b.At(0, 9), 0)
		}
		return s.Sync()
	})
	for rank, err := range result.Errs {
		if !errors.Is(err, ccrun.ErrFailed) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Two streams that write to one place do so in either order.
func TestDelaysChangeTheOrder(t *testing.T) {
	won := map[byte]int{}
	for seed := range uint64(50) {
		ccruntest.RunDelayed(t, 1, seed, func(w *ccrun.World) error {
			b, first, err := parts(w, 3)
			if err != nil {
				return err
			}
			second, err := w.NewStream()
			if err != nil {
				return err
			}
			if err := b.Write([]byte{1, 2}, 0); err != nil {
				return err
			}
			for range 10 {
				first.Copy(b.At(2, 1), b.At(0, 1))
				second.Copy(b.At(2, 1), b.At(1, 1))
			}
			var last [1]byte
			err = errors.Join(first.Sync(), second.Sync(), b.Read(last[:], 2))
			won[last[0]]++
			return err
		})
	}
	if won[1] == 0 || won[2] == 0 || won[1]+won[2] != 50 {
		t.Errorf("streams 1 and 2 were last %v times", won)
	}
}
