package oplog

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// begin gives the operation that is submitted next, empty but for its kind.
// Devices look at no more than SourceCount of its sources.
func (r *player) begin(kind op.Kind) *op.Op {
	o := &r.op
	o.Kind, o.Type, o.Red, o.SourceCount = kind, 0, 0, 0
	o.Peer, o.Slot, o.Value, o.Bytes = -1, 0, 0, 0
	o.Dst, o.Src = op.View{}, op.View{}
	if o.Event != nil || o.Gemm != nil || o.Box != nil || o.Comm != nil || o.Call != nil {
		o.Event, o.Gemm, o.Box, o.Comm, o.Call = nil, nil, nil, nil, nil
	}
	o.Term = op.Term{}
	return o
}

// submit submits the operation of a line.
func (r *player) submit(v verb, args []int64) error {
	s, a := r.streams[args[0]], args[1:]
	o := r.begin(phrases[v].kind)
	rest := a // what is left of the arguments: the term, if nothing else
	switch v {
	case verbCopy, verbPut, verbGet:
		o.Dst, o.Src, o.Bytes = r.view(a), r.view(a[2:]), a[4]
		rest = a[5:]
	case verbCopyBox, verbGetBox:
		o.Dst, o.Src = r.view(a), r.view(a[4:])
		r.box = op.BoxShape{DstRow: a[2], DstPlane: a[3], SrcRow: a[6], SrcPlane: a[7], Planes: a[8], Rows: a[9], RowBytes: a[10]}
		o.Box, o.Bytes = &r.box, r.box.Bytes()
		rest = a[11:]
	case verbSignal, verbWait:
		o.Peer, o.Slot, o.Value = int32(a[0]), uint32(a[1]), uint64(a[2])
		rest = a[3:]
	case verbSend:
		o.Peer, o.Src, o.Bytes, o.Slot = int32(a[0]), r.view(a[1:]), a[3], uint32(a[4])
		rest = a[5:]
	case verbRecv:
		o.Peer, o.Dst, o.Bytes, o.Slot = int32(a[0]), r.view(a[1:]), a[3], uint32(a[4])
		rest = a[5:]
	case verbReduce:
		o.Dst, o.SourceCount = r.view(a), uint8(a[2])
		rest = a[3:]
		for i := range o.SourceCount {
			o.Sources[i] = r.view(rest)
			rest = rest[2:]
		}
		o.Bytes, o.Type, o.Red = rest[0], op.Dtype(rest[1]), op.RedOp(rest[2])
		rest = rest[3:]
	case verbFill, verbVerify:
		o.Dst, o.Bytes, o.Type, o.Value, o.Src.Off = r.view(a), a[2], op.Dtype(a[3]), uint64(a[4]), a[5]
		if v == verbVerify && !r.Verify {
			o.Kind = op.Digest // what it costs to look at as many bytes
		}
		rest = a[6:]
	case verbDigest:
		o.Dst, o.Bytes = r.view(a), a[2]
		rest = a[3:]
	case verbEventRecord, verbEventWait:
		o.Event = r.events[a[0]]
		rest = a[1:]
	case verbGemm:
		o.Dst, o.Sources[0], o.Sources[1], o.SourceCount = r.view(a), r.view(a[2:]), r.view(a[4:]), 2
		o.Type = op.Dtype(a[6])
		r.gemm = op.GemmShape{M: a[7], N: a[8], K: a[9], Add: a[10] != 0}
		o.Gemm, o.Bytes = &r.gemm, productBytes(&r.gemm, o.Type)
		rest = a[11:]
	case verbCall:
		return r.call(s, args)
	}
	setTerm(&o.Term, rest)
	return s.Submit(o)
}

// productBytes is the length of a product. The device finds out whether the
// shape makes sense.
func productBytes(g *op.GemmShape, t op.Dtype) int64 {
	if g.M > 1<<30 || g.N > 1<<30 {
		return -1
	}
	return g.M * g.N * int64(t.Size())
}

func setTerm(t *op.Term, args []int64) {
	t.Collective, t.Chunk, t.Slice = uint32(args[0]), uint32(args[1]), uint32(args[2])
	t.Flow, t.Step, t.Message = uint16(args[3]), uint16(args[4]), uint32(args[5])
}

var errNoPlan = errors.New("a replay without plans for collectives")

// call submits a call and those of its group, which the lines behind it hold.
func (r *player) call(s device.Stream, args []int64) error {
	if r.Plan == nil {
		return errNoPlan
	}
	comm := r.comms[args[1]]
	n := 1
	for r.at+n < len(r.program.lines) && r.program.lines[r.at+n].verb == verbAnd {
		n++
	}
	if n > op.MaxGroup {
		return fmt.Errorf("%d calls in a group: %w", n, op.ErrCall)
	}
	if len(r.calls) < n {
		r.calls = make([]op.Call, n)
	}
	o := r.begin(op.CollectiveCall)
	setTerm(&o.Term, args[2:])
	o.Comm, o.Call = comm, &r.calls[0]
	args = args[callAfter:]
	for i := range n {
		if i > 0 {
			args = r.program.argsOf(&r.program.lines[r.at+i], r.Rank, r.Ranks, &r.scratch)
		}
		if err := r.fill(&r.calls[i], comm, args, r.at+i); err != nil {
			return err
		}
		if i > 0 {
			r.calls[i-1].Next = &r.calls[i]
		}
	}
	return s.Submit(o)
}

// fill makes a call of its arguments.
func (r *player) fill(c *op.Call, comm device.Comm, args []int64, line int) error {
	*c = op.Call{
		Collective: op.CollectiveOp(args[callCollective]), Type: op.Dtype(args[callType]), Red: op.RedOp(args[callRed]),
		Root: int(args[callRoot]), Count: args[callCount], In: r.view(args[callIn:]), Out: r.view(args[callOut:]),
		Algorithm: uint8(args[callAlgorithm]), Group: uint16(args[callGroup]), Warmup: args[callWarmup] != 0,
	}
	if parts := args[callParted+1:]; len(parts) > 0 {
		n := comm.Size()
		if len(parts) != 4*n {
			return fmt.Errorf("%d parts, not four for each of %d ranks: %w", len(parts), n, op.ErrCall)
		}
		parts = r.kept(line, parts)
		c.SendCounts, c.SendOffsets = parts[:n:n], parts[n:2*n:2*n]
		c.RecvCounts, c.RecvOffsets = parts[2*n:3*n:3*n], parts[3*n:]
	}
	return r.Plan(c, comm, args[callSlice])
}

// kept gives a copy of a line's parts that stays as it is: devices keep it
// until the call is done.
func (r *player) kept(line int, parts []int64) []int64 {
	if kept, ok := r.parts[line]; ok {
		return kept
	}
	if r.parts == nil {
		r.parts = make(map[int][]int64)
	}
	r.parts[line] = append([]int64(nil), parts...)
	return r.parts[line]
}
