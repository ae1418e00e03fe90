package module

import (
	"math"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

// begin gives the scratch operation, empty but for its kind. The sources keep
// what they held: no one looks at more than SourceCount of them.
func (c *call) begin(kind op.Kind) *op.Op {
	o := &c.op
	o.Kind, o.Type, o.Red, o.SourceCount = kind, 0, 0, 0
	o.Peer, o.Slot, o.Value, o.Bytes = -1, 0, 0, 0
	o.Dst, o.Src = op.View{}, op.View{}
	o.Event, o.Result = nil, nil
	o.Gemm, o.Box, o.Comm, o.Call = nil, nil, nil, nil
	o.Term = op.Term{}
	c.placed = false
	return o
}

// beginTransfer is begin for one who sets what every transfer has.
func (c *call) beginTransfer(kind op.Kind) *op.Op {
	o := &c.op
	o.Kind, o.Type, o.Red, o.SourceCount = kind, 0, 0, 0
	o.Peer, o.Slot, o.Value = -1, 0, 0
	o.Event, o.Result = nil, nil
	o.Gemm, o.Box, o.Comm, o.Call = nil, nil, nil, nil
	c.placed = false
	return o
}

// submitOne gives o to the call's stream. What the table promises and devices
// cannot know is checked here: which side of a transfer may be a peer's.
func (c *call) submitOne(o *op.Op) error {
	if !c.placed {
		if err := c.checkPlaces(o); err != nil {
			return err
		}
	}
	if err := c.stream.Submit(o); err != nil {
		return explain(o, err)
	}
	return nil
}

var (
	errDstPeer = &refusal{abi.Invalid, "dst: a peer's buffer; only put writes to one"}
	errSrcPeer = &refusal{abi.Invalid, "src: a peer's buffer; only get, get_box and reduce read from one"}
)

// checkPlaces refuses a destination or a source that is a peer's where the
// operation is for own buffers. An own buffer that was looked up is own.
func (c *call) checkPlaces(o *op.Op) error {
	switch o.Kind {
	case op.Copy, op.CopyBox:
		if !c.own(o.Dst.Buf) {
			return errDstPeer
		}
		if !c.own(o.Src.Buf) {
			return errSrcPeer
		}
	case op.Put, op.Send:
		if !c.own(o.Src.Buf) {
			return errSrcPeer
		}
	case op.Get, op.GetBox, op.Recv, op.Reduce, op.Fill, op.Gemm:
		if !c.own(o.Dst.Buf) {
			return errDstPeer
		}
	}
	return nil
}

func (c *call) own(b op.Buffer) bool {
	peer := b.Peer()
	return peer < 0 || peer == c.config.Rank
}

// copyOwn submits a copy between own buffers. range: a region is not inside
// its buffer; invalid: a buffer is a peer's; failed: the stream has failed.
func copyOwn(c *call) error { return c.transfer(op.Copy) }

// put submits a copy to a looked-up buffer. Errnos as for copy.
func put(c *call) error { return c.transfer(op.Put) }

// get submits a copy from a looked-up buffer. Errnos as for copy.
func get(c *call) error { return c.transfer(op.Get) }

func (c *call) transfer(kind op.Kind) error {
	o := c.begin(kind)
	o.Dst = op.View{Buf: c.buffer[0], Off: c.int64(2)}
	o.Src = op.View{Buf: c.buffer[1], Off: c.int64(4)}
	o.Bytes = c.int64(5)
	o.Term = c.trace.term
	return c.submitOne(o)
}

func copyDirect(c *call) error { return c.transferDirect(op.Copy) }
func putDirect(c *call) error  { return c.transferDirect(op.Put) }
func getDirect(c *call) error  { return c.transferDirect(op.Get) }

// transferDirect is transfer with its parameters as they came: schedules call
// it for every slice.
func (c *call) transferDirect(kind op.Kind) error {
	p := (*[6]uint64)(c.stack)
	s, dst, src := c.streams.find(p[0]), c.buffers.find(p[1]), c.buffers.find(p[3])
	if s == nil || dst == nil || src == nil || p[2]|p[4]|p[5] > math.MaxInt64 {
		return errIndirect
	}
	o := c.beginTransfer(kind)
	o.Dst.Buf, o.Dst.Off = dst.value.Buffer, int64(p[2])
	o.Src.Buf, o.Src.Off = src.value.Buffer, int64(p[4])
	o.Bytes, o.Term = int64(p[5]), c.trace.term
	c.stream, c.placed = s.value, placed(kind, &dst.value, &src.value)
	return c.submitOne(o)
}

// placed reports whether the sides of a transfer are for certain where they
// must be. A buffer that was looked up may be own all the same.
func placed(kind op.Kind, dst, src *buffer) bool {
	return (dst.share == nil || kind == op.Put) && (src.share == nil || kind == op.Get)
}

// signal submits the raising of a slot at a peer. invalid: no such slot.
func signal(c *call) error { return c.slotOp(op.Signal) }

// wait submits a wait for a slot here. invalid: no such slot.
func wait(c *call) error { return c.slotOp(op.Wait) }

func (c *call) slotOp(kind op.Kind) error {
	o := c.begin(kind)
	o.Peer, o.Slot, o.Value = int32(c.rank(1)), c.uint32(2), c.stack[3]
	o.Term = c.trace.term
	return c.submitOne(o)
}

// signalValue writes the value of a slot here.
func signalValue(c *call) error {
	v, err := c.config.Device.SignalValue(c.rank(0), c.uint32(1))
	if err != nil {
		return err
	}
	put64(c.out[0], v)
	return nil
}

// send submits a send of an own region. invalid: no such channel, or a peer's
// buffer.
func send(c *call) error {
	o := c.begin(op.Send)
	o.Src = op.View{Buf: c.buffer[0], Off: c.int64(3)}
	return c.message(o)
}

// recv submits a receive into an own region. Errnos as for send; lengths that
// differ make the stream fail.
func recv(c *call) error {
	o := c.begin(op.Recv)
	o.Dst = op.View{Buf: c.buffer[0], Off: c.int64(3)}
	return c.message(o)
}

// message decodes what send and recv have in common.
func (c *call) message(o *op.Op) error {
	o.Peer, o.Bytes, o.Slot = int32(c.rank(1)), c.int64(4), c.uint32(5)
	o.Term = c.trace.term
	return c.submitOne(o)
}

// reduce submits one op structure as a reduce, whatever kind it says.
func reduce(c *call) error {
	o, err := c.decodeOp((*opStruct)(c.in), op.Reduce)
	if err != nil {
		return err
	}
	return c.submitOne(o)
}

// submit submits op structures in order up to the first bad one and writes how
// many were accepted, on failure too.
func submit(c *call) error {
	accepted := uint32(0)
	for ops := c.in; len(ops) > 0; ops = ops[abi.OpBytes:] {
		o, err := c.decodeOp((*opStruct)(ops), op.None)
		if err == nil {
			err = c.submitOne(o)
		}
		if err != nil {
			put32(c.out[0], accepted)
			return atOp(accepted, err)
		}
		if o.Kind == op.CollectiveCall {
			c.trace.sequence++
		}
		accepted++
	}
	put32(c.out[0], accepted)
	return nil
}
