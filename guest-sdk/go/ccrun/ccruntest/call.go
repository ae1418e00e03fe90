package ccruntest

import (
	"bytes"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// call is a collective that a rank has submitted.
type call struct {
	raw.Call
	comm   *comm
	number int      // of the communicator's calls
	counts []uint64 // of all_to_all_v: to each, where, from each, where
	in     []byte   // what it gives, copied when it enters
}

// meeting names a call of a communicator that all its ranks enter.
type meeting struct {
	comm   string
	number int
}

func (r *rank) Collective(stream uint64, c *raw.Call) raw.Errno {
	return r.CollectiveGroup(stream, c, 1)
}

func (r *rank) CollectiveGroup(handle uint64, calls *raw.Call, callsLen uint32) raw.Errno {
	defer r.lock()()
	s, errno := find(r, r.streams, handle)
	if errno != raw.OK {
		return errno
	}
	p := pending{Op: raw.Op{Kind: raw.KindCall}}
	for _, c := range callsAt(calls, callsLen) {
		read, errno := r.readCall(&c)
		if errno != raw.OK {
			return errno
		}
		p.calls = append(p.calls, read)
	}
	return r.append(s, p)
}

// readCall copies a call and what it points to, and checks it.
func (r *rank) readCall(c *raw.Call) (*call, raw.Errno) {
	communicator, errno := find(r, r.comms, c.Comm)
	if errno != raw.OK {
		return nil, errno
	}
	read := &call{Call: *c, comm: communicator}
	n := uint32(len(communicator.ranks))
	if c.Op == raw.CollectiveAllToAllV {
		for _, address := range [...]uint32{c.SendCounts, c.SendOffsets, c.RecvCounts, c.RecvOffsets} {
			if address == 0 || int(address) > len(r.counts) || len(r.counts[address-1]) != int(n) {
				return nil, r.fail(raw.ErrnoFault, "no counts")
			}
			read.counts = append(read.counts, r.counts[address-1]...)
		}
	}
	switch {
	case c.Op == raw.CollectiveCustom || c.Op == raw.CollectiveSendRecv || c.Op > raw.CollectiveBarrier || c.Redop > raw.RedopAvg:
		return nil, r.fail(raw.ErrnoInvalid, "no such collective or operator")
	case c.Root >= n:
		return nil, r.fail(raw.ErrnoNoRank, "no such root")
	case c.Op == raw.CollectiveAllToAllV && c.In == 0:
		return nil, r.fail(raw.ErrnoInvalid, "all_to_all_v is not done in place")
	}
	if errno := r.elements(uint32(c.Dtype), 0, 0); errno != raw.OK {
		return nil, errno
	}
	_, _, errno = r.areas(read)
	return read, errno
}

// size is how many bytes n elements of the call are.
func (c *call) size(n uint64) uint64 { return n * uint64(numbers[c.Dtype].size) }

// elements is how many elements this rank gives and gets.
func (c *call) elements() (in, out uint64) {
	n, isRoot := uint64(len(c.comm.ranks)), uint32(c.comm.rank) == c.Root
	in, out = c.Count, c.Count
	switch c.Op {
	case raw.CollectiveAllGather:
		out *= n
	case raw.CollectiveReduceScatter:
		in *= n
	case raw.CollectiveAllToAll:
		in, out = in*n, out*n
	case raw.CollectiveGather:
		out *= n
	case raw.CollectiveScatter:
		in *= n
	case raw.CollectiveAllToAllV:
		return c.extent(0), c.extent(2)
	case raw.CollectiveBarrier:
		return 0, 0
	}
	if !isRoot && (c.Op == raw.CollectiveBroadcast || c.Op == raw.CollectiveScatter) {
		in = 0
	}
	if !isRoot && (c.Op == raw.CollectiveReduce || c.Op == raw.CollectiveGather) {
		out = 0
	}
	return in, out
}

// list is one of the lists of counts.
func (c *call) list(i int) []uint64 { return c.counts[i*len(c.comm.ranks):][:len(c.comm.ranks)] }

// extent is where the last part ends of which list i has the sizes.
func (c *call) extent(i int) (end uint64) {
	for rank, count := range c.list(i) {
		if count > 0 {
			end = max(end, c.list(i + 1)[rank]+count)
		}
	}
	return end
}

// areas finds what a call reads and writes.
func (r *rank) areas(c *call) (in, out []byte, errno raw.Errno) {
	inElements, outElements := c.elements()
	inBytes, outBytes := c.size(inElements), c.size(outElements)
	if c.In != 0 || inBytes == 0 {
		if out, errno = r.area(c.Out, c.OutOffset, outBytes); errno == raw.OK {
			in, errno = r.area(c.In, c.InOffset, inBytes)
		}
		return in, out, errno
	}
	whole, errno := r.area(c.Out, c.OutOffset, max(inBytes, outBytes))
	if errno != raw.OK {
		return nil, nil, errno
	}
	own := uint64(c.comm.rank) * c.size(c.Count)
	switch {
	case inBytes < outBytes:
		return whole[own:][:inBytes], whole, raw.OK
	case inBytes > outBytes && outBytes > 0:
		return whole, whole[own:][:outBytes], raw.OK
	}
	return whole, whole[:outBytes], raw.OK
}

func (r *rank) area(handle, offset, bytes uint64) ([]byte, raw.Errno) {
	if handle == 0 && bytes == 0 {
		return nil, raw.OK
	}
	return r.region(handle, offset, bytes)
}

// meet carries out the calls of an operation: it enters all, then completes
// each.
func (r *rank) meet(calls []*call) raw.Errno {
	w := r.world
	for _, c := range calls {
		in, _, errno := r.areas(c)
		if errno != raw.OK {
			return errno
		}
		c.in = bytes.Clone(in)
		m := meeting{c.comm.name, c.number}
		if w.meetings[m] == nil {
			w.meetings[m] = make([]*call, len(c.comm.ranks))
		}
		w.meetings[m][c.comm.rank] = c
	}
	w.changed.Broadcast()
	for _, c := range calls {
		present := w.meetings[meeting{c.comm.name, c.number}]
		if errno := w.await(-1, func() bool { return !slices.Contains(present, nil) }); errno != raw.OK {
			return errno
		}
		if errno := r.complete(c, present); errno != raw.OK {
			return errno
		}
	}
	return raw.OK
}

// complete writes what this rank gets of a call that all have entered.
func (r *rank) complete(c *call, all []*call) raw.Errno {
	for _, other := range all {
		if other.Op != c.Op || other.Root != c.Root || other.Dtype != c.Dtype || other.Redop != c.Redop || other.Count != c.Count {
			return r.fail(raw.ErrnoMismatch, "ranks call different collectives")
		}
	}
	_, out, errno := r.areas(c)
	if errno != raw.OK {
		return errno
	}
	part, me := int(c.size(c.Count)), c.comm.rank
	switch c.Op {
	case raw.CollectiveAllReduce, raw.CollectiveReduce:
		r.total(c, all, 0, out)
	case raw.CollectiveReduceScatter:
		r.total(c, all, me*part, out)
	case raw.CollectiveAllGather, raw.CollectiveGather:
		for rank := 0; rank < len(all) && len(out) > 0; rank++ {
			copy(out[rank*part:], all[rank].in)
		}
	case raw.CollectiveBroadcast:
		copy(out, all[c.Root].in)
	case raw.CollectiveScatter:
		copy(out, all[c.Root].in[me*part:])
	case raw.CollectiveAllToAll:
		for rank, other := range all {
			copy(out[rank*part:][:part], other.in[me*part:])
		}
	case raw.CollectiveAllToAllV:
		return r.exchange(c, all, out)
	}
	return raw.OK
}

// total combines the inputs of all ranks, from a byte on, into out.
func (r *rank) total(c *call, all []*call, from int, out []byte) {
	sources := make([][]byte, len(all))
	for rank, other := range all {
		sources[rank] = other.in[from:]
	}
	reduce(c.Dtype, c.Redop, out, sources)
}

func (r *rank) exchange(c *call, all []*call, out []byte) raw.Errno {
	for rank, other := range all {
		count := other.list(0)[c.comm.rank]
		if count != c.list(2)[rank] {
			return r.fail(raw.ErrnoMismatch, "ranks disagree on the size of a part")
		}
		from, to := c.size(other.list(1)[c.comm.rank]), c.size(c.list(3)[rank])
		if count > 0 {
			copy(out[to:][:c.size(count)], other.in[from:])
		}
	}
	return raw.OK
}
