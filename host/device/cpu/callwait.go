package cpu

import "github.com/ccrun/ccrun/host/op"

// nameWait says for the recorder that the call at hand waits for a peer: the
// collective as the value, its sequence number as the slot.
func (c *comm) nameWait(peer int) {
	call, sequence := c.atHand()
	c.waits.Kind, c.waits.Peer, c.waits.Call = op.CollectiveCall, int32(c.peers[peer].world), call
	c.waits.Value, c.waits.Slot = uint64(call.Collective), sequence
}

// atHand is the call that is carried out, or that begins the next chunk, and
// its number among this rank's collectives, 0 if it has none.
func (c *comm) atHand() (*op.Call, uint32) {
	g := &c.run
	switch {
	case g.live > 0:
		r := &g.calls[min(g.turn, g.live-1)]
		return r.call, c.sequence(r)
	case g.term.Collective == 0:
		return g.rest, 0
	}
	return g.rest, g.term.Collective + uint32(g.index)
}

// algorithmOf is the name of the algorithm of a call, "" for any other
// operation.
func algorithmOf(o *op.Op) string {
	if o.Call == nil {
		return ""
	}
	return o.Call.Program.Name
}
