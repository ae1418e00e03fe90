package module

import (
	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

// repeats are collectives as they were decoded, by the bytes of their call
// structures: a guest makes the same few calls over and over, with the same
// buffers. Each structure has one entry that it may be kept in.
type repeats [repeatCount]repeat

const (
	repeatBits  = 3
	repeatCount = 1 << repeatBits
)

type repeat struct {
	bytes [abi.CallBytes]byte
	comm  *comm // nil: nothing is kept
	call  op.Call
	// How many handles had been removed by then: what the structure names is
	// still there if no other has been since.
	buffersRemoved, commsRemoved uint64
}

// entry is where a call structure may be kept.
func (r *repeats) entry(b []byte) *repeat {
	mixed := get64(b[8:]) ^ get64(b[24:])<<20 ^ get64(b[32:])<<8 ^ get64(b[48:])<<16 ^ get64(b[56:])
	return &r[mixed*0x9e3779b97f4a7c15>>(64-repeatBits)]
}

// repeated is the entry of a call structure that was kept and is as good as
// when it was decoded, nil if there is none.
func (c *call) repeated(b []byte) *repeat {
	r := c.repeats.entry(b)
	if r.comm == nil || r.bytes != [abi.CallBytes]byte(b) ||
		r.buffersRemoved != c.buffers.removed || r.commsRemoved != c.comms.removed {
		return nil
	}
	return r
}

// keepCall remembers how a structure was decoded, unless that depends on more
// than its bytes: on a name or on counts that it points to.
func (c *call) keepCall(b []byte, comm *comm, call *op.Call) {
	if get32(b[68:]) != 0 || call.Collective == op.AllToAllV {
		return
	}
	*c.repeats.entry(b) = repeat{[abi.CallBytes]byte(b), comm, *call, c.buffers.removed, c.comms.removed}
}
