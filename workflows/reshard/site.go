package main

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// site is what all runs of a rank share.
type site struct {
	*options
	world   *ccrun.World
	comm    *ccrun.Comm
	streams []*ccrun.Stream
	spared  bool          // the pipelines have the stream that they share
	board   *ccrun.Buffer // where ranks show each other numbers
	checked verdict
	wrong   int       // tensors that this rank has found wrong since it last said how many
	errors  io.Writer // where it says so
}

// verdict is what verifying has found so far, on all ranks.
type verdict struct {
	runs                   int
	verified, phantom, bad int64 // bytes, bytes that are not there, elements
}

// newSite also allocates what ranks show each other numbers on, before memory
// is so short that a simulator has buffers without bytes.
func newSite(world *ccrun.World, o *options) (*site, error) {
	s := &site{options: o, world: world, errors: os.Stderr}
	var err error
	if s.comm, err = world.Comm(); err != nil {
		return nil, err
	}
	s.comm.Options.Warmup = true // no part of what is measured
	if s.board, err = world.Alloc(8 * int64(world.Size()*s.words())); err != nil {
		return nil, err
	}
	stream, err := world.NewStream()
	s.streams = []*ccrun.Stream{stream}
	return s, err
}

// words is how many numbers a rank shows at most.
func (s *site) words() int { return countWords + s.iters }

// take gives as many streams as are of use, or fewer if a rank cannot have so
// many and it is not said how many there are to be. The first time it leaves
// one more to the pipelines, which share it for their signals.
func (s *site) take(count int) ([]*ccrun.Stream, error) {
	if s.options.streams > 0 {
		count = s.options.streams
	}
	spare := 1
	if s.spared {
		spare = 0
	}
	count = max(count, 1)
	for len(s.streams) < count+spare {
		stream, err := s.world.NewStream()
		if errors.Is(err, ccrun.ErrLimit) && s.options.streams == 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		s.streams = append(s.streams, stream)
	}
	if !s.spared {
		last := len(s.streams) - 1
		if err := s.streams[last].Close(); err != nil {
			return nil, err
		}
		s.streams, s.spared = s.streams[:last], true
	}
	return s.streams[:min(count, len(s.streams))], nil
}

// show gives every rank the numbers of all, by rank.
func (s *site) show(own []uint64) ([][]uint64, error) {
	ranks, n := s.world.Size(), len(own)
	if ranks == 1 {
		return [][]uint64{own}, nil
	}
	data := make([]byte, 0, 8*ranks*n)
	for _, word := range own {
		data = binary.LittleEndian.AppendUint64(data, word)
	}
	if err := s.board.Write(data, int64(8*n*s.world.Rank())); err != nil {
		return nil, err
	}
	all := s.board.At(0, int64(8*ranks*n))
	s.streams[0].AllGather(s.comm, ccrun.I64, all, ccrun.Region{})
	if err := s.streams[0].Sync(); err != nil {
		return nil, err
	}
	data = data[:8*ranks*n]
	if err := s.board.Read(data, 0); err != nil {
		return nil, err
	}
	byRank := make([][]uint64, ranks)
	for rank := range byRank {
		for range n {
			byRank[rank] = append(byRank[rank], binary.LittleEndian.Uint64(data))
			data = data[8:]
		}
	}
	return byRank, nil
}
