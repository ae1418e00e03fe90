package main

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/oracle"
)

// started is a call with what its communicator has to be told for it.
type started struct {
	*oracle.Call
	options ccrun.CallOptions
}

// submit submits the collective.
func (c started) submit() {
	c.Comm.Options = c.options
	c.Submit()
}

// round draws the calls of a round, carries them out and verifies them.
func (s *soak) round(round int) error {
	if s.leak > 0 {
		if err := s.forget(); err != nil {
			return err
		}
	}
	if round > s.from && round%s.renew == 0 {
		if err := s.closeSites(); err != nil {
			return err
		}
		if err := s.openSites(); err != nil {
			return err
		}
	}
	p := s.drawPlan(round)
	calls := s.prepare(round, p)
	s.submit(p, calls)
	for _, ofSite := range calls {
		for i, c := range ofSite {
			c.Comm.Options = c.options // for the message
			if err := c.Verify(); err != nil {
				return fmt.Errorf("call %d: %s: %w", i, c, err)
			}
		}
	}
	return nil
}

// prepare draws the calls, by site, and writes their inputs.
func (s *soak) prepare(round int, p plan) [][]started {
	var all [][]started
	for number, t := range s.sites {
		if (p.manner == alone || p.manner == queued) && number != p.site {
			continue
		}
		random := s.source(round, uint64(1+number)<<8|uint64(1+t.leader))
		stream := t.stream
		if p.manner == grouped {
			stream = s.sites[p.site].stream
		}
		var calls []started
		for i := range p.calls {
			drawn, options := s.drawCall(random, t)
			call := &drawn
			shift := random.Int64N(shiftMax+1) * call.Dtype.Bytes()
			call.Comm, call.Stream, call.Slot = t.comm, stream, number
			call.Seed = uint64(round+1)<<8 | uint64(i)
			call.In, call.Out = t.area(t.in, i, shift), t.area(t.out, i, shift)
			t.comm.Options = options
			s.note(call)
			call.Prepare(s.world)
			calls = append(calls, started{call, options})
		}
		all = append(all, calls)
	}
	return all
}

// submit submits the calls: those of one site in order, the sites in an order
// of this rank's own.
func (s *soak) submit(p plan, calls [][]started) {
	order := slices.Clone(calls)
	if s.world.Rank()%2 == 1 {
		slices.Reverse(order)
	}
	each := func() {
		for _, ofSite := range order {
			for _, c := range ofSite {
				c.submit()
			}
		}
	}
	if p.manner == grouped {
		s.sites[p.site].stream.Group(each)
		return
	}
	each()
}

// forget allocates a buffer, uses it and forgets it.
func (s *soak) forget() error {
	b, err := s.world.Alloc(int64(s.leak))
	if err != nil {
		return err
	}
	s.stream.Fill(b.All(), ccrun.U8, 1)
	return s.stream.Sync()
}
