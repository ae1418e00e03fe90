package module

import (
	"fmt"
	"math"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

var (
	errKind     = &refusal{abi.Invalid, "kind: not an operation"}
	errReserved = &refusal{abi.Invalid, "reserved: not zero"}
	errSources  = &refusal{abi.Invalid, "source_count: not 1 to 8"}
)

// decodeOp reads an op structure; kind replaces what the structure says unless
// it is None. Fields that the kind does not use are not looked at. What the
// fields mean to the device is for [op.Op.Check].
//
// A batch may overlap with its own count in the guest's memory: the count is
// written when all has been read.
func (c *call) decodeOp(b *opStruct, kind op.Kind) (*op.Op, error) {
	if kind == op.None {
		number := get32(b[0:])
		if number == 0 || number > uint32(op.GetBox) {
			return nil, errKind
		}
		kind = op.Kind(number)
	}
	if b[63] != 0 {
		return nil, errReserved
	}
	var o *op.Op
	switch kind {
	case op.Copy, op.Put, op.Get:
		o = c.beginTransfer(kind)
	default:
		o = c.begin(kind)
	}
	decodeTerm(&o.Term, b)
	if err := c.trace.checkTerm(&o.Term); err != nil {
		return nil, err
	}
	return o, c.decodeFields(o, b)
}

// opStruct is an op structure in the guest's memory. That its length is known
// saves a look at it for each field.
type opStruct = [abi.OpBytes]byte

// decodeFields reads the fields that o's kind uses.
func (c *call) decodeFields(o *op.Op, b *opStruct) error {
	switch o.Kind {
	case op.Copy, op.Put, op.Get:
		return c.transferFields(o, b)
	case op.Signal, op.Wait:
		o.Value = get64(b[48:])
		return c.peer(o, b)
	case op.Send:
		return first(c.src(o, b), opBytes(o, b), c.peer(o, b))
	case op.Recv:
		return first(c.dst(o, b), opBytes(o, b), c.peer(o, b))
	case op.Reduce:
		o.Type, o.Red = op.Dtype(b[60]), op.RedOp(b[61])
		return first(c.dst(o, b), opBytes(o, b), c.sources(o, b))
	case op.Fill, op.Verify:
		o.Type, o.Value = op.Dtype(b[60]), get64(b[48:])
		offset, err := size("src_offset", b[32:])
		o.Src.Off = offset
		return first(err, c.dst(o, b), opBytes(o, b))
	case op.Digest:
		return first(c.dst(o, b), opBytes(o, b))
	case op.Gemm:
		gemm, err := c.region(uint64(get32(b[64:])), abi.GemmBytes, 8)
		if err != nil {
			return inField("sources", err)
		}
		return c.decodeGemm(o, gemm)
	case op.CopyBox, op.GetBox:
		box, err := c.region(uint64(get32(b[64:])), abi.BoxBytes, 8)
		if err != nil {
			return inField("sources", err)
		}
		return c.decodeBox(o, box)
	case op.CollectiveCall:
		call, err := c.region(uint64(get32(b[64:])), abi.CallBytes, 8)
		if err != nil {
			return inField("sources", err)
		}
		return c.decodeCallOp(o, call)
	default: // EventRecord, EventWait
		e, err := c.events.get(get64(b[88:]))
		o.Event = e
		return inField("event", err)
	}
}

// transferFields reads the fields of a copy, put or get: all at once, and one
// by one only to find what is wrong.
func (c *call) transferFields(o *op.Op, b *opStruct) error {
	dst, src := c.buffers.find(get64(b[8:])), c.buffers.find(get64(b[24:]))
	to, from, bytes := get64(b[16:]), get64(b[32:]), get64(b[40:])
	if dst == nil || src == nil || to|from|bytes > math.MaxInt64 {
		return first(c.dst(o, b), c.src(o, b), opBytes(o, b))
	}
	o.Dst.Buf, o.Dst.Off = dst.value.Buffer, int64(to)
	o.Src.Buf, o.Src.Off = src.value.Buffer, int64(from)
	o.Bytes, c.placed = int64(bytes), placed(o.Kind, &dst.value, &src.value)
	return nil
}

func (c *call) dst(o *op.Op, b *opStruct) error {
	return inField("dst", c.decodeView(&o.Dst, b[8:24]))
}

func (c *call) src(o *op.Op, b *opStruct) error {
	return inField("src", c.decodeView(&o.Src, b[24:40]))
}

// view reads a handle and an offset.
func (c *call) view(b []byte) (v op.View, err error) {
	err = c.decodeView(&v, b)
	return v, err
}

// decodeView reads a view to where it is needed, for the reason that decodeTerm
// does.
func (c *call) decodeView(v *op.View, b []byte) (err error) {
	held, err := c.buffers.slot(get64(b))
	if err != nil {
		return err
	}
	v.Buf = held.value.Buffer
	v.Off, err = size("offset", b[8:])
	return err
}

func opBytes(o *op.Op, b *opStruct) (err error) {
	o.Bytes, err = size("bytes", b[40:])
	return err
}

func (c *call) peer(o *op.Op, b *opStruct) error {
	peer := get32(b[4:])
	if uint64(peer) >= uint64(c.config.Size) {
		return inField("peer", errRank)
	}
	o.Peer, o.Slot = int32(peer), get32(b[56:])
	return nil
}

// sources reads the views that a reduce points to.
func (c *call) sources(o *op.Op, b *opStruct) error {
	count := b[62]
	if count == 0 || count > op.MaxSources {
		return errSources
	}
	views, err := c.region(uint64(get32(b[64:])), uint64(count)*abi.ViewBytes, 8)
	if err != nil {
		return inField("sources", err)
	}
	for n := range o.Sources[:count] {
		if o.Sources[n], err = c.view(views[n*abi.ViewBytes:]); err != nil {
			return inField("sources", err)
		}
	}
	o.SourceCount = count
	return nil
}

// decodeTerm reads a term to where it is needed. A copy of a structure that was
// just written field by field would cost the processor 5 ns: it must wait until
// the small stores are done before it can load them as a whole.
func decodeTerm(t *op.Term, b *opStruct) {
	t.Collective, t.Chunk, t.Slice = get32(b[68:]), get32(b[72:]), get32(b[76:])
	t.Flow, t.Step, t.Message = get16(b[80:]), get16(b[82:]), get32(b[84:])
}

func size(field string, b []byte) (int64, error) {
	v := get64(b)
	if v > math.MaxInt64 {
		return 0, inField(field, errNegative)
	}
	return int64(v), nil
}

func inField(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

func atOp(n uint32, err error) error { return fmt.Errorf("op %d: %w", n, err) }

// first is the first error, so that a decoder reads as the list of its fields.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
