package module

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// Buckets that travel direct do not travel: their source says when a destination
// may copy them, and hears when it has. Both are messages of no bytes, the first
// on the send channel of the bucket, the second on another, half of them being
// for those. Where the entries lie, ranks have told each other when they agreed.

var errTwoWires = &refusal{abi.Invalid, "channels: entries that travel direct need 2 send channels at least"}

// splitWires keeps half of the send channels for what destinations answer.
func (p *pipe) splitWires() error {
	if p.channels < 2 {
		return errTwoWires
	}
	if p.checksum {
		return refuse(abi.Invalid, "flags: bytes that travel direct are copied once, and have no digest to compare: use another transport")
	}
	p.limits.Wires = int(p.channels) / 2
	return nil
}

// answerWire is the send channel that the destination of a bucket answers on.
func (m *movement) answerWire(e pipeline.Edge) uint32 {
	return m.wire(e) + uint32(m.pipe.limits.Wires)
}

// invite has the source let destinations copy a bucket and wait until they
// have; and a destination wait until it may.
func (m *movement) invite() error {
	t, e := m.task, m.bucket.Entries[0]
	if !t.Source {
		return m.message(op.Recv, t.From.Rank, m.wire(t.From), m.pipe.places[e].dst)
	}
	for _, to := range t.To {
		if err := m.message(op.Send, to.Rank, m.wire(to), m.pipe.places[e].src); err != nil {
			return err
		}
	}
	for _, to := range t.To {
		if err := m.message(op.Recv, to.Rank, m.answerWire(to), m.pipe.places[e].src); err != nil {
			return err
		}
	}
	return nil
}

// fetch copies the entries of a bucket from its source, and tells it.
func (m *movement) fetch() error {
	for n := range m.bucket.Entries {
		if err := m.copyEntry(op.GetBox, stepMove, n); err != nil {
			return err
		}
	}
	return m.message(op.Send, m.task.From.Rank, m.answerWire(m.task.From), m.pipe.places[m.bucket.Entries[0]].dst)
}

// message submits a send or a receive of no bytes.
func (m *movement) message(kind op.Kind, peer int32, wire uint32, at op.View) error {
	m.op = op.Op{Kind: kind, Peer: peer, Slot: wire, Src: at, Dst: at}
	return m.submitBare(&m.op)
}

// toldEntryBytes is what a rank tells of an entry that travels direct: its
// number, the number of its buffer, its offset and its distances. All that it
// tells is the number of buffers, a handle of each behind its length, and that.
const toldEntryBytes = 4 + 4 + 3*8

// reach tells where this rank's entries lie that others copy, and finds those of
// others.
func (a *agreement) reach() error {
	p := a.pipe
	if !p.plan.HasDirect() {
		return nil
	}
	for _, b := range p.reached { // by a call that timed out
		_ = a.config.Device.Free(b)
	}
	p.reached = p.reached[:0]
	mine, sources := p.directEntries(int32(a.config.Rank))
	if err := a.tell(mine); err != nil {
		return err
	}
	for _, source := range sources {
		if err := a.find(int(source)); err != nil {
			return fmt.Errorf("entries of rank %d: %w", source, err)
		}
	}
	return nil
}

// directEntries are those that travel direct from a rank to others, and the
// ranks that entries travel direct from to it.
func (p *pipe) directEntries(rank int32) (from, sources []int32) {
	for i := range p.entries {
		e := &p.entries[i]
		if e.Transport != pipeline.Direct {
			continue
		}
		if e.Source == rank {
			from = append(from, int32(i))
		} else if slices.Contains(e.Destinations, rank) {
			sources = append(sources, e.Source)
		}
	}
	slices.Sort(sources)
	return from, slices.Compact(sources)
}

// tell publishes where entries lie.
func (a *agreement) tell(entries []int32) error {
	var handles []byte
	numbers := make(map[op.Buffer]uint32)
	var places []byte
	for _, entry := range entries {
		place := &a.pipe.places[entry]
		number, known := numbers[place.src.Buf]
		if !known {
			h, err := a.config.Device.Export(op.View{Buf: place.src.Buf}, place.src.Buf.Size())
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			number = uint32(len(numbers))
			numbers[place.src.Buf] = number
			handle := h.Encode()
			handles = binary.LittleEndian.AppendUint32(handles, uint32(len(handle)))
			handles = append(handles, handle...)
		}
		places = binary.LittleEndian.AppendUint32(places, uint32(entry))
		places = binary.LittleEndian.AppendUint32(places, number)
		for _, v := range [...]int64{place.src.Off, place.srcRow, place.srcPlane} {
			places = binary.LittleEndian.AppendUint64(places, uint64(v))
		}
	}
	all := binary.LittleEndian.AppendUint32(nil, uint32(len(numbers)))
	return a.setLong("places", append(append(all, handles...), places...))
}

// find reads where a rank's entries lie, and gets access to their buffers.
func (a *agreement) find(source int) error {
	told, err := a.getLong("places", source)
	if err != nil {
		return err
	}
	buffers, places, err := a.importAll(source, told)
	if err != nil {
		return err
	}
	for ; len(places) >= toldEntryBytes; places = places[toldEntryBytes:] {
		if err := a.pipe.placeAt(source, a.config.Rank, places, buffers); err != nil {
			return err
		}
	}
	return nil
}

var errTold = &refusal{abi.Failed, "what it tells of where they lie is malformed"}

// importAll imports the buffers of which a rank tells the handles, and gives what
// it tells besides.
func (a *agreement) importAll(source int, told []byte) (all []op.Buffer, rest []byte, err error) {
	if len(told) < 4 {
		return nil, nil, errTold
	}
	count, told := get32(told), told[4:]
	for range count {
		if len(told) < 4 || uint64(get32(told)) > uint64(len(told)-4) {
			return nil, nil, errTold
		}
		length := get32(told)
		h, err := device.DecodeHandle(told[4 : 4+length])
		if err != nil {
			return nil, nil, errTold
		}
		told = told[4+length:]
		b, err := a.config.Device.Import(source, h)
		if err != nil {
			return nil, nil, fmt.Errorf("its memory: %w", err)
		}
		a.pipe.reached = append(a.pipe.reached, b)
		all = append(all, b)
	}
	return all, told, nil
}

// placeAt notes where an entry lies at its source, if this rank copies it.
// Nothing of it is believed but that it is what is told: the device checks what
// it reads.
func (p *pipe) placeAt(source, rank int, told []byte, buffers []op.Buffer) error {
	entry, number := get32(told), get32(told[4:])
	if uint64(entry) >= uint64(len(p.entries)) || uint64(number) >= uint64(len(buffers)) {
		return errTold
	}
	e, place := &p.entries[entry], &p.places[entry]
	if e.Transport != pipeline.Direct || int(e.Source) != source || source == rank {
		return errTold
	}
	place.src = op.View{Buf: buffers[number], Off: int64(get64(told[8:]))}
	place.srcRow, place.srcPlane = int64(get64(told[16:])), int64(get64(told[24:]))
	return nil
}
