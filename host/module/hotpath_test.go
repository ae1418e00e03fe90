package module

import (
	"context"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/op"
)

// The calls that a schedule makes for each slice of a transfer, with the
// handles that newHotRank gives.
const (
	hotA      = uint64(bufferHandle)<<56 | 1<<32
	hotB      = hotA + 1
	hotShare  = hotA + 2
	hotStream = uint64(streamHandle)<<56 | 1<<32
	hotEvent  = uint64(eventHandle)<<56 | 1<<32
	hotComm   = uint64(commHandle)<<56 | 1<<32
	hotOps    = 8 // structures at dataAt, signals
	hotCallAt = 12288
	hotBoxAt  = 10240
	hotNameAt = 8192
)

var hotCalls = []struct {
	name string
	args []uint64
}{
	{"copy", []uint64{hotStream, hotB, 0, hotA, 0, 64}},
	{"put", []uint64{hotStream, hotShare, 0, hotA, 0, 64}},
	{"get", []uint64{hotStream, hotB, 0, hotShare, 0, 64}},
	{"signal", []uint64{hotStream, 0, 1, 1}},
	{"wait", []uint64{hotStream, 0, 1, 0}},
	{"signal_value", []uint64{0, 1, outAt}},
	{"submit", []uint64{hotStream, dataAt, hotOps, outAt}},
	{"stream_sync", []uint64{hotStream, forever}},
	{"stream_query", []uint64{hotStream, outAt}},
	{"event_record", []uint64{hotStream, hotEvent}},
	{"event_wait", []uint64{hotStream, hotEvent}},
	{"event_sync", []uint64{hotEvent, forever}},
	{"share_lookup", []uint64{0, hotNameAt, 1, 0, forever, outAt, outAt + 8}},
	{"tag", []uint64{0, 1, 2, 3, 4, 5}},
	{"buffer_read", []uint64{hotA, 0, outAt, 64}},
	{"clock_now", []uint64{outAt}},
	{"copy_box", []uint64{hotStream, hotBoxAt}},
	{"collective", []uint64{hotStream, hotCallAt}},
	{"collective_group", []uint64{hotStream, hotCallAt, 4}},
}

// newHotRank is a rank alone in its world, on the cpu device or on one that
// does nothing, with what hotCalls name and a function for each that makes the
// call in a loop.
func newHotRank(tb testing.TB, idle bool) *testRank {
	m := proxyModule()
	for _, c := range hotCalls {
		m.addLoop("loop_"+c.name, c.name, c.args...)
	}
	e := newEngine(tb, m)
	exchange := newMemoryExchange()
	recorder, err := newRecorder(tb.TempDir(), 0, 1)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := cpu.Open(device.Config{Size: 1, Exchange: exchange, Recorder: recorder, MemoryBytes: 1 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	if idle {
		d = idleDevice{d}
	}
	r := newTestRank(tb, e, Config{Size: 1, Device: d, Exchange: exchange})
	tb.Cleanup(func() { d.Close(); recorder.Close() })
	a := r.alloc(1024)
	r.alloc(1024)
	r.memory.WriteString(hotNameAt, "x")
	r.must("share_publish", hotNameAt, 1, 0, a, 0, 1024)
	r.must("share_lookup", 0, hotNameAt, 1, 0, 0, outAt, outAt+8)
	r.newStream()
	r.must("event_create", outAt)
	ops, _ := r.memory.Read(dataAt, hotOps*abi.OpBytes)
	for n := range hotOps {
		put32(ops[n*abi.OpBytes:], 4) // signal
		put64(ops[n*abi.OpBytes+48:], 1)
	}
	box, _ := r.memory.Read(hotBoxAt, abi.BoxBytes)
	for at, v := range map[int]uint64{0: hotB, 16: 16, 32: hotA, 48: 64, 64: 1, 72: 4, 80: 16} {
		put64(box[at:], v)
	}
	r.must("comm_world", forever, outAt)
	calls, _ := r.memory.Read(hotCallAt, 4*abi.CallBytes)
	for n := range uint64(4) {
		call := calls[n*abi.CallBytes:]
		put64(call, hotComm)
		put32(call[8:], uint32(op.AllReduce))
		call[16] = byte(op.F32)
		put64(call[24:], 2)
		put64(call[32:], hotA)
		put64(call[48:], hotB)
		put64(call[56:], 8*n)
	}
	return r
}

// idleDevice is a device whose streams complete everything at once by doing
// nothing: what is left is the cost of the call.
type idleDevice struct{ device.Device }

type idleStream struct{ device.Stream }

func (d idleDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return idleStream{s}, err
}

func (d idleDevice) NewComm(name string, ranks []int, timeout time.Duration) (device.Comm, error) {
	return d.Device.(device.Collectives).NewComm(name, ranks, timeout)
}

func (idleStream) Submit(o *op.Op) error { return o.Check() }

func TestHotCallsDoNotAllocate(t *testing.T) {
	r := newHotRank(t, false)
	for _, c := range hotCalls {
		f := r.module.ExportedFunction(c.name)
		stack := make([]uint64, max(len(c.args), 1))
		calls := func() {
			copy(stack, c.args)
			if err := f.CallWithStack(r.ctx, stack); err != nil || uint32(stack[0]) != 0 {
				t.Fatalf("%s: errno %d, %v (%s)", c.name, uint32(stack[0]), err, r.LastError())
			}
		}
		calls()
		if n := testing.AllocsPerRun(200, calls); n != 0 {
			t.Errorf("%s allocates %v times", c.name, n)
		}
	}
}

// BenchmarkCall is the time of one call from a loop in Wasm: the call itself
// (idle), and with the operation on the cpu device and its record (cpu).
func BenchmarkCall(b *testing.B) {
	for _, idle := range []bool{true, false} {
		r := newHotRank(b, idle)
		device := map[bool]string{true: "idle", false: "cpu"}[idle]
		for _, c := range hotCalls {
			f := r.module.ExportedFunction("loop_" + c.name)
			b.Run(device+"/"+c.name, func(b *testing.B) { loop(b, r.ctx, f) })
		}
	}
}

func loop(b *testing.B, ctx context.Context, f api.Function) {
	b.ReportAllocs()
	stack := []uint64{uint64(b.N)}
	if err := f.CallWithStack(ctx, stack); err != nil {
		b.Fatal(err)
	}
}
