package fault_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/device/fault"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// rank is one of two devices.
type rank struct {
	device.Device
	recorder  *flight.Writer
	path      string
	number    int
	own, peer op.Buffer
	stream    device.Stream
	comm      device.Comm
}

const (
	bytes    = 64
	places   = 9 // of so many bytes that a rank has
	patience = 30 * time.Second
)

// opener opens the device of a rank.
type opener func(device.Config) (device.Device, error)

// pair opens two ranks of cpu devices with faults and does something on both at
// once.
func pair(t *testing.T, text string, do func(t *testing.T, r *rank)) (ranks [2]*rank) {
	t.Helper()
	return pairOf(t, cpu.Open, text, do)
}

// pairOf is pair for other devices.
func pairOf(t *testing.T, open opener, text string, do func(t *testing.T, r *rank)) (ranks [2]*rank) {
	t.Helper()
	faults, err := fault.Parse(text)
	must(t, err)
	exchange, dir := new(devicetest.Exchange), t.TempDir()
	for i := range ranks {
		r := &rank{path: filepath.Join(dir, strconv.Itoa(i)), number: i}
		r.recorder, err = flight.Create(r.path, flight.Meta{Rank: i, Size: 2}, 0)
		must(t, err)
		r.recorder.Level = flight.LevelSlice
		r.Device, err = open(device.Config{Rank: i, Size: 2, Exchange: exchange, Recorder: r.recorder, MemoryBytes: 32 << 20, OpTimeout: patience})
		must(t, err)
		r.Device, err = fault.Wrap(r.Device, fault.Config{Faults: faults, Rank: i, Seed: 1})
		must(t, err)
		ranks[i] = r
	}
	var both sync.WaitGroup
	for _, r := range ranks {
		both.Go(func() {
			if err := r.open(exchange); err != nil {
				t.Errorf("rank %d: %v", r.number, err)
				return
			}
			do(t, r)
		})
	}
	both.Wait()
	for _, r := range ranks {
		must(t, r.Close())
		must(t, r.recorder.Close())
	}
	return ranks
}

// open gets what operations need: a buffer here and the peer's, a stream, a
// communicator.
func (r *rank) open(exchange device.Exchange) (err error) {
	if r.own, err = r.Alloc(places * bytes); err != nil {
		return err
	}
	handle, err := r.Export(op.View{Buf: r.own}, r.own.Size())
	if err != nil {
		return err
	}
	text, err := json.Marshal(handle)
	if err != nil {
		return err
	}
	if err := exchange.Set("buffer/"+strconv.Itoa(r.number), text); err != nil {
		return err
	}
	if text, err = exchange.Get("buffer/"+strconv.Itoa(1-r.number), patience); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &handle); err != nil {
		return err
	}
	if r.peer, err = r.Import(1-r.number, handle); err != nil {
		return err
	}
	if r.comm, err = r.Device.(device.Collectives).NewComm("world", []int{0, 1}, patience); err != nil {
		return err
	}
	r.stream, err = r.NewStream()
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// work does one operation of each kind, with the other rank for its peer.
func work(r *rank) error {
	peer := 1 - r.number
	mine := func(i int64) op.View { return op.View{Buf: r.own, Off: i * bytes} }
	theirs := func(i int64) op.View { return op.View{Buf: r.peer, Off: i * bytes} }
	reduce := op.Op{Kind: op.Reduce, Type: op.I32, Bytes: bytes, Dst: mine(2), SourceCount: 2}
	reduce.Sources[0], reduce.Sources[1] = mine(2), theirs(0)
	call := &op.Call{Collective: op.AllGather, Type: op.U8, Count: bytes, Bytes: 2 * bytes, In: mine(0), Out: mine(3), Program: fetch(r.number)}
	for _, o := range []op.Op{
		{Kind: op.Fill, Type: op.I32, Bytes: bytes, Dst: mine(0), Value: uint64(r.number)},
		{Kind: op.Copy, Bytes: bytes, Dst: mine(2), Src: mine(0)},
		{Kind: op.Signal, Peer: int32(peer), Value: 1},
		{Kind: op.Wait, Peer: int32(peer), Value: 1},
		{Kind: op.Get, Bytes: bytes, Dst: mine(3), Src: theirs(0)},
		{Kind: op.Verify, Type: op.I32, Bytes: bytes, Dst: mine(3), Value: uint64(peer)},
		{Kind: op.Put, Bytes: bytes, Dst: theirs(1), Src: mine(0)},
		reduce,
		{Kind: op.Send, Peer: int32(peer), Bytes: bytes, Src: mine(0)},
		{Kind: op.Recv, Peer: int32(peer), Bytes: bytes, Dst: mine(3)},
		{Kind: op.CollectiveCall, Comm: r.comm, Call: call, Term: op.Term{Collective: 1}},
		{Kind: op.Signal, Peer: int32(peer), Slot: 1, Value: 1},
		{Kind: op.Wait, Peer: int32(peer), Slot: 1, Value: 1},
		{Kind: op.Verify, Type: op.I32, Bytes: bytes, Dst: mine(3), Value: uint64(peer)},
		{Kind: op.Verify, Type: op.I32, Bytes: bytes, Dst: mine(1), Value: uint64(peer)},
	} {
		if err := r.stream.Submit(&o); err != nil {
			return err
		}
	}
	return r.stream.Sync(patience)
}

// fetch is a collective that takes the peer's input.
func fetch(rank int) *op.Program {
	from := op.Place{Rank: int32(1 - rank), Area: op.AreaIn}
	to := op.Place{Rank: int32(rank), Area: op.AreaOut}
	return &op.Program{Name: "fetch", Met: true, Steps: []op.Step{
		{Kind: op.StepEnter, Peer: -1},
		{Kind: op.StepMeet, Peer: -1},
		{Kind: op.StepMove, Bytes: bytes, Sources: []op.Place{from}, Dests: []op.Place{to}},
		{Kind: op.StepLeave, Peer: -1},
		{Kind: op.StepPart, Peer: -1},
	}}
}

// TestRecordsOfDelays holds that the records of one rank's operations show the
// delay, those of the other do not, and the bytes are right.
func TestRecordsOfDelays(t *testing.T) {
	const delay = 20 * time.Millisecond
	for _, c := range []struct{ fault, want string }{
		{"delay=1:20ms", "copy get put reduce recv get collective"},
		{"delay=1:20ms,kind=signal", "signal signal"},
		{"delay=1:20ms,kind=get,nth=2", "get collective"},
		{"delay=1:20ms,peer=1", ""},
	} {
		ranks := pair(t, c.fault, func(t *testing.T, r *rank) {
			if err := work(r); err != nil {
				t.Errorf("rank %d: %v", r.number, err)
			}
		})
		if got := longOnes(t, ranks[1], delay); got != c.want {
			t.Errorf("%s: rank 1 takes long for %q, want %q", c.fault, got, c.want)
		}
		for _, r := range ranks {
			log, err := flight.Open(r.path)
			must(t, err)
			if n := log.Counters(); n.Verified != 3*bytes || n.Mismatches != 0 {
				t.Errorf("%s: rank %d: %d bytes verified, %d wrong", c.fault, r.number, n.Verified, n.Mismatches)
			}
			must(t, log.Close())
		}
	}
}

// longOnes lists the kinds of the records that last for as long as the delay:
// waits for the other rank do not count.
func longOnes(t *testing.T, r *rank, delay time.Duration) string {
	t.Helper()
	log, err := flight.Open(r.path)
	must(t, err)
	defer log.Close()
	var kinds []string
	waits := []op.Kind{op.Wait, op.Send}
	for record := range log.Records() {
		if kind := op.Kind(record.Kind); record.End-record.Start >= int64(delay) && !slices.Contains(waits, kind) {
			kinds = append(kinds, kind.String())
		}
	}
	return strings.Join(kinds, " ")
}

// TestHangEnds holds that an operation that takes for ever ends with the run.
func TestHangEnds(t *testing.T) {
	began := make(chan struct{})
	cause := errors.New("given up")
	pair(t, "hang=1,kind=get", func(t *testing.T, r *rank) {
		if r.number == 0 {
			<-began
			return
		}
		ended := make(chan error, 1)
		go func() {
			close(began)
			err := r.stream.Submit(&op.Op{Kind: op.Get, Bytes: bytes, Dst: op.View{Buf: r.own}, Src: op.View{Buf: r.peer}})
			ended <- errors.Join(err, r.stream.Sync(patience))
		}()
		<-began
		select {
		case err := <-ended:
			t.Errorf("the operation has ended before: %v", err)
		case <-time.After(30 * time.Millisecond):
		}
		r.Abort(cause)
		select {
		case err := <-ended:
			if !errors.Is(err, cause) {
				t.Errorf("the operation ends with %v, want %v", err, cause)
			}
		case <-time.After(patience):
			t.Error("the operation goes on after the abort")
		}
	})
}

// spy notes how long operations take by themselves.
type spy struct {
	device.Device
	own []int64
}

func (s *spy) Inject(ending func(kind op.Kind, peer int, nanos int64) device.Ending) {
	s.Device.(device.Faults).Inject(func(kind op.Kind, peer int, nanos int64) device.Ending {
		s.own = append(s.own, nanos)
		return ending(kind, peer, nanos)
	})
}

// TestFactor holds that a factor multiplies what an operation takes by itself,
// and that at least one of many takes little more: those that a busy machine
// interrupts do.
func TestFactor(t *testing.T) {
	const size, copies = 1 << 20, 50
	path := filepath.Join(t.TempDir(), "0")
	recorder, err := flight.Create(path, flight.Meta{Size: 1}, 0)
	must(t, err)
	recorder.Level = flight.LevelSlice
	opened, err := cpu.Open(device.Config{Size: 1, Exchange: new(devicetest.Exchange), Recorder: recorder, MemoryBytes: 2 * size})
	must(t, err)
	s := &spy{Device: opened}
	faults, err := fault.Parse("delay=0:4x")
	must(t, err)
	d, err := fault.Wrap(s, fault.Config{Faults: faults})
	must(t, err)
	b, err := d.Alloc(2 * size)
	must(t, err)
	stream, err := d.NewStream()
	must(t, err)
	for range copies {
		must(t, stream.Submit(&op.Op{Kind: op.Copy, Bytes: size, Dst: op.View{Buf: b}, Src: op.View{Buf: b, Off: size}}))
	}
	must(t, stream.Sync(patience))
	must(t, d.Close())
	must(t, recorder.Close())
	log, err := flight.Open(path)
	must(t, err)
	defer log.Close()
	i, least := 0, 1e9
	for record := range log.Records() {
		took := float64(record.End-record.Start) / float64(s.own[i])
		if took < 4 {
			t.Errorf("copy %d takes %.2f times its own %d ns, want 4", i, took, s.own[i])
		}
		least = min(least, took)
		i++
	}
	if i != copies || least > 4.5 {
		t.Errorf("%d copies, the best takes %.2f times its own time, want %d and 4", i, least, copies)
	}
}
