package cpu

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// ending says how an operation is to end that has taken so long.
type ending func(kind op.Kind, peer int, nanos int64) device.Ending

// Inject makes operations go wrong, on purpose.
func (d *Device) Inject(as func(kind op.Kind, peer int, nanos int64) device.Ending) { d.ending = as }

// Of a long delay all but the end is slept, in steps that let an abort through.
// The rest is spent on the processor: a sleep of less than a scheduler's turn
// may last for one.
const (
	spunNanos  = int64(4 * time.Millisecond)
	sleptNanos = int64(10 * time.Millisecond)
)

// inject has what began at start end as it is to: it fails it, or keeps it from
// its end for as long as it is to take. What it has written is the caller's to
// corrupt.
func (d *Device) inject(kind op.Kind, peer int, start int64) (corrupt bool, err error) {
	now := d.Now()
	end := d.ending(kind, peer, now-start)
	if end.Fail {
		return end.Corrupt, device.ErrFault
	}
	until := now + max(0, end.LongerNanos)
	if until < now {
		until = never
	}
	for ; now < until && d.abortError() == nil; now = d.Now() {
		if left := until - now; left > spunNanos {
			time.Sleep(time.Duration(min(left-spunNanos, sleptNanos)))
			continue
		}
		pause()
	}
	return end.Corrupt, nil
}

// injectOp is inject for an operation that execute has carried out. The other
// end of a Reduce is the first peer whose memory it has read.
func (s *stream) injectOp(o *op.Op, peer int, start int64) error {
	switch o.Kind {
	case op.Wait, op.EventWait, op.EventRecord:
		return nil // no work: queued ones are not asked about either
	}
	if o.Kind == op.Reduce {
		for i := range o.Sources[:o.SourceCount] {
			if peer = o.Sources[i].Buf.Peer(); peer >= 0 {
				break
			}
		}
	}
	wrong, err := s.device.inject(o.Kind, peer, start)
	if !wrong || !o.Kind.Writes() || o.Bytes == 0 {
		return err
	}
	if b := o.Dst.Buf.(*buffer); b.enter(s.number, 0) { // else nobody will see it
		corrupt(b.mem[o.Dst.Off:])
		b.leave(s.number, 0)
	}
	return err
}

// injectLetter is inject for a message that has been copied.
func (d *Device) injectLetter(to []byte, peer int, start int64) error {
	wrong, err := d.inject(op.Recv, peer, start)
	if wrong {
		corrupt(to)
	}
	return err
}

// injectMove is inject for a step of a call.
func (c *comm) injectMove(s *op.Step, to []byte, start int64) error {
	kind, peer := device.MoveOf(s, c.rank)
	if peer >= 0 {
		peer = c.peers[peer].world
	}
	wrong, err := c.device.inject(kind, peer, start)
	if wrong {
		corrupt(to)
	}
	return err
}

// corrupt inverts the first byte.
func corrupt(b []byte) {
	if len(b) > 0 {
		b[0] ^= 0xff
	}
}
