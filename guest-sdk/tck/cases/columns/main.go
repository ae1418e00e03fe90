// Columns has ranks that hold rows of a matrix get columns of it: each packs what
// goes to a peer, and unpacks what comes into an array with room between its rows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const (
	seed     = 7
	gapBytes = 40 // between rows of the result
)

func main() {
	rows := flag.Int64("rows", 10, "rows of each rank")
	width := flag.Int64("width", 24, "bytes of a row for each rank")
	flag.Parse()
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, *rows, *width)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "columns:", err)
		os.Exit(1)
	}
}

func run(world *ccrun.World, rows, width int64) error {
	n, rank := int64(world.Size()), int64(world.Rank())
	part, pitch := rows*width, width+gapBytes
	from, err1 := world.Alloc(n * part)
	staged, err2 := world.Alloc(2 * n * part) // what goes, and what comes
	to, err3 := world.Alloc(gapBytes + n*rows*pitch)
	s, err4 := world.NewStream()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	s.FillFrom(from.All(), ccrun.U8, seed, rank*n*part)
	s.Hold()
	for peer := range n {
		s.CopyBox(ccrun.Box{
			Planes: 1, Rows: rows, RowBytes: width,
			Src: ccrun.Place{Buffer: from, Offset: peer * width, Row: n * width},
			Dst: ccrun.Place{Buffer: staged, Offset: peer * part, Row: width},
		})
	}
	for peer := range n {
		s.Send(int(peer), staged.At(peer*part, part), 0)
		s.Recv(int(peer), staged.At((n+peer)*part, part), 0)
	}
	// All that has come is one plane for each rank.
	s.CopyBox(ccrun.Box{
		Planes: n, Rows: rows, RowBytes: width,
		Src: ccrun.Place{Buffer: staged, Offset: n * part, Row: width, Plane: part},
		Dst: ccrun.Place{Buffer: to, Offset: gapBytes, Row: pitch, Plane: rows * pitch},
	})
	for row := range n * rows {
		found, err := s.Verify(to.At(gapBytes+row*pitch, width), ccrun.U8, seed, (row*n+rank)*width)
		if err != nil {
			return err
		}
		if found.Mismatches > 0 {
			return fmt.Errorf("row %d is wrong", row)
		}
	}
	digest, err := s.Digest(to.All(), "columns")
	if err == nil && rank == 0 {
		fmt.Printf("%016x\n", digest[0])
	}
	return errors.Join(err, s.Close())
}
