package cpu_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// rank is what a benchmark works with: a device, a stream, a buffer of its own
// and one imported from the next rank.
type rank struct {
	device.Device
	stream     device.Stream
	mine, next op.Buffer
	n          int
}

func openRanks(b testing.TB, size int, bytes int64) []*rank {
	b.Helper()
	exchange := new(devicetest.Exchange)
	ranks := make([]*rank, size)
	for i := range ranks {
		recorder, err := flight.Create(filepath.Join(b.TempDir(), strconv.Itoa(i)), flight.Meta{Rank: i, Size: size}, 1<<20)
		must(b, err)
		d, err := cpu.Open(device.Config{
			Rank: i, Size: size, Exchange: exchange, Recorder: recorder, MemoryBytes: max(bytes*12, 1<<20),
		})
		must(b, err)
		r := &rank{Device: d, n: i}
		r.stream, err = d.NewStream()
		must(b, err)
		r.mine, err = d.Alloc(bytes)
		must(b, err)
		ranks[i] = r
		b.Cleanup(func() {
			must(b, d.Close())
			must(b, recorder.Close())
		})
	}
	for i, r := range ranks {
		peer := ranks[(i+1)%size]
		h, err := peer.Export(op.View{Buf: peer.mine}, bytes)
		must(b, err)
		r.next, err = r.Import((i+1)%size, h)
		must(b, err)
	}
	return ranks
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (r *rank) submit(b testing.TB, ops ...*op.Op) {
	for _, o := range ops {
		if err := r.stream.Submit(o); err != nil {
			b.Error(err)
		}
	}
}

func BenchmarkPut64(b *testing.B) {
	r := openRanks(b, 2, 4096)[0]
	put := &op.Op{Kind: op.Put, Bytes: 64, Dst: op.View{Buf: r.next}, Src: op.View{Buf: r.mine}}
	signal := &op.Op{Kind: op.Signal, Peer: 1}
	b.SetBytes(64)
	b.ReportAllocs()
	for b.Loop() {
		signal.Value++
		r.submit(b, put, signal)
	}
}

func BenchmarkSignal(b *testing.B) {
	r := openRanks(b, 2, 4096)[0]
	signal := &op.Op{Kind: op.Signal, Peer: 1}
	b.ReportAllocs()
	for b.Loop() {
		signal.Value++
		r.submit(b, signal)
	}
}

// BenchmarkPingPong is one round trip of a put of 64 bytes and its signal
// between two ranks that are goroutines of this process.
func BenchmarkPingPong(b *testing.B) {
	ranks := openRanks(b, 2, 4096)
	b.ReportAllocs()
	n := b.N
	var both sync.WaitGroup
	for _, r := range ranks {
		both.Go(func() { pingPong(b, r, 1-r.n, n) })
	}
	both.Wait()
}

// pingPong answers a signal with a put and a signal, n times; rank 0 begins.
func pingPong(b testing.TB, r *rank, peer, n int) {
	put := &op.Op{Kind: op.Put, Bytes: 64, Dst: op.View{Buf: r.next}, Src: op.View{Buf: r.mine}}
	signal := &op.Op{Kind: op.Signal, Peer: int32(peer)}
	wait := &op.Op{Kind: op.Wait, Peer: int32(peer)}
	for i := range n {
		signal.Value, wait.Value = uint64(i+1), uint64(i+1)
		if r.n == 0 {
			r.submit(b, put, signal, wait)
		} else {
			r.submit(b, wait, put, signal)
		}
		if err := r.stream.Sync(device.Forever); err != nil {
			b.Error(err)
			return
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, bytes := range []int64{4 << 10, 64 << 10, 1 << 20, 16 << 20} {
		b.Run(strconv.FormatInt(bytes>>10, 10)+"KiB", func(b *testing.B) {
			r := openRanks(b, 2, bytes)[0]
			get := &op.Op{Kind: op.Get, Bytes: bytes, Dst: op.View{Buf: r.mine}, Src: op.View{Buf: r.next}}
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				r.submit(b, get)
			}
		})
	}
}

func BenchmarkBarrier(b *testing.B) {
	for _, size := range []int{2, 4} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			ranks := openRanks(b, size, 64)
			b.ReportAllocs()
			n := b.N
			var all sync.WaitGroup
			for _, r := range ranks {
				all.Go(func() {
					for range n {
						if err := r.Barrier(device.Forever); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// BenchmarkProcesses measures ranks that are processes; each reports the time
// of one round as rank 0 saw it.
func BenchmarkProcesses(b *testing.B) {
	for _, c := range []struct {
		program string
		size, n int
	}{{"pingpong", 2, 200000}, {"pingpong beside a stream", 2, 50000}, {"barrier", 2, 200000}, {"barrier", 4, 20000}, {"barrier", 8, 5000}} {
		b.Run(c.program+"/"+strconv.Itoa(c.size), func(b *testing.B) {
			for b.Loop() {
				ranks := startProcesses(b, c.program, c.size, c.n)
				var first string
				for i, p := range ranks {
					if result := p.finish(b); i == 0 {
						first = result
					}
				}
				nanos, err := strconv.ParseFloat(first, 64)
				must(b, err)
				b.ReportMetric(nanos, "ns/round")
			}
		})
	}
}

// BenchmarkReduce counts the bytes of all sources.
func BenchmarkReduce(b *testing.B) {
	const bytes = 1 << 20
	for _, c := range []struct {
		dtype op.Dtype
		red   op.RedOp
		k     int
	}{{op.F32, op.Sum, 2}, {op.F32, op.Sum, 4}, {op.F32, op.Sum, 8}, {op.F32, op.Max, 2}, {op.BF16, op.Sum, 2}, {op.F16, op.Sum, 2}, {op.U8, op.Sum, 2}} {
		b.Run(c.dtype.String()+"/"+c.red.String()+"/"+strconv.Itoa(c.k), func(b *testing.B) {
			r := openRanks(b, 2, bytes)[0]
			o := &op.Op{Kind: op.Reduce, Type: c.dtype, Red: c.red, Dst: op.View{Buf: r.mine}, Bytes: bytes, SourceCount: uint8(c.k)}
			for i := range c.k {
				source, err := r.Alloc(bytes)
				must(b, err)
				o.Sources[i] = op.View{Buf: source}
			}
			b.SetBytes(int64(c.k) * bytes)
			b.ReportAllocs()
			for b.Loop() {
				r.submit(b, o)
			}
		})
	}
}
