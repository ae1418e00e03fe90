package cpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/ccrun/ccrun/host/op"
)

// A communicator's block at one rank: what the rank writes and its peers read
// (places, left) and what peers write for it (flags, closed). Places are used
// in turn: call k has place k modulo placeCount.
const (
	callsAtOnce = 4 // calls of a group that are entered together
	placeCount  = 2 * callsAtOnce
	vectorBytes = 32 // per peer: what AllToAllV sends to it and receives from it
)

// callHeader says that a rank has entered a call, and what it calls. The first
// bytes of the slot lie right behind it, on the neighbouring cache line that
// the processor fetches together with this one.
type callHeader struct {
	entered counter // number of the call
	what    uint64  // see callWords
	count   uint64
	slice   uint64
	posted  [postedBytes]byte // the first bytes of the slot, as they were on entry
}

// postedBytes is how much of a slot lies on the line that says that a call was
// entered.
const postedBytes = 64 - 40

// location is where an area of a rank lies in its arena.
type location struct {
	offset     int64
	bytes      int64 // -1 if there is no such area
	allocation uint32
	generation uint32
}

// locations are a rank's areas in one call.
type locations struct {
	of     [2]location   // by op.AreaIn, op.AreaOut
	broken atomic.Uint32 // not 0 once the rank may have given its areas up without having parted from its peers
	_      [lineBytes - 52]byte
}

// place is what a rank shows its peers of one call.
type place struct {
	locations *locations
	header    *callHeader
	slot      []byte
	vectors   int64 // offset in the arena
}

var (
	_ [lineBytes]byte = [unsafe.Sizeof(locations{})]byte{}
	_ [64]byte        = [unsafe.Sizeof(callHeader{})]byte{}
)

// commLayout says where in a block its parts begin; it depends on nothing but
// the number of ranks.
type commLayout struct {
	ranks, flags, closed, places, placeBytes, bytes int64
}

func commLayoutOf(ranks int) commLayout {
	l := commLayout{ranks: int64(ranks), flags: lineBytes}
	l.closed = l.flags + l.ranks*op.FlagsMax*lineBytes
	l.places = roundUp(l.closed+4*l.ranks, lineBytes)
	l.placeBytes = roundUp(placeSlot+op.SlotBytesMax+vectorBytes*l.ranks, lineBytes)
	l.bytes = roundUp(l.places+placeCount*l.placeBytes, largeBytes)
	return l
}

// placeSlot is where in a place its slot begins: behind locations and header.
const placeSlot = lineBytes + 64

// commBlock is a rank's block as another rank, the viewer, uses it.
type commBlock struct {
	arena  *arena
	base   int64
	layout commLayout
	left   *counter              // number of the last call whose peers' areas the rank needs no more
	raised [op.FlagsMax]*counter // flags that the viewer raises there
	places [placeCount]place
}

func blockAt(a *arena, base int64, l commLayout, viewer int) commBlock {
	b := commBlock{arena: a, base: base, layout: l, left: a.counterAt(base)}
	for f := range b.raised {
		b.raised[f] = b.flag(viewer, f)
	}
	for i := range b.places {
		at := base + l.places + int64(i)*l.placeBytes
		b.places[i] = place{
			locations: (*locations)(unsafe.Pointer(&a.mem[at])),
			header:    (*callHeader)(unsafe.Pointer(&a.mem[at+lineBytes])),
			slot:      a.mem[at+placeSlot:][:op.SlotBytesMax:op.SlotBytesMax],
			vectors:   at + placeSlot + op.SlotBytesMax,
		}
	}
	return b
}

func (a *arena) counterAt(offset int64) *counter { return (*counter)(unsafe.Pointer(&a.mem[offset])) }

// flag is the flag that rank from raises at the owner.
func (b *commBlock) flag(from, number int) *counter {
	return b.arena.counterAt(b.base + b.layout.flags + int64(from*op.FlagsMax+number)*lineBytes)
}

// closedBy is not 0 once rank from has closed the communicator.
func (b *commBlock) closedBy(from int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&b.arena.mem[b.base+b.layout.closed+int64(from)*4]))
}

// vector is what a call of AllToAllV exchanges with one peer, in elements.
type vector struct {
	sends, recvs int64
	offset       int64 // where in the owner's input what it sends begins
	_            int64
}

var _ [vectorBytes]byte = [unsafe.Sizeof(vector{})]byte{}

// vector is what the owner exchanges with rank peer in the call of a place.
func (b *commBlock) vector(place, peer int) *vector {
	return (*vector)(unsafe.Pointer(&b.arena.mem[b.places[place].vectors+int64(peer)*vectorBytes]))
}
