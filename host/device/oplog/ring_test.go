package oplog

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// ring is an all-reduce over a ring, sliced, as a guest would write it: by put
// to the next rank or by get from the one before. It goes round twice, first to
// reduce and then to gather, and verifies nothing.
type ring struct {
	rank, size  int
	put         bool
	chunk       int64 // bytes of a rank's part
	slices      int64
	header      int64 // bytes ahead of the parts
	device      device.Device
	publish     func(name string, v op.View, bytes int64) error
	lookup      func(peer int, name string) (op.Buffer, error)
	stream      device.Stream
	data, other op.Buffer
	value       uint64
}

func (r *ring) next() int { return (r.rank + 1) % r.size }
func (r *ring) last() int { return (r.rank + r.size - 1) % r.size }

// exchangeShares shares through an exchange as guests do.
func (r *ring) exchangeShares(x device.Exchange) {
	key := func(rank int, name string) string { return fmt.Sprintf("share/%d/%s/1", rank, name) }
	r.publish = func(name string, v op.View, bytes int64) error {
		h, err := r.device.Export(v, bytes)
		if err != nil {
			return err
		}
		return x.Set(key(r.rank, name), h.Encode())
	}
	r.lookup = func(peer int, name string) (op.Buffer, error) {
		value, err := x.Get(key(peer, name), device.Forever)
		if err != nil {
			return nil, err
		}
		h, err := device.DecodeHandle(value)
		if err != nil {
			return nil, err
		}
		return r.device.Import(peer, h)
	}
}

func (r *ring) run() (err error) {
	bytes := 2*r.header + 2*int64(r.size)*r.chunk
	if r.data, err = r.device.Alloc(bytes); err != nil {
		return err
	}
	if r.stream, err = r.device.NewStream(); err != nil {
		return err
	}
	if err := r.publish("data", op.View{Buf: r.data}, bytes); err != nil {
		return err
	}
	peer := r.last()
	if r.put {
		peer = r.next()
	}
	if r.other, err = r.lookup(peer, "data"); err != nil {
		return err
	}
	if err := r.submit(op.Op{Kind: op.Fill, Type: op.F32, Value: uint64(r.rank) * 0x9e3779b97f4a7c15, Bytes: bytes, Dst: op.View{Buf: r.data}}); err != nil {
		return err
	}
	if err := r.stream.Sync(device.Forever); err != nil {
		return err
	}
	if err := r.device.Barrier(device.Forever); err != nil {
		return err
	}
	for step := range 2 * (r.size - 1) {
		if err := r.step(step); err != nil {
			return err
		}
	}
	if err := r.stream.Sync(device.Forever); err != nil {
		return err
	}
	if err := r.device.Barrier(device.Forever); err != nil {
		return err
	}
	return r.stream.Close()
}

// step moves all slices of one step.
func (r *ring) step(step int) error {
	reducing := step < r.size-1
	for slice := range r.slices {
		chunk := (r.rank - 1 - step + 3*r.size) % r.size // that comes in
		if r.put {
			chunk = (r.rank - step + 3*r.size) % r.size // that goes out
		}
		bytes := r.chunk / r.slices
		at := r.header + int64(chunk)*r.chunk + slice*bytes
		landing := at
		if reducing {
			landing += r.header + int64(r.size)*r.chunk // the second half is scratch
		}
		term := op.Term{Collective: 1, Chunk: uint32(chunk), Slice: uint32(slice), Step: uint16(step)}
		r.value++
		move := []op.Op{
			{Kind: op.Wait, Peer: int32(r.last()), Slot: 3, Value: r.value - 1, Term: term},
			{Kind: op.Get, Src: op.View{Buf: r.other, Off: at}, Dst: op.View{Buf: r.data, Off: landing}, Bytes: bytes, Term: term},
			{Kind: op.Signal, Peer: int32(r.next()), Slot: 3, Value: r.value, Term: term},
		}
		if r.put {
			move = []op.Op{
				{Kind: op.Put, Src: op.View{Buf: r.data, Off: at}, Dst: op.View{Buf: r.other, Off: landing}, Bytes: bytes, Term: term},
				{Kind: op.Signal, Peer: int32(r.next()), Slot: uint32(slice), Value: r.value, Term: term},
				{Kind: op.Wait, Peer: int32(r.last()), Slot: uint32(slice), Value: r.value, Term: term},
			}
			at = r.header + int64((chunk+r.size-1)%r.size)*r.chunk + slice*bytes
			landing = at + r.header + int64(r.size)*r.chunk
		}
		if reducing {
			sum := op.Op{Kind: op.Reduce, Type: op.F32, Dst: op.View{Buf: r.data, Off: at}, Bytes: bytes, SourceCount: 2, Term: term}
			sum.Sources[0], sum.Sources[1] = op.View{Buf: r.data, Off: at}, op.View{Buf: r.data, Off: landing}
			move = append(move, sum)
		}
		for i := range move {
			if err := r.submit(move[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *ring) submit(o op.Op) error { return r.stream.Submit(&o) }
