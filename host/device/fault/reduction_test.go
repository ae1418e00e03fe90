package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/fault"
	"github.com/ccrun/ccrun/host/op"
)

// memory is a device with one buffer and streams that do nothing.
type memory struct {
	device.Device
	device.Stream
	bytes    []byte
	accepted int
}

type buffer struct{}

func (buffer) Size() int64 { return 8 }
func (buffer) Peer() int   { return -1 }

func (m *memory) NewStream() (device.Stream, error)  { return m, nil }
func (m *memory) Sync(time.Duration) error           { return nil }
func (m *memory) Submit(*op.Op) error                { m.accepted++; return nil }
func (m *memory) Read(dst []byte, src op.View) error { copy(dst, m.bytes[src.Off:]); return nil }
func (m *memory) Write(dst op.View, src []byte) error {
	copy(m.bytes[dst.Off:], src)
	return nil
}
func (m *memory) Close() error { return nil }

func TestReductionsAreSpoiled(t *testing.T) {
	at := func(off int64) op.View { return op.View{Buf: buffer{}, Off: off} }
	for _, c := range []struct {
		what string
		op   op.Op
		want string
	}{
		{"copy", op.Op{Kind: op.Copy, Bytes: 8, Dst: at(0)}, "0000000000000000"},
		{"reduce", op.Op{Kind: op.Reduce, Bytes: 4, Dst: at(4)}, "00000000ff000000"},
		{"reduce nothing", op.Op{Kind: op.Reduce, Dst: at(4)}, "0000000000000000"},
		{"all_gather", op.Op{Kind: op.CollectiveCall, Call: &op.Call{Collective: op.AllGather, Count: 1, Out: at(0)}}, "0000000000000000"},
		{"group", op.Op{Kind: op.CollectiveCall, Call: &op.Call{Collective: op.AllReduce, Count: 1, Out: at(1), Next: &op.Call{
			Collective: op.ReduceScatter, Count: 1, Out: at(3), Next: &op.Call{Collective: op.ReduceTo, Count: 1}}}}, "00ff00ff00000000"},
	} {
		m := &memory{bytes: make([]byte, 8)}
		s, err := wrap(t, m, "reduction").NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Submit(&c.op); err != nil || m.accepted != 1 || fmt.Sprintf("%x", m.bytes) != c.want {
			t.Errorf("%s: memory %x, %d accepted, %v, want %s", c.what, m.bytes, m.accepted, err, c.want)
		}
	}
}

// wrap gives rank 2's device with faults.
func wrap(t *testing.T, d device.Device, text string) device.Device {
	t.Helper()
	faults, err := fault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := fault.Wrap(d, fault.Config{Faults: faults, Rank: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return wrapped
}

func TestReductionNeedsCommunicators(t *testing.T) {
	d := wrap(t, &memory{}, "reduction")
	if _, err := d.(device.Collectives).NewComm("c", []int{0}, 0); !errors.Is(err, device.ErrMissing) {
		t.Errorf("communicators of a device without: %v", err)
	}
}
