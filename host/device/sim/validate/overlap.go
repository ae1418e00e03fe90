package main

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// matrices are those of a published all-gather and product: A, of m rows and k
// columns, has its rows on all ranks and is gathered, and every rank multiplies
// all of it with a B of its own.
type matrices struct{ m, k, n int64 }

const elementBytes = 2 // bfloat16

func (x matrices) gatheredBytes() int64 { return x.m * x.k * elementBytes }

// teraflops times a schedule of the product.
func (x matrices) teraflops(ranks int, prepare func(*rank, matrices) func()) func(*preset.Preset) (float64, error) {
	timed := micros(ranks, func(r *rank) func() { return prepare(r, x) })
	return func(p *preset.Preset) (float64, error) {
		us, err := timed(p)
		return 2 * float64(x.m) * float64(x.n) * float64(x.k) / us / 1e6, err
	}
}

// gatherThenMultiply is the sequence: a native all_gather, and one product.
func gatherThenMultiply(r *rank, x matrices) func() {
	s := r.stream()
	gather := r.native(op.AllGather, x.gatheredBytes())
	multiply := r.product(x, x.m)
	return func() {
		gather(s)
		multiply(s)
	}
}

// Slices and streams of the ring.
const (
	ringSlices  = 8
	ringStreams = 3
)

// gatherRing gets A from the left neighbour slice by slice, each as soon as the
// neighbour has it, and multiplies slices meanwhile. A slice's get, signal and
// product are on one stream, so that nothing else orders them.
func gatherRing(r *rank, x matrices) func() { return ringOf(r, x).submit }

// ring is the schedule of a rank and what A is gathered in.
type ring struct {
	gathered op.Buffer
	submit   func()
}

func ringOf(r *rank, x matrices) ring {
	sliceBytes := x.gatheredBytes() / ringSlices
	var streams []device.Stream
	for range ringStreams {
		streams = append(streams, r.stream())
	}
	gathered := r.share("A", ringSlices*sliceBytes)
	multiply := r.product(x, x.m/ringSlices)
	right, left := (r.number+1)%r.size, (r.number+r.size-1)%r.size
	return ring{gathered[r.number], func() {
		for i := range ringSlices / r.size {
			for j := range r.size {
				slice := func(j int) int { return i*r.size + (r.number-j+2*r.size)%r.size }
				here, next := streams[(i+j)%ringStreams], streams[(i+j+1)%ringStreams]
				if j < r.size-1 {
					r.signal(here, right, uint32(slice(j)))
					at := int64(slice(j+1)) * sliceBytes
					r.wait(next, left, uint32(slice(j+1)))
					r.submit(next, op.Op{
						Kind: op.Get, Bytes: sliceBytes,
						Dst: op.View{Buf: gathered[r.number], Off: at}, Src: op.View{Buf: gathered[left], Off: at},
					})
				}
				multiply(here)
			}
		}
	}}
}

// product prepares the product of so many rows of A, and gives what submits it.
func (r *rank) product(x matrices, rows int64) func(device.Stream) {
	shape := op.GemmShape{M: rows, N: x.n, K: x.k}
	size := int64(op.F32.Size())
	a, b, c := r.buffer(shape.M*shape.K*size), r.buffer(shape.K*shape.N*size), r.buffer(shape.M*shape.N*size)
	return func(s device.Stream) {
		o := op.Op{Kind: op.Gemm, Type: op.F32, Gemm: &shape, SourceCount: 2, Dst: op.View{Buf: c}, Bytes: shape.M * shape.N * size}
		o.Sources[0], o.Sources[1] = op.View{Buf: a}, op.View{Buf: b}
		r.submit(s, o)
	}
}
