package cpu

import (
	"sync/atomic"
	"unsafe"
)

// header is the first page of an arena.
type header struct {
	magic   [8]byte
	version uint32
	rank    uint32
	ranks   uint32
	_       [lineBytes - 20]byte
	arrived counter // barriers that the owner has entered
	_       [lineBytes - 16]byte
	bell    counter // rung when mail of the owner may have moved
}

// letter is one message under way: what the sender writes, and on the second
// cache line what the receiver answers.
type letter struct {
	ready      atomic.Uint64 // sequence number + 1 once the fields below are valid
	offset     int64         // in the sender's arena
	bytes      int64
	allocation uint32
	generation uint32
	withdrawn  atomic.Uint64 // sequence number + 1 if the sender has given up
	_          [24]byte

	done   atomic.Uint64 // sequence number + 1 once the receiver has finished
	status atomic.Uint32
	_      [52]byte
}

var (
	_ [pageBytes - unsafe.Sizeof(header{})]byte
	_ [lineBytes]byte = [unsafe.Sizeof(letter{})]byte{}
)

func (a *arena) header() *header { return (*header)(unsafe.Pointer(&a.mem[0])) }

// generation is the generation of an allocation slot; a buffer whose
// generation differs has been freed.
func (a *arena) generation(allocation uint32) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&a.mem[a.generations+int64(allocation%maxAllocations)*4]))
}

func (a *arena) presence(peer int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&a.mem[a.presences+int64(peer)*presenceBytes]))
}

func (a *arena) pad(source int, slot uint32) *counter {
	return (*counter)(unsafe.Pointer(&a.mem[a.pads+(int64(source)*signalSlots+int64(slot))*lineBytes]))
}

func (a *arena) letter(sender int, channel uint32, sequence uint64) *letter {
	i := (int64(sender)*sendChannels+int64(channel))*mailDepth + int64(sequence%mailDepth)
	return (*letter)(unsafe.Pointer(&a.mem[a.mail+i*lineBytes]))
}

func (a *arena) pin(peer, lane, word int) *atomic.Uint64 {
	at := a.pins + (int64(peer)*laneCount+int64(lane))*lineBytes + int64(word)*8
	return (*atomic.Uint64)(unsafe.Pointer(&a.mem[at]))
}
