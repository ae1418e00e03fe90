package sim_test

import (
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

const (
	kib = 1 << 10
	// realShare is how much of a rank's buffers holds data here.
	realShare = 128 * kib
	huge      = 1 << 20 // more than that
	big       = 32 * kib
)

// haunted is a rank with buffers that hold data and one that does not, its own
// and those of the other rank.
type haunted struct {
	*rank
	s            device.Stream
	real, others op.Buffer // this rank's, and its view of the other's
	phantom, far op.Buffer // the same of phantoms
	c            device.Comm
}

func newHaunted(r *rank) *haunted {
	h := &haunted{rank: r, s: r.stream(), real: r.alloc(big), phantom: r.alloc(huge), c: r.comm("c")}
	h.others, h.far = r.share("real", h.real)[1-r.n], r.share("phantom", h.phantom)[1-r.n]
	return h
}

// columns is a copy of so many rows of a matrix's first bytes.
func columns(dst, src op.View, rows int64) op.Op {
	b := op.BoxShape{Planes: 1, Rows: rows, RowBytes: 100, DstRow: 100, SrcRow: 1000}
	return op.Op{Kind: op.CopyBox, Peer: -1, Dst: dst, Src: src, Bytes: b.Bytes(), Box: &b}
}

// got is a copy of a box that may be from a peer.
func got(o op.Op) op.Op {
	o.Kind = op.GetBox
	return o
}

// TestPhantoms has rank 0 carry one operation out and says which of the two
// ranks' real buffers are none afterwards.
func TestPhantoms(t *testing.T) {
	const n = 4 * kib
	gemm := func(a, b op.Buffer, dst op.Buffer) op.Op {
		o := op.Op{Kind: op.Gemm, Type: op.F32, Dst: view(dst, 0), Bytes: n, SourceCount: 2, Gemm: &op.GemmShape{M: 32, N: 32, K: 32}}
		o.Sources[0], o.Sources[1] = view(a, 0), view(b, 0)
		return o
	}
	for _, c := range []struct {
		name string
		op   func(h *haunted) op.Op
		want [2]bool
	}{
		{"copy", func(h *haunted) op.Op { return move(op.Copy, view(h.real, 0), view(h.phantom, 0), n) }, [2]bool{true, false}},
		{"box", func(h *haunted) op.Op { return columns(view(h.real, 0), view(h.phantom, 0), 4) }, [2]bool{true, false}},
		{"empty box", func(h *haunted) op.Op { return columns(view(h.real, 0), view(h.phantom, 0), 0) }, [2]bool{}},
		{"box to a phantom", func(h *haunted) op.Op { return columns(view(h.phantom, 0), view(h.real, 0), 4) }, [2]bool{}},
		{"box of data", func(h *haunted) op.Op { return columns(view(h.real, 0), view(h.real, n), 4) }, [2]bool{}},
		{"get a box", func(h *haunted) op.Op { return got(columns(view(h.real, 0), view(h.far, 0), 4)) }, [2]bool{true, false}},
		{"get an empty box", func(h *haunted) op.Op { return got(columns(view(h.real, 0), view(h.far, 0), 0)) }, [2]bool{}},
		{"get a box of data", func(h *haunted) op.Op { return got(columns(view(h.real, 0), view(h.others, 0), 4)) }, [2]bool{}},
		{"get a box to a phantom", func(h *haunted) op.Op { return got(columns(view(h.phantom, 0), view(h.others, 0), 4)) }, [2]bool{}},
		{"copy nothing", func(h *haunted) op.Op { return move(op.Copy, view(h.real, 0), view(h.phantom, 0), 0) }, [2]bool{}},
		{"copy to a phantom", func(h *haunted) op.Op { return move(op.Copy, view(h.phantom, 0), view(h.real, 0), n) }, [2]bool{}},
		{"put", func(h *haunted) op.Op { return move(op.Put, view(h.others, 0), view(h.phantom, 0), n) }, [2]bool{false, true}},
		{"get", func(h *haunted) op.Op { return move(op.Get, view(h.real, 0), view(h.far, 0), n) }, [2]bool{true, false}},
		{"get data", func(h *haunted) op.Op { return move(op.Get, view(h.real, 0), view(h.others, 0), n) }, [2]bool{}},
		{"reduce", func(h *haunted) op.Op { return reduce(view(h.real, 0), n, view(h.real, 0), view(h.phantom, 0)) }, [2]bool{true, false}},
		{"reduce a peer's", func(h *haunted) op.Op {
			return reduce(view(h.real, 0), n, view(h.real, 0), view(h.others, 0), view(h.far, 0))
		}, [2]bool{true, false}},
		{"reduce data", func(h *haunted) op.Op { return reduce(view(h.real, 0), n, view(h.real, n), view(h.others, 0)) }, [2]bool{}},
		{"first matrix", func(h *haunted) op.Op { return gemm(h.phantom, h.real, h.real) }, [2]bool{true, false}},
		{"second matrix", func(h *haunted) op.Op { return gemm(h.others, h.far, h.real) }, [2]bool{true, false}},
		{"fill", func(h *haunted) op.Op {
			return op.Op{Kind: op.Fill, Type: op.U8, Dst: view(h.phantom, 0), Bytes: n}
		}, [2]bool{}},
		{"send to itself", func(h *haunted) op.Op {
			h.submit(h.s, send(0, 0, view(h.phantom, 0), n))
			return recv(0, 0, view(h.real, 0), n)
		}, [2]bool{true, false}},
	} {
		for _, machine := range []*preset.Preset{tiny(t), must(preset.Find("cpu"))} {
			t.Run(c.name+" "+machine.Name, func(t *testing.T) {
				w := newWorld(t, sim.Options{Preset: machine, Ranks: 2, RealBytes: 2 * realShare})
				w.run(func(r *rank) {
					h := newHaunted(r)
					if r.n == 0 {
						h.submit(h.s, c.op(h))
						h.sync(h.s)
					}
					h.barrier()
					if got := device.IsPhantom(h.real); got != c.want[r.n] {
						t.Errorf("rank %d: the buffer is a phantom: %v", r.n, got)
					}
					if !device.IsPhantom(h.phantom) {
						t.Errorf("rank %d: the phantom is none", r.n)
					}
				})
			})
		}
	}
}

// TestPhantomCalls has rank 1 put a phantom into a collective, as its input or
// its output.
func TestPhantomCalls(t *testing.T) {
	const n = 4 * kib
	for _, c := range []struct {
		name    string
		program func(rank, size int, bytes int64) *op.Program
		in, out bool // rank 1's are phantoms
	}{
		{"input", joint, true, false},
		{"output", joint, false, true},
		{"input through slots", oneshot, true, false},
		{"data", joint, false, false},
		{"data through slots", oneshot, false, false},
	} {
		for _, machine := range []*preset.Preset{tiny(t), must(preset.Find("cpu"))} {
			t.Run(c.name+" "+machine.Name, func(t *testing.T) {
				w := newWorld(t, sim.Options{Preset: machine, Ranks: 2, RealBytes: 2 * realShare})
				w.run(func(r *rank) {
					h := newHaunted(r)
					out := r.alloc(n)
					x := &op.Call{
						Collective: op.AllReduce, Type: op.I32, Count: n / 4, Bytes: n, Program: c.program(r.n, 2, n),
						In: view(h.real, 0), Out: view(out, 0),
					}
					if r.n == 1 && c.in {
						x.In.Buf = h.phantom
					}
					if r.n == 1 && c.out {
						x.Out.Buf = h.phantom
					}
					h.submit(h.s, call(h.c, x))
					h.sync(h.s)
					if got := device.IsPhantom(out); got != c.in && (machine.Machine == preset.Cores || !c.out) {
						t.Errorf("rank %d: the output is a phantom: %v", r.n, got)
					}
					if device.IsPhantom(h.real) {
						t.Errorf("rank %d: the input is a phantom", r.n)
					}
				})
			})
		}
	}
}

// TestPhantomBytes looks at what a phantom has none of.
func TestPhantomBytes(t *testing.T) {
	w := recordedWorld(t, sim.Options{Preset: tiny(t), Ranks: 1, RealBytes: 0})
	w.run(func(r *rank) {
		b, s := r.alloc(huge), r.stream()
		verified, digest := &op.Result{Mismatches: 7}, &op.Result{}
		r.submit(s,
			op.Op{Kind: op.Fill, Type: op.U8, Dst: view(b, 0), Bytes: huge, Value: 1},
			op.Op{Kind: op.Verify, Type: op.U8, Dst: view(b, 0), Bytes: huge, Value: 2, Result: verified},
			op.Op{Kind: op.Digest, Dst: view(b, 0), Bytes: huge, Result: digest})
		r.sync(s)
		got := []byte{1, 2, 3}
		r.must(r.Write(view(b, 10), []byte{4, 5, 6}))
		r.must(r.Read(got, view(b, 10)))
		if string(got) != "\x00\x00\x00" {
			t.Errorf("read %v", got)
		}
		if n := w.logs[0].Counters(); n.Verified != 0 || n.Mismatches != 0 {
			t.Errorf("%d bytes verified, %d differ", n.Verified, n.Mismatches)
		}
	})
}

// TestRealBytes gives two ranks 128 KiB each that may hold data. What is freed,
// or has become a phantom, can be had again.
func TestRealBytes(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2, RealBytes: 2 * realShare})
	w.run(func(r *rank) {
		is := func(b op.Buffer, phantom bool, what string) {
			if device.IsPhantom(b) != phantom {
				t.Errorf("rank %d: %s is a phantom: %v", r.n, what, !phantom)
			}
		}
		a, b := r.alloc(realShare/2), r.alloc(realShare/2)
		c := r.alloc(big)
		is(a, false, "the first")
		is(b, false, "the second")
		is(c, true, "the third")
		is(r.alloc(16*kib), false, "a small one")
		is(r.alloc(0), false, "an empty one")
		r.must(r.Free(a))
		d := r.alloc(realShare / 4)
		is(d, false, "one after a free")
		s := r.stream()
		r.submit(s, move(op.Copy, view(b, 0), view(c, 0), 8))
		r.sync(s)
		is(b, true, "one that a phantom was written to")
		e := r.alloc(realShare / 2)
		is(e, false, "one in the place of a phantom")
		r.must(r.Free(b)) // holds no data by now
		is(r.alloc(realShare/2), true, "one too many")
	})
	for rank := range 2 {
		if m := w.Memory(rank); m.RealBytes != realShare/4+realShare/2+16*kib {
			t.Errorf("rank %d has %d bytes of data", rank, m.RealBytes)
		}
	}
}

// TestMemory follows what a rank has allocated.
func TestMemory(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t, "memory.size=100kB"), Ranks: 1})
	w.run(func(r *rank) {
		var buffers []op.Buffer
		for i := range 8 {
			buffers = append(buffers, r.alloc(int64(1000*(i+1)))) // 36,000 in all
		}
		r.must(r.Free(buffers[6]))
		r.must(r.Free(buffers[0]))
		last := r.alloc(64_000)
		r.must(r.Free(last))
		r.is(second(r.Alloc(72_001)), device.ErrNoMemory)
		r.is(r.Free(last), device.ErrStale)
		for _, i := range []int{7, 1, 4} {
			r.must(r.Free(buffers[i]))
		}
		r.must(r.Free(r.alloc(80_000)))
		r.alloc(1)
	})
	m := w.Memory(0)
	if m.LimitBytes != 100_000 || m.PeakBytes != 93_000 || m.RealBytes != 0 || m.PhantomTotalBytes != 180_001 {
		t.Errorf("%+v", m)
	}
	if got := fmt.Sprint(m.Holdings); got != "[{buffer 10 80000} {buffer 6 6000} {buffer 4 4000} {buffer 3 3000}]" {
		t.Errorf("held at the peak: %s", got)
	}
}

func second[T any](_ T, err error) error { return err }

// TestFreedPhantom frees a buffer before a phantom is written to it: its bytes
// count off once.
func TestFreedPhantom(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1, RealBytes: realShare})
	w.run(func(r *rank) {
		phantom, a, s := r.alloc(huge), r.alloc(realShare/2), r.stream()
		r.submit(s, move(op.Copy, view(a, 0), view(phantom, 0), 8))
		r.must(r.Free(a))
		r.sync(s)
		r.alloc(realShare / 2)
		r.alloc(realShare / 2)
		if !device.IsPhantom(r.alloc(realShare / 2)) {
			t.Error("one too many holds data")
		}
	})
	if m := w.Memory(0); m.RealBytes != realShare {
		t.Errorf("%d bytes of data", m.RealBytes)
	}
}
