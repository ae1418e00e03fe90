package main

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// groups calls on two communicators at once, in different orders on different
// ranks: it ends only if
// calls of a group make progress together.
func groups(whole, part *suite) error {
	s, n := whole.stream, int64(32)
	bytes := n * ccrun.I64.Bytes()
	at := func(i int) ccrun.Region { return whole.out.At(int64(i)*bytes, bytes) }
	mine := whole.in.At(0, bytes)
	seeds := func(c *ccrun.Comm, round uint64) (all []uint64, err error) {
		for rank := range c.Size() {
			world, err := c.WorldRank(rank)
			if err != nil {
				return nil, err
			}
			all = append(all, round<<8+uint64(world))
		}
		return all, nil
	}
	for round := range uint64(50) {
		s.Fill(mine, ccrun.I64, round<<8+uint64(whole.comm.Rank()))
		first, second := whole.comm, part.comm
		if (whole.comm.Rank()+int(round))%2 == 0 {
			first, second = second, first
		}
		s.Group(func() {
			for i, c := range []*ccrun.Comm{first, second} {
				s.AllReduce(c, ccrun.Sum, ccrun.I64, at(2*i), mine)
				s.AllReduce(c, ccrun.Max, ccrun.I64, at(2*i+1), mine)
			}
		})
		for i, c := range []*ccrun.Comm{first, second} {
			from, err := seeds(c, round)
			if err != nil {
				return err
			}
			for j, red := range []ccrun.RedOp{ccrun.Sum, ccrun.Max} {
				found, err := s.VerifyReduced(at(2*i+j), ccrun.I64, red, from, 0)
				if err != nil || found.Mismatches > 0 {
					return fmt.Errorf("group %d, communicator %d, operator %d: %d elements are wrong (%v)", round, i, red, found.Mismatches, err)
				}
			}
		}
	}
	return nil
}
