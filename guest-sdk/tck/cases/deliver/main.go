// Deliver brings bytes to a place of its own with each operation that moves or
// combines some, its own or those of the rank before it, and looks at all of
// them: with faults in operations it prints where they show. An operation that
// fails aborts the run with exit code 3.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const (
	placeBytes = 4096
	rowBytes   = placeBytes / 8
	exitFailed = 3
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "deliver:", err)
		os.Exit(1)
	}
}

// The places of a buffer: a rank's own bytes, and what operations bring.
const (
	placeOwn = iota
	placeCopy
	placeCopyBox
	placeGet
	placePut
	placeRecv
	placeReduce
	placeGetBox
	placeCount
)

var names = [placeCount]string{"own", "copy", "copy_box", "get", "put", "recv", "reduce", "get_box"}

// site is one rank's side.
type site struct {
	world  *ccrun.World
	ring   ccrun.Ring
	stream *ccrun.Stream
	here   *ccrun.Buffer
	before *ccrun.Buffer // the previous rank's
	after  *ccrun.Buffer // the next rank's
}

func run(world *ccrun.World) error {
	s := &site{world: world, ring: world.Ring()}
	if err := s.open(); err != nil {
		return err
	}
	s.stream.Fill(at(s.here, placeOwn), ccrun.U8, uint64(s.ring.Rank))
	if err := errors.Join(s.stream.Sync(), world.Barrier(ccrun.Forever)); err != nil { // until all have theirs
		return err
	}
	for _, operation := range []func(*site){
		(*site).copy, (*site).copyBox, (*site).get, (*site).put, (*site).exchange, (*site).reduce,
		(*site).getBox,
	} {
		operation(s)
	}
	if err := world.Barrier(ccrun.Forever); err != nil { // until what is put here has come
		return err
	}
	if err := s.look(); err != nil {
		return err
	}
	return world.Barrier(ccrun.Forever) // until all have looked: wrong bytes end the run
}

func (s *site) open() error {
	var err1, err2, err3, err4, err5 error
	s.here, err1 = s.world.Alloc(placeCount * placeBytes)
	s.stream, err2 = s.world.NewStream()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	err3 = s.world.Publish("places", 0, s.here.All())
	s.before, err4 = s.world.Lookup(s.ring.Prev, "places", 0, ccrun.Forever)
	s.after, err5 = s.world.Lookup(s.ring.Next, "places", 0, ccrun.Forever)
	return errors.Join(err3, err4, err5)
}

// at is a place in somebody's buffer.
func at(b *ccrun.Buffer, place int64) ccrun.Region { return b.At(place*placeBytes, placeBytes) }

// Each operation is in a function of its own, which a verdict can name.
//
//go:noinline
func (s *site) copy() {
	s.stream.Copy(at(s.here, placeCopy), at(s.here, placeOwn))
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

//go:noinline
func (s *site) copyBox() {
	s.stream.CopyBox(ccrun.Box{
		Planes: 1, Rows: placeBytes / rowBytes, RowBytes: rowBytes,
		Dst: ccrun.Place{Buffer: s.here, Offset: placeCopyBox * placeBytes, Row: rowBytes},
		Src: ccrun.Place{Buffer: s.here, Offset: placeOwn * placeBytes, Row: rowBytes},
	})
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

//go:noinline
func (s *site) get() {
	s.stream.Get(at(s.here, placeGet), at(s.before, placeOwn))
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

//go:noinline
func (s *site) put() {
	s.stream.Put(at(s.after, placePut), at(s.here, placeOwn))
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

//go:noinline
func (s *site) exchange() {
	s.stream.Send(s.ring.Next, at(s.here, placeOwn), 0)
	s.stream.Recv(s.ring.Prev, at(s.here, placeRecv), 0)
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

//go:noinline
func (s *site) reduce() {
	own := at(s.here, placeOwn)
	s.stream.Reduce(ccrun.Max, ccrun.U8, at(s.here, placeReduce), own, own)
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

//go:noinline
func (s *site) getBox() {
	s.stream.GetBox(ccrun.Box{
		Planes: 1, Rows: placeBytes / rowBytes, RowBytes: rowBytes,
		Dst: ccrun.Place{Buffer: s.here, Offset: placeGetBox * placeBytes, Row: rowBytes},
		Src: ccrun.Place{Buffer: s.before, Offset: placeOwn * placeBytes, Row: rowBytes},
	})
	if err := s.stream.Sync(); err != nil {
		_ = s.world.Abort(exitFailed, err.Error())
	}
}

// look prints at which places bytes are wrong.
func (s *site) look() error {
	for place, name := range names {
		whose := s.ring.Rank
		if place == placeGet || place == placePut || place == placeRecv || place == placeGetBox {
			whose = s.ring.Prev
		}
		found, err := s.stream.Verify(at(s.here, int64(place)), ccrun.U8, uint64(whose), 0)
		if err != nil {
			return err
		}
		if found.Mismatches > 0 {
			fmt.Printf("rank %d: %s: %d bytes wrong, the first at %d\n", s.ring.Rank, name, found.Mismatches, found.FirstBad)
		}
	}
	return nil
}
