package main

import (
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// collective times calls of one collective on a communicator of all ranks and
// gives the bus bandwidth in GB/s. Bytes are as nccl-tests counts them.
func collective(c op.CollectiveOp, ranks int, bytes int64) func(*preset.Preset) (float64, error) {
	return func(p *preset.Preset) (float64, error) {
		seconds, err := callSeconds(p, c, ranks, bytes)
		return float64(bytes) * c.BusFactor(ranks) / seconds / 1e9, err
	}
}

// collectiveMicros is the same in microseconds.
func collectiveMicros(c op.CollectiveOp, ranks int, bytes int64) func(*preset.Preset) (float64, error) {
	return func(p *preset.Preset) (float64, error) {
		seconds, err := callSeconds(p, c, ranks, bytes)
		return seconds * 1e6, err
	}
}

func callSeconds(p *preset.Preset, c op.CollectiveOp, ranks int, bytes int64) (float64, error) {
	b := bench{preset: p, ranks: ranks, prepare: func(r *rank) func() {
		stream := r.stream()
		call := r.native(c, bytes)
		return func() { call(stream) }
	}}
	return b.seconds()
}

// native prepares a call of a collective on all ranks, and gives what submits
// it.
func (r *rank) native(c op.CollectiveOp, bytes int64) func(device.Stream) {
	shape := coll.Shape{Collective: c, Type: op.F32, Ranks: r.size, Count: bytes / 4, SliceBytes: 1 << 30}
	if c == op.AllGather || c == op.ReduceScatter {
		shape.Count /= int64(r.size)
	}
	shape.Algorithm = coll.DefaultTable().Select(shape) // for the record only: NCCL's way is the model's choice
	in, out := r.buffer(shape.InBytes(r.number)), r.buffer(shape.OutBytes(r.number))
	everyone := make([]int, r.size)
	for i := range everyone {
		everyone[i] = i
	}
	var comm device.Comm
	var program *op.Program
	r.do(func() (err error) {
		comm, err = r.device.(device.Collectives).NewComm("everyone", everyone, device.Forever)
		return err
	})
	r.do(func() (err error) {
		program, err = coll.Plan(shape, r.number)
		return err
	})
	return func(s device.Stream) {
		r.submit(s, op.Op{Kind: op.CollectiveCall, Peer: -1, Comm: comm, Call: &op.Call{
			Collective: c, Type: op.F32, Count: shape.Count, Algorithm: uint8(shape.Algorithm), Program: program, Bytes: bytes,
			In: op.View{Buf: in}, Out: op.View{Buf: out},
		}})
	}
}
