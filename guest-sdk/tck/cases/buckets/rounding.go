package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// rounding checks in which order parts are added up, which numbers that are
// exact do not show: in F16, 2048 + 1 + 1 is 2048 and 1 + 1 + 2048 is 2050. The
// source's part comes last, the others in ascending order.
func rounding(world *ccrun.World, streams []*ccrun.Stream) error {
	if world.Size() < 3 {
		return nil
	}
	values, want := [...]int64{2048, 1, 1}, [...]int64{2050, 2048, 2048} // by rank; by source
	b, err := world.Alloc(64)
	if err != nil {
		return err
	}
	p, err := world.NewPipeline(ccrun.PipelineOptions{Name: "rounding"})
	if err != nil {
		return err
	}
	var number [2]byte
	for n := range 9 {
		source, transport := n%3, ccrun.Transport(n/3)
		if world.Rank() < len(values) {
			float(number[:], values[world.Rank()])
			if err := b.Write(number[:], int64(2*n)); err != nil {
				return err
			}
		}
		if err := p.Add(ccrun.PipelineEntry{
			Source: source, Destinations: []int{0, 1, 2}, Parts: []int{0, 1, 2}, Dtype: ccrun.F16, RedOp: ccrun.Sum, Transport: transport,
			Tensor: n, Planes: 1, Rows: 1, RowBytes: 2, Src: ccrun.Place{Buffer: b, Offset: int64(2 * n)}, Dst: ccrun.Place{Buffer: b, Offset: int64(32 + 2*n)},
		}); err != nil {
			return err
		}
	}
	_, err = p.Build()
	if err := errors.Join(err, p.Agree(ccrun.Forever), p.Run(streams, ccrun.Forever)); err != nil {
		return err
	}
	for n := range 9 {
		var got [2]byte
		float(number[:], want[n%3])
		if err := b.Read(got[:], int64(32+2*n)); err != nil {
			return err
		}
		if world.Rank() < 3 && got != number {
			return fmt.Errorf("rank %d: parts of source %d, transport %d, add up to %#x, want %#x: they were added in another order",
				world.Rank(), n%3, n/3, binary.LittleEndian.Uint16(got[:]), binary.LittleEndian.Uint16(number[:]))
		}
	}
	return errors.Join(p.Destroy(), b.Free())
}

// float writes 1, 2048 or 2050 in F16.
func float(to []byte, v int64) {
	bits := map[int64]uint16{1: 0x3c00, 2048: 0x6800, 2050: 0x6801}[v]
	binary.LittleEndian.PutUint16(to, bits)
}
