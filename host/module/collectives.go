package module

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

// group is the scratch of the collectives that one host call submits.
type group struct {
	calls []op.Call
	comms []*comm  // of calls[i]
	order []uint16 // of calls, by communicator
	key   []byte   // of the plan that is looked for
}

// collective submits one collective. Errnos: bad_handle and stale of the
// communicator and the buffers, too; range: a buffer is too small; no_rank: no
// such root; invalid: any other field, an algorithm that the collective does
// not have among them.
func collective(c *call) error {
	r := c.repeated(c.in)
	if r == nil {
		if _, err := c.decodeCalls(c.in); err != nil {
			return err
		}
		c.keepCall(c.in, c.group.comms[0], &c.group.calls[0])
		return c.submitCalls(c.trace.term)
	}
	o := c.begin(op.CollectiveCall)
	o.Term = c.trace.term
	err := c.setCalls(o, r.comm, &r.call)
	if err == nil {
		err = c.submitOne(o)
	}
	if err == nil {
		c.trace.sequence++
	}
	return err
}

// collectiveGroup submits collectives together, one operation for each
// communicator, in an order that all ranks agree on. limit: too many.
func collectiveGroup(c *call) error {
	if bad, err := c.decodeCalls(c.in); err != nil {
		return atCall(bad, err)
	}
	return c.submitCalls(c.trace.term)
}

// decodeCalls reads call structures into the scratch; if it fails, it says
// which one is bad.
func (c *call) decodeCalls(b []byte) (bad int, err error) {
	n := len(b) / abi.CallBytes
	if n > op.MaxGroup {
		return 0, refuse(abi.Limit, "%d calls, more than %d", n, op.MaxGroup)
	}
	c.group.reset(n)
	for at := range n {
		comm, err := c.decodeCall(&c.group.calls[at], b[at*abi.CallBytes:])
		if err != nil {
			return at, err
		}
		c.group.comms[at], c.group.order[at] = comm, uint16(at)
	}
	return 0, nil
}

func (g *group) reset(n int) {
	if n > cap(g.calls) {
		g.calls, g.comms, g.order = make([]op.Call, n), make([]*comm, n), make([]uint16, n)
	}
	g.calls, g.comms, g.order = g.calls[:n], g.comms[:n], g.order[:n]
}

// decodeCall reads a call structure: from the communicator's plan for it, and
// from the fields that differ from call to call.
func (c *call) decodeCall(call *op.Call, b []byte) (*comm, error) {
	comm, err := c.comms.get(get64(b))
	if err != nil {
		return nil, inField("comm", err)
	}
	p, err := c.planOf(comm, b)
	if err != nil {
		return nil, err
	}
	in, out, err := c.areas(&p, comm, b)
	if err != nil {
		return nil, err
	}
	*call = p.call
	call.Warmup, call.In, call.Out = get16(b[18:])&warmupFlag != 0, in, out
	return comm, nil
}

// areas decodes the buffers of a call, and finds another plan for it if they
// are in place although the structure does not say so.
func (c *call) areas(p **plan, comm *comm, b []byte) (in, out op.View, err error) {
	if (*p).shape.InPlace {
		whole, err := c.area("out", b[48:], max((*p).inBytes, (*p).outBytes), errOutPeer)
		return inPlaceAreas(whole, (*p).offset, err)
	}
	if out, err = c.area("out", b[48:], (*p).outBytes, errOutPeer); err != nil {
		return in, out, err
	}
	if in, err = c.area("in", b[32:], (*p).inBytes, errInPeer); err != nil {
		return in, out, err
	}
	switch {
	case in.Buf == nil || in.Buf != out.Buf || !overlap(in.Off, (*p).inBytes, out.Off, (*p).outBytes):
	case in.Off-out.Off == (*p).offset:
		*p, err = c.inPlace(*p, comm)
	default:
		err = refuse(abi.Invalid, "in: overlaps with out and is not in place")
	}
	return in, out, err
}

// inPlaceAreas finds input and output in the one region of a call in place.
func inPlaceAreas(whole op.View, offset int64, err error) (in, out op.View, _ error) {
	in, out = whole, whole
	if offset < 0 {
		out.Off -= offset
	} else {
		in.Off += offset
	}
	return in, out, err
}

func overlap(a, aBytes, b, bBytes int64) bool {
	return aBytes > 0 && bBytes > 0 && a < b+bBytes && b < a+aBytes
}

var (
	errOutPeer = &refusal{abi.Invalid, "out: was looked up, and a collective works on the rank's own buffers"}
	errInPeer  = &refusal{abi.Invalid, "in: was looked up, and a collective works on the rank's own buffers"}
)

// area is the view of an own buffer that bytes are read from or written to;
// none if there are no bytes and no handle.
func (c *call) area(name string, b []byte, bytes int64, peer *refusal) (op.View, error) {
	if bytes == 0 && get64(b) == 0 {
		return op.View{}, nil
	}
	v, err := c.view(b)
	if err != nil {
		return v, inField(name, err)
	}
	if v.Buf.Peer() >= 0 { // this rank's own too: two handles of one buffer could hide an overlap
		return v, peer
	}
	return v, inField(name, checkView(v, bytes))
}

// decodeCallOp reads a call structure that an op structure points to.
func (c *call) decodeCallOp(o *op.Op, b []byte) error {
	if _, err := c.decodeCalls(b[:abi.CallBytes]); err != nil {
		return err
	}
	return c.setCalls(o, c.group.comms[0], &c.group.calls[0])
}

// setCalls gives o calls on a communicator, and the next number.
func (c *call) setCalls(o *op.Op, comm *comm, calls *op.Call) error {
	if c.trace.sequence > math.MaxUint32-op.MaxGroup {
		return refuse(abi.Limit, "%d collectives were begun", c.trace.sequence)
	}
	o.Comm, o.Call = comm.op, calls
	o.Term.Collective = c.trace.sequence + 1
	return nil
}

// submitCalls submits the calls of the scratch and numbers them in the trace,
// in the order in which they are carried out.
func (c *call) submitCalls(term op.Term) error {
	g := &c.group
	if len(g.calls) > 1 {
		g.sort()
	}
	for at := 0; at < len(g.order); {
		n := g.link(at)
		o := c.begin(op.CollectiveCall)
		o.Term = term
		first := g.order[at]
		err := c.setCalls(o, g.comms[first], &g.calls[first])
		if err == nil {
			err = c.submitOne(o)
		}
		if err != nil {
			return err
		}
		c.trace.sequence += uint32(n)
		at += n
	}
	return nil
}

// sort brings the calls of each communicator together, in the order in which
// they were given. The order of the communicators is the same on all ranks, so
// that two ranks of two communicators never wait for each other crosswise.
func (g *group) sort() {
	slices.SortStableFunc(g.order, func(a, b uint16) int {
		x, y := g.comms[a], g.comms[b]
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.name, y.name))
	})
}

// link chains the calls of one communicator, from the at-th in order on, and
// says how many they are.
func (g *group) link(at int) int {
	first, n := g.order[at], 1
	for last := first; at+n < len(g.order) && g.comms[g.order[at+n]] == g.comms[first]; n++ {
		next := g.order[at+n]
		g.calls[last].Next = &g.calls[next]
		last = next
	}
	return n
}

// gemm submits a product of matrices. range: a matrix reaches outside its
// buffer; invalid: a type that is not f32 or f64.
func gemm(c *call) error {
	o := c.begin(op.Gemm)
	o.Term = c.trace.term
	if err := c.decodeGemm(o, c.in); err != nil {
		return err
	}
	return c.submitOne(o)
}

// addFlag is the bit of a gemm structure's flags that adds the product to c.
const addFlag = 1

// decodeGemm reads a gemm structure.
func (c *call) decodeGemm(o *op.Op, b []byte) error {
	if b[61]&^addFlag != 0 || get16(b[62:]) != 0 {
		return errReserved
	}
	var err error
	if o.Dst, err = c.view(b); err != nil {
		return inField("c", err)
	}
	for n, name := range [...]string{"a", "b"} {
		if o.Sources[n], err = c.view(b[16+16*n:]); err != nil {
			return inField(name, err)
		}
	}
	c.shape = op.GemmShape{M: int64(get32(b[48:])), N: int64(get32(b[52:])), K: int64(get32(b[56:])), Add: b[61] == addFlag}
	o.Gemm, o.SourceCount, o.Type = &c.shape, 2, op.Dtype(b[60])
	elements := uint64(c.shape.M) * uint64(c.shape.N)
	if elements > math.MaxInt64/8 {
		return refuse(abi.Range, "c: %d times %d elements", c.shape.M, c.shape.N)
	}
	o.Bytes = int64(elements) * int64(o.Type.Size())
	return nil
}

func atCall(n int, err error) error { return fmt.Errorf("call %d: %w", n, err) }
