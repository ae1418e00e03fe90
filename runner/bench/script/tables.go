package script

import (
	"encoding/binary"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

// tables are what lies in the guest's memory from tablesAt on: a header for
// each rank of each piece, then what the headers point to.
func (s *Script) tables() []byte {
	t := &tables{bytes: make([]byte, len(s.Pieces)*s.Ranks*headerBytes)}
	for i := range s.Pieces {
		for rank := range s.Ranks {
			t.describe(s, i, rank)
		}
	}
	return t.bytes
}

type tables struct{ bytes []byte }

func (t *tables) end() int { return tablesAt + len(t.bytes) }

func (t *tables) words(values ...int) {
	for _, v := range values {
		t.bytes = binary.LittleEndian.AppendUint64(t.bytes, uint64(v))
	}
}

// pair is an entry of a table that the guest goes through.
type pair struct{ at, value int }

func (t *tables) pairs(pairs []pair) (at int) {
	at = t.end()
	for _, p := range pairs {
		t.words(p.at, p.value)
	}
	return at
}

// Slots only grow. Values of a piece lie above all of those before it.
const pieceShift = 40

// describe appends the lists of a rank for a piece and fills its header.
func (t *tables) describe(s *Script, number, rank int) {
	p := &s.Pieces[number]
	list := p.Lists[rank]
	var handles, raises []pair
	handle := func(field int, place Place) { handles = append(handles, pair{field, int(own) + 8*int(place.Of)}) }
	views := t.end()
	for i := range list {
		if o := &list[i]; o.Kind == op.Reduce {
			for _, source := range [...]Place{o.Src, o.Second} {
				handle(t.end(), source)
				t.words(0, int(source.Offset))
			}
		}
	}
	ops := t.end()
	for i := range list {
		o, at := &list[i], t.end()
		value := uint64(number+1)<<pieceShift + o.Value - o.Raise
		sources := 0
		switch o.Kind {
		case op.Signal, op.Wait:
			raises = append(raises, pair{at + opValue, int(o.Raise)})
		case op.Reduce:
			handle(at+opDst, o.Dst)
			sources = views
			views += 2 * abi.ViewBytes
		default:
			handle(at+opDst, o.Dst)
			handle(at+opSrc, o.Src)
		}
		t.bytes = o.append(t.bytes, value, sources)
	}
	values := []int{
		int(p.Bytes), s.prev(rank), s.next(rank), ops, len(list), t.pairs(handles), len(handles), t.pairs(raises), len(raises), p.Samples, p.Rounds,
	}
	header := t.bytes[(number*s.Ranks+rank)*headerBytes:][:0]
	for _, v := range values {
		header = binary.LittleEndian.AppendUint64(header, uint64(v))
	}
}

// Offsets in the structure op.
const (
	opDst   = 8
	opSrc   = 24
	opValue = 48
)

// append writes the structure; the guest fills in handles.
func (o *Op) append(b []byte, value uint64, sources int) []byte {
	e := binary.LittleEndian
	end := len(b) + abi.OpBytes
	b = e.AppendUint32(b, uint32(o.Kind))
	b = e.AppendUint32(b, uint32(o.Peer))
	for _, v := range []uint64{0, uint64(o.Dst.Offset), 0, uint64(o.Src.Offset), uint64(o.Bytes), value} {
		b = e.AppendUint64(b, v)
	}
	b = e.AppendUint32(b, o.Slot)
	sourceCount := byte(0)
	if o.Kind == op.Reduce {
		sourceCount = 2
	}
	b = append(b, byte(op.F32), byte(op.Sum), sourceCount, 0)
	b = e.AppendUint32(b, uint32(sources))
	return append(b, make([]byte, end-len(b))...)
}
