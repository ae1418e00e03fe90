package main

import (
	"errors"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// site is a communicator, and a stream and memory for calls on it.
type site struct {
	comm    *ccrun.Comm
	leader  int // lowest rank of the world in it, which tells the parts of a split apart
	stream  *ccrun.Stream
	in, out *ccrun.Buffer
}

const (
	elementsMax = 20000 // of a rank's part
	shiftMax    = 7     // elements by which a call's memory is shifted
	areas       = 4     // calls that a site can have under way
)

// openSites makes the sites: the world, its even and odd ranks in reverse
// order, and all but the last rank and that one alone.
func (s *soak) openSites() error {
	rank, size := s.world.Rank(), s.world.Size()
	last := int32(0)
	if rank == size-1 {
		last = 1
	}
	parity, err := s.whole.Split(int32(rank%2), int32(-rank))
	if err != nil {
		return err
	}
	most, err := s.whole.Split(last, 0)
	if err != nil {
		return err
	}
	for _, comm := range []*ccrun.Comm{s.whole, parity, most} {
		site, err := s.openSite(comm)
		if err != nil {
			return err
		}
		s.sites = append(s.sites, site)
	}
	return nil
}

func (s *soak) openSite(comm *ccrun.Comm) (*site, error) {
	t := &site{comm: comm, leader: s.world.Size()}
	for rank := range comm.Size() {
		world, err := comm.WorldRank(rank)
		if err != nil {
			return nil, err
		}
		t.leader = min(t.leader, world)
	}
	var err error
	if t.stream, err = s.world.NewStream(); err != nil {
		return nil, err
	}
	bytes := areas * t.areaBytes()
	if t.in, err = s.world.Alloc(bytes); err != nil {
		return nil, err
	}
	if t.out, err = s.world.Alloc(bytes); err != nil {
		return nil, err
	}
	// All of the memory is used at once, so that its use does not grow later.
	t.stream.Fill(t.in.All(), ccrun.U8, 1)
	t.stream.Fill(t.out.All(), ccrun.U8, 1)
	return t, t.stream.Sync()
}

// areaBytes is what one call may need.
func (t *site) areaBytes() int64 { return int64(t.comm.Size()) * (elementsMax + shiftMax) * 8 }

// area is the memory of one of the calls under way.
func (t *site) area(b *ccrun.Buffer, number int, shiftBytes int64) ccrun.Region {
	return b.At(int64(number)*t.areaBytes()+shiftBytes, t.areaBytes()-shiftBytes)
}

// closeSites gives everything back but the communicator of the world.
func (s *soak) closeSites() error {
	var errs []error
	for _, t := range s.sites {
		errs = append(errs, t.stream.Close(), t.in.Free(), t.out.Free())
		if t.comm != s.whole {
			errs = append(errs, t.comm.Free())
		}
	}
	s.sites = nil
	return errors.Join(errs...)
}
