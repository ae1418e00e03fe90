package ccrun_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func numbered(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i/256)
	}
	return b
}

// boxes are copied from one buffer of 600 bytes to another.
var boxes = map[string]ccrun.Box{
	"run":              {Planes: 1, Rows: 1, RowBytes: 600},
	"columns":          {Planes: 1, Rows: 20, RowBytes: 8, Src: ccrun.Place{Offset: 16, Row: 24}, Dst: ccrun.Place{Row: 8}},
	"to columns":       {Planes: 1, Rows: 20, RowBytes: 8, Src: ccrun.Place{Row: 8}, Dst: ccrun.Place{Offset: 5, Row: 29}},
	"planes":           {Planes: 3, Rows: 4, RowBytes: 5, Src: ccrun.Place{Offset: 1, Row: 30, Plane: 150}, Dst: ccrun.Place{Offset: 540, Row: 5, Plane: 20}},
	"planes in rows":   {Planes: 3, Rows: 4, RowBytes: 5, Src: ccrun.Place{Row: 5, Plane: 20}, Dst: ccrun.Place{Row: 15, Plane: 5}},
	"one row repeated": {Planes: 1, Rows: 10, RowBytes: 50, Src: ccrun.Place{Offset: 550}, Dst: ccrun.Place{Row: 60}},
	"no rows":          {Planes: 1 << 40, RowBytes: 5, Dst: ccrun.Place{Offset: 600, Plane: 1 << 62}},
	"empty rows":       {Planes: 1 << 40, Rows: 1 << 10, Src: ccrun.Place{Row: 1 << 60}},
}

func TestCopyBox(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		src, s, err := parts(w, 600)
		if err != nil {
			return err
		}
		dst, err := w.Alloc(600)
		if err != nil {
			return err
		}
		from := numbered(600)
		if err := src.Write(from, 0); err != nil {
			return err
		}
		for name, b := range boxes {
			want, got := make([]byte, 600), make([]byte, 600)
			if err := dst.Write(want, 0); err != nil {
				return err
			}
			for i := range b.Bytes() {
				plane, row, at := i/b.RowBytes/b.Rows, i/b.RowBytes%b.Rows, i%b.RowBytes
				want[b.Dst.Offset+plane*b.Dst.Plane+row*b.Dst.Row+at] = from[b.Src.Offset+plane*b.Src.Plane+row*b.Src.Row+at]
			}
			b.Src.Buffer, b.Dst.Buffer = src, dst
			s.CopyBox(b)
			if err := s.Sync(); err != nil {
				return err
			}
			if err := dst.Read(got, 0); err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: copied wrong", name)
			}
		}
		return nil
	})
}

// TestHeldBoxes collects more boxes than a stream holds, each of its own shape.
func TestHeldBoxes(t *testing.T) {
	single(t, func(w *ccrun.World) error {
		src, s, err := parts(w, 4096)
		if err != nil {
			return err
		}
		dst, err := w.Alloc(4096)
		if err != nil {
			return err
		}
		from, got := numbered(4096), make([]byte, 4096)
		if err := src.Write(from, 0); err != nil {
			return err
		}
		s.Hold()
		at := int64(0)
		for n := range int64(80) {
			s.CopyBox(ccrun.Box{Planes: 1, Rows: 2, RowBytes: n / 2,
				Src: ccrun.Place{Buffer: src, Offset: at, Row: n / 2}, Dst: ccrun.Place{Buffer: dst, Offset: at, Row: n / 2}})
			at += n / 2 * 2
		}
		if err := s.Sync(); err != nil {
			return err
		}
		if err := dst.Read(got, 0); err != nil {
			return err
		}
		if !bytes.Equal(got[:at], from[:at]) || at < 3000 {
			t.Errorf("%d bytes of 80 boxes: wrong", at)
		}
		return nil
	})
}

func TestRefusedBoxes(t *testing.T) {
	for name, c := range map[string]struct {
		want   ccrun.Errno
		change func(*ccrun.Box)
	}{
		"negative rows":     {ccrun.ErrRange, func(b *ccrun.Box) { b.Rows = -1 }},
		"negative distance": {ccrun.ErrRange, func(b *ccrun.Box) { b.Src.Row = -8 }},
		"negative offset":   {ccrun.ErrRange, func(b *ccrun.Box) { b.Dst.Offset = -8 }},
		"past the source":   {ccrun.ErrRange, func(b *ccrun.Box) { b.Src.Row = 16 }},
		"too many":          {ccrun.ErrRange, func(b *ccrun.Box) { b.Planes = 1 << 60 }},
		"rows overlap":      {ccrun.ErrInvalid, func(b *ccrun.Box) { b.Dst.Row = 7 }},
		"no buffer":         {ccrun.ErrBadHandle, func(b *ccrun.Box) { b.Src.Buffer = nil }},
	} {
		single(t, func(w *ccrun.World) error {
			buffer, err := w.Alloc(64)
			if err != nil {
				return err
			}
			b := ccrun.Box{Planes: 1, Rows: 4, RowBytes: 8,
				Src: ccrun.Place{Buffer: buffer, Offset: 32, Row: 8}, Dst: ccrun.Place{Buffer: buffer, Row: 8}}
			c.change(&b)
			for call, move := range map[string]func(*ccrun.Stream, ccrun.Box){"copy_box": (*ccrun.Stream).CopyBox, "get_box": (*ccrun.Stream).GetBox} {
				s, err := w.NewStream()
				if err != nil {
					return err
				}
				move(s, b)
				var e *ccrun.Error
				if err := s.Sync(); !errors.As(err, &e) || e.Call != call || e.Errno != c.want {
					t.Errorf("%s: %v, want %v of %s", name, err, c.want, call)
				}
			}
			return nil
		})
	}
}

// TestGetBox has each of three ranks get boxes from the next one's buffer.
func TestGetBox(t *testing.T) {
	all(t, 3, func(w *ccrun.World) error {
		src, s, err1 := parts(w, 600)
		dst, err2 := w.Alloc(600)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		mine := bytes.Repeat([]byte{byte(w.Rank())}, 600)
		next := (w.Rank() + 1) % w.Size()
		if err := errors.Join(src.Write(mine, 0), w.Publish("b", 0, src.All())); err != nil {
			return err
		}
		theirs, err := w.Lookup(next, "b", 0, ccrun.Forever)
		if err != nil {
			return err
		}
		s.GetBox(ccrun.Box{Planes: 1, Rows: 20, RowBytes: 8,
			Src: ccrun.Place{Buffer: theirs, Offset: 16, Row: 24}, Dst: ccrun.Place{Buffer: dst, Offset: 5, Row: 29}})
		got, want := make([]byte, 600), make([]byte, 600)
		for row := range 20 {
			copy(want[5+row*29:], bytes.Repeat([]byte{byte(next)}, 8))
		}
		if err := errors.Join(s.Sync(), dst.Read(got, 0)); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			t.Errorf("rank %d: got wrong", w.Rank())
		}
		return w.Barrier(ccrun.Forever)
	})
}
