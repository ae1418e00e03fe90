package module

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// fakeComm carries out what needs no other rank: in a world where a rank is
// alone at work, calls of several ranks never complete.
type fakeComm struct {
	device *fakeDevice
	ranks  []int
	rank   int
}

func (c *fakeComm) Rank() int { return c.rank }
func (c *fakeComm) Size() int { return len(c.ranks) }

func (c *fakeComm) Close() error {
	c.device.comms--
	return nil
}

func (d *fakeDevice) NewComm(_ string, ranks []int, timeout time.Duration) (device.Comm, error) {
	if d.world.alone && len(ranks) > 1 && timeout >= 0 {
		return nil, device.ErrTimeout
	}
	if d.comms == maxFakeComms {
		return nil, device.ErrTooMany
	}
	d.comms++
	c := &fakeComm{device: d, ranks: ranks}
	for c.ranks[c.rank] != d.rank {
		c.rank++
	}
	return c, nil
}

const maxFakeComms = 4

// collective carries a group out and records each call of it.
func (s *fakeStream) collective(o *op.Op) (bool, error) {
	if o.Comm.Size() > 1 {
		return false, nil
	}
	sequence := o.Term.Collective
	for call := o.Call; call != nil; call = call.Next {
		start := s.device.Now()
		for i := range call.Program.Steps {
			if err := moveStep(call, &call.Program.Steps[i]); err != nil {
				return false, err
			}
		}
		aux := uint32(call.NameIndex)
		if call.Warmup {
			aux |= warmup
		}
		s.device.recorder.Append(&flight.Record{
			Start: start, End: s.device.Now(), Bytes: uint64(call.Bytes), Collective: sequence, Chunk: uint32(o.Comm.Size()), Peer: -1,
			Aux: aux, Kind: uint8(op.Collective), Type: uint8(call.Type), Red: uint8(call.Collective), Step: uint16(call.Red),
			Stream: uint16(s.number), Group: call.Group,
		})
		sequence++
	}
	return true, nil
}

func moveStep(call *op.Call, step *op.Step) error {
	if step.Kind != op.StepMove {
		return nil
	}
	view := func(p op.Place) op.View {
		v := [...]op.View{op.AreaIn: call.In, op.AreaOut: call.Out}[p.Area]
		v.Off += p.Off
		return v
	}
	dst, err := viewBytes(view(step.Dests[0]), step.Bytes)
	if err != nil {
		return err
	}
	src, err := viewBytes(view(step.Sources[0]), step.Bytes)
	copy(dst, src)
	return err
}
