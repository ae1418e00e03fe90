package traces

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Check says which of the rules that tie the terms together the collective
// breaks, nil if none: messages add up to their flow, flows and slices to their
// chunk, sends to the receives that they are paired with, the messages of one
// flow do not overlap, and no part takes longer than the whole. A guest that tags its operations wrongly breaks them.
func (c *Collective) Check() error {
	longest := int64(0)
	for i := range c.Transfers {
		t := &c.Transfers[i]
		if err := t.check(); err != nil {
			return fmt.Errorf("%s chunk %d step %d from rank %d to %d: %w",
				c.label(), t.Chunk, t.Step, t.Source, t.Dest, err)
		}
		longest = max(longest, t.RCCT())
	}
	if c.CCT() < longest {
		return fmt.Errorf("%s: takes %d ns, less than one of its chunks, %d ns", c.label(), c.CCT(), longest)
	}
	return nil
}

func (t *Transfer) check() error {
	var flows, pieces int64
	for i := range t.Flows {
		f := &t.Flows[i]
		if err := f.check(); err != nil {
			return fmt.Errorf("flow %d: %w", f.ID, err)
		}
		if f.FCT() > t.RCCT() {
			return fmt.Errorf("flow %d: takes %d ns, more than its chunk, %d ns", f.ID, f.FCT(), t.RCCT())
		}
		flows += f.Bytes
	}
	for i := range t.Slices {
		pieces += t.Slices[i].Bytes
	}
	if flows != t.Bytes || pieces != t.Bytes {
		return fmt.Errorf("flows hold %d bytes, slices %d, the chunk %d", flows, pieces, t.Bytes)
	}
	return t.checkEnds()
}

// checkEnds compares what the receives of the transfer took with what the sends
// that they are paired with gave. A send without a receive is a message of the
// transfer itself, so it stands on both sides. Where records of one end are
// missing, as those of a killed rank are, there is nothing to compare.
func (t *Transfer) checkEnds() error {
	var sent, taken int64
	unpaired := 0
	for i := range t.Sends {
		sent += t.Sends[i].Bytes
		unpaired += t.Sends[i].Messages
	}
	for i := range t.Flows {
		for j := range t.Flows[i].Messages {
			if m := &t.Flows[i].Messages[j]; m.Kind == op.Recv || m.Kind == op.Send {
				taken += m.Bytes
				unpaired--
			}
		}
	}
	if unpaired == 0 && sent != taken {
		return fmt.Errorf("sends hold %d bytes, their receives %d", sent, taken)
	}
	return nil
}

func (f *Flow) check() error {
	var bytes int64
	for i := range f.Messages {
		m := &f.Messages[i]
		if i > 0 && m.Start < f.Messages[i-1].End {
			return fmt.Errorf("message %d begins %d ns before the one ahead of it ends", m.ID, f.Messages[i-1].End-m.Start)
		}
		bytes += m.Bytes
	}
	if bytes != f.Bytes {
		return fmt.Errorf("messages hold %d bytes, the flow %d", bytes, f.Bytes)
	}
	return nil
}
