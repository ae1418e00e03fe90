package sim

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// accept checks what [op.Op.Check] cannot: that everything o names belongs to
// this device and is alive.
func (d *Device) accept(o *op.Op) error {
	switch o.Kind {
	case op.Copy, op.Put, op.Get, op.CopyBox, op.GetBox:
		return d.acceptTransfer(o)
	case op.Signal:
		if err := d.checkSlot(int(o.Peer), o.Slot); err != nil {
			return err
		}
		return d.meet(int(o.Peer), device.Forever)
	case op.Wait:
		return d.checkSlot(int(o.Peer), o.Slot)
	case op.Send:
		return d.acceptMessage(o, o.Src.Buf)
	case op.Recv:
		return d.acceptMessage(o, o.Dst.Buf)
	case op.CollectiveCall:
		return d.acceptCalls(o)
	case op.Reduce, op.Gemm:
		for i := range o.Sources[:o.SourceCount] {
			if _, err := d.use(o.Sources[i].Buf); err != nil {
				return err
			}
		}
	case op.EventRecord, op.EventWait:
		return d.acceptEvent(o.Event)
	}
	_, err := d.use(o.Dst.Buf)
	return err
}

// acceptTransfer refuses what the kind does not allow to be a peer's.
func (d *Device) acceptTransfer(o *op.Op) error {
	dst, err := d.use(o.Dst.Buf)
	if err != nil {
		return err
	}
	src, err := d.use(o.Src.Buf)
	if err != nil {
		return err
	}
	if dst.remote() && o.Kind != op.Put || src.remote() && o.Kind != op.Get && o.Kind != op.GetBox {
		return fmt.Errorf("%s of a peer's buffer: %w", o.Kind, device.ErrForeign)
	}
	return nil
}

func placeOf(v op.View) place {
	if v.Buf == nil {
		return place{}
	}
	return place{v.Buf.(*buffer), v.Off}
}

// take puts into a task what its kind needs of the operation.
func (s *stream) take(t *task, o *op.Op) {
	switch o.Kind {
	case op.Copy, op.Put, op.Get:
		t.dst, t.src = placeOf(o.Dst), placeOf(o.Src)
	case op.CopyBox, op.GetBox:
		t.dst, t.src, t.extra = placeOf(o.Dst), placeOf(o.Src), boxed(o.Box)
	case op.Send:
		t.src = placeOf(o.Src)
	case op.Recv:
		t.dst = placeOf(o.Dst)
	case op.Fill, op.Verify:
		t.dst, t.src.off = placeOf(o.Dst), o.Src.Off
		if o.Result != nil {
			t.extra = &extra{result: o.Result}
		}
	case op.Digest:
		t.dst, t.extra = placeOf(o.Dst), &extra{result: o.Result}
	case op.EventRecord:
		e := o.Event.(*streamEvent)
		e.stream, e.target = s, s.tail+1
	case op.EventWait:
		e := o.Event.(*streamEvent)
		t.extra = &extra{after: e.stream, target: e.target}
	case op.Reduce, op.Gemm:
		s.takeSources(t, o)
	case op.CollectiveCall:
		t.extra = &extra{comm: o.Comm.(*comm), call: cloneCalls(o.Call)}
		t.extra.first = t.extra.comm.number(t.extra.call)
	}
}

func (s *stream) takeSources(t *task, o *op.Op) {
	t.dst, t.sources, t.src = placeOf(o.Dst), o.SourceCount, placeOf(o.Sources[0])
	if o.SourceCount > 1 {
		t.second = placeOf(o.Sources[1])
	}
	if o.SourceCount <= 2 && o.Kind == op.Reduce {
		return
	}
	t.extra = new(extra)
	for i := range o.Sources[:o.SourceCount] {
		t.extra.sources[i] = placeOf(o.Sources[i])
	}
	if o.Kind == op.Gemm {
		t.extra.gemm = *o.Gemm
	}
}

// source is one of a task's sources.
func (t *task) source(i int) place {
	switch {
	case t.extra != nil && t.sources > 2:
		return t.extra.sources[i]
	case i == 0:
		return t.src
	}
	return t.second
}

// stale fails if a peer has freed what an operation needs of it.
func (s *stream) stale(t *task) error {
	if t.dst.buf != nil && t.dst.buf.gone() || t.src.buf != nil && t.src.buf.gone() {
		return device.ErrStale
	}
	for i := range int(t.sources) {
		if t.source(i).buf.gone() {
			return device.ErrStale
		}
	}
	return nil
}

// apply has the effect of an operation on bytes. A phantom has none, and makes
// what is written from it one.
func (d *Device) apply(t *task) {
	if t.kind == op.Signal {
		d.cluster.send(d, t, d.cluster.now)
		return
	}
	if t.bytes == 0 && t.kind != op.Digest && t.kind != op.Verify && t.kind != op.Gemm {
		return
	}
	switch t.kind {
	case op.Copy, op.Put, op.Get, op.Recv:
		to, from := t.dst.region(t.bytes), t.src.region(t.bytes)
		if t.dst.buf.owner.phantom() || haunted(t.dst, t.src) {
			return
		}
		copy(to, from)
	case op.CopyBox, op.GetBox:
		d.applyBox(t)
	case op.Reduce:
		d.applyReduce(t)
	case op.Fill:
		if to := t.dst.region(t.bytes); to != nil {
			op.FillPattern(to, t.dtype, t.value, t.src.off)
		}
	case op.Verify:
		d.applyVerify(t)
	case op.Digest:
		if x := t.extra.result; x != nil && !t.dst.buf.owner.phantom() {
			x.Digest = op.DigestBytes(t.dst.region(t.bytes))
		}
	case op.Gemm:
		d.applyGemm(t)
	}
}

func (p place) region(n int64) []byte { return p.buf.region(p.off, n) }

// haunted makes the destination a phantom if the source is one.
func haunted(dst, src place) bool {
	if !src.buf.owner.phantom() {
		return false
	}
	dst.buf.owner.haunt()
	return true
}

func (d *Device) applyReduce(t *task) {
	if t.dst.buf.owner.phantom() {
		return
	}
	var sources [op.MaxSources][]byte
	n := int(t.sources)
	for i := range n {
		if haunted(t.dst, t.source(i)) {
			return
		}
		sources[i] = t.source(i).region(t.bytes)
	}
	dests := [1][]byte{t.dst.region(t.bytes)}
	kernels.New().Combine(dests[:], sources[:n], kernels.Task{Type: t.dtype, Red: t.red, Divisor: n})
}

func (d *Device) applyVerify(t *task) {
	if t.dst.buf.owner.phantom() {
		return // nothing is known of its bytes
	}
	mismatches, firstBad := op.VerifyPattern(t.dst.region(t.bytes), t.dtype, t.value, t.src.off)
	if d.recorder != nil {
		d.recorder.CountVerified(t.bytes, mismatches)
	}
	if t.extra != nil && t.extra.result != nil {
		t.extra.result.Mismatches, t.extra.result.FirstBad = mismatches, firstBad
	}
}

func (d *Device) applyGemm(t *task) {
	if t.dst.buf.owner.phantom() || haunted(t.dst, t.src) || haunted(t.dst, t.second) {
		return
	}
	g, size := &t.extra.gemm, int64(t.dtype.Size())
	kernels.Gemm(t.dst.region(t.bytes), t.src.region(g.M*g.K*size), t.second.region(g.K*g.N*size), t.dtype, g)
}

// opOf is the operation that a task was made of, for errors and records.
func (d *Device) opOf(t *task) op.Op {
	o := op.Op{Kind: t.kind, Type: t.dtype, Red: t.red, Peer: t.peer, Slot: t.slot, Value: t.value, Bytes: t.bytes, Term: t.term}
	if t.kind == op.CollectiveCall {
		o.Comm, o.Call = t.extra.comm, t.extra.call
	}
	return o
}

// otherEnd is the rank at the other end of an operation, -1 if there is none.
func (t *task) otherEnd() int {
	switch t.kind {
	case op.Put:
		return t.dst.buf.peer
	case op.Copy, op.Get, op.CopyBox, op.GetBox:
		return t.src.buf.peer
	case op.Signal, op.Wait, op.Send, op.Recv:
		return int(t.peer)
	case op.Reduce:
		for i := range int(t.sources) {
			if b := t.source(i).buf; b.remote() {
				return b.peer
			}
		}
	}
	return -1
}

// record writes the flight record of an operation that ends now.
func (d *Device) record(s *stream, t *task, status uint8) {
	if !d.recorded || t.kind == op.CollectiveCall {
		return
	}
	o := &d.cluster.scratch
	o.Kind, o.Type, o.Red, o.Slot, o.Value, o.Bytes, o.Term = t.kind, t.dtype, t.red, t.slot, t.value, t.bytes, t.term
	if !device.Recorded(d.recorder, o) {
		return
	}
	start, end := t.start/picosPerNano, max(d.cluster.now, s.free)/picosPerNano
	if t.kind == op.Reduce && status == flight.StatusOK {
		d.recordReduce(o, s, t, start, end)
		return
	}
	peer := -1
	if status == flight.StatusOK || t.dst.buf != nil || t.src.buf != nil || t.kind.HasPeer() {
		peer = t.otherEnd()
	}
	device.Record(d.recorder, o, s.number, peer, status, start, end)
}

// recordReduce writes a record for each peer whose memory a Reduce has read.
func (d *Device) recordReduce(o *op.Op, s *stream, t *task, start, end int64) {
	remote := false
	for i := range int(t.sources) {
		if b := t.source(i).buf; b.remote() {
			device.Record(d.recorder, o, s.number, b.peer, flight.StatusOK, start, end)
			remote = true
		}
	}
	if !remote {
		device.Record(d.recorder, o, s.number, -1, flight.StatusOK, start, end)
	}
}
