package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// Group submits the collectives that calls submits to s, at most 64, together:
// they make progress together, so that the order of those of different
// communicators need not be the same on all ranks, and small ones cost less.
// Other operations that calls submits go first. A group is not tagged: collectives
// number themselves, and [Stream.Tag] is for other operations.
func (s *Stream) Group(calls func()) {
	if s.grouping {
		calls()
		return
	}
	s.grouping = true
	calls()
	s.grouping = false
	s.submit()
	count := s.grouped
	s.grouped = 0
	if count == 0 || s.err != nil {
		return
	}
	errno := s.world.host.CollectiveGroup(s.handle, &s.group[0], uint32(count))
	if errno != raw.OK {
		s.err = s.world.check("collective_group", errno)
	}
}

// pushCall submits a call, now, when the stream holds no longer, or with its
// group.
func (s *Stream) pushCall(call raw.Call) {
	if s.grouping {
		s.pushGrouped(call)
		return
	}
	o := s.next(raw.KindCall)
	if s.calls == nil {
		s.calls = make([]raw.Call, heldMax)
	}
	held := &s.calls[s.count]
	*held = call
	o.Sources = s.world.host.AddressOfCall(held)
	s.push()
}

func (s *Stream) pushGrouped(call raw.Call) {
	if s.group == nil {
		s.group = make([]raw.Call, heldMax)
	}
	if s.grouped == len(s.group) {
		s.refuse("collective_group", ErrLimit, "more than 64 collectives in a group")
		return
	}
	s.group[s.grouped] = call
	s.grouped++
}
