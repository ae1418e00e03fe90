package cpu_test

import (
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// TestNoAllocation keeps garbage off the path of an operation, whether it is
// executed at once or queued.
func TestNoAllocation(t *testing.T) {
	r := openRanks(t, 2, 1<<20)[0]
	view, far := op.View{Buf: r.mine}, op.View{Buf: r.next}
	e, err := r.NewEvent()
	must(t, err)
	raise := &op.Op{Kind: op.Signal}
	sum := &op.Op{Kind: op.Reduce, Type: op.F32, Dst: view, Bytes: 4096, SourceCount: 2, Sources: [op.MaxSources]op.View{view, far}}
	result := new(op.Result)
	alone := processConfig{Size: 1, Bytes: 64}
	call, comm := op.Call{Collective: op.AllReduce, Type: op.F32, Bytes: 64, In: view, Out: view}, aloneComm(t, r)
	call.Program = oneshot(alone)
	linked := call
	linked.Next = &call
	for name, ops := range map[string][]*op.Op{
		"put and signal": {{Kind: op.Put, Dst: far, Src: view, Bytes: 64}, {Kind: op.Signal, Peer: 1, Value: 1}},
		"get":            {{Kind: op.Get, Dst: view, Src: far, Bytes: 100_000}},
		"reduce":         {sum},
		"events":         {{Kind: op.EventRecord, Event: e}, {Kind: op.EventWait, Event: e}},
		"messages":       {{Kind: op.Send, Src: view, Bytes: 64}, {Kind: op.Recv, Dst: view, Bytes: 64}},
		"verify":         {{Kind: op.Fill, Dst: view, Bytes: 100}, {Kind: op.Verify, Dst: view, Bytes: 100, Result: result}},
		"wait":           {{Kind: op.Wait}, raise},
		"call":           {{Kind: op.CollectiveCall, Comm: comm, Call: &call}},
		"group":          {{Kind: op.CollectiveCall, Comm: comm, Call: &linked}},
		"queued call": {
			{Kind: op.Send, Src: view, Bytes: 64}, {Kind: op.Recv, Dst: view, Bytes: 64},
			{Kind: op.CollectiveCall, Comm: comm, Call: &call},
		},
	} {
		got := testing.AllocsPerRun(200, func() {
			r.submit(t, ops...)
			if err := r.stream.Sync(device.Forever); err != nil {
				t.Error(err)
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// aloneComm is a communicator of one rank.
func aloneComm(t *testing.T, r *rank) device.Comm {
	t.Helper()
	c, err := r.Device.(device.Collectives).NewComm("alone", []int{0}, device.Forever)
	must(t, err)
	return c
}
