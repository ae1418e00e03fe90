package oplog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// opener makes the devices of a world and lets its ranks run.
type opener func(t testing.TB, size int) (devices []device.Device, exchanges []device.Exchange, run func(bodies []func() error) error)

func cpuWorld(t testing.TB, size int) ([]device.Device, []device.Exchange, func([]func() error) error) {
	t.Helper()
	x := &devicetest.Exchange{}
	devices, exchanges := make([]device.Device, size), make([]device.Exchange, size)
	for rank := range size {
		d, err := cpu.Open(device.Config{Rank: rank, Size: size, Exchange: x, OpTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		devices[rank], exchanges[rank] = d, x
	}
	return devices, exchanges, func(bodies []func() error) error {
		failed := make([]error, size)
		var all sync.WaitGroup
		for rank, body := range bodies {
			all.Go(func() {
				failed[rank] = body()
				for _, d := range devices {
					if failed[rank] != nil {
						d.Abort(failed[rank])
					}
				}
			})
		}
		all.Wait()
		return errors.Join(failed...)
	}
}

func simWorld(t testing.TB, size int) ([]device.Device, []device.Exchange, func([]func() error) error) {
	t.Helper()
	p, err := preset.Find("h100")
	if err != nil {
		t.Fatal(err)
	}
	c, err := sim.New(sim.Options{Preset: p, Ranks: size, RealBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	devices, exchanges := make([]device.Device, size), make([]device.Exchange, size)
	for rank := range size {
		exchanges[rank] = c.Exchange(rank)
		if devices[rank], err = c.Open(device.Config{Rank: rank, Size: size, Exchange: exchanges[rank]}); err != nil {
			t.Fatal(err)
		}
	}
	return devices, exchanges, func(bodies []func() error) error {
		failed := make([]error, size)
		wrapped := make([]func(), size)
		for rank := range bodies {
			wrapped[rank] = func() { failed[rank] = bodies[rank]() }
		}
		return errors.Join(c.Run(wrapped), errors.Join(failed...))
	}
}

// meet is a program in which all ranks meet, whatever the call.
func meet(c *op.Call, _ device.Comm, sliceBytes int64) error {
	c.Program = &op.Program{Name: "meet", SliceBytes: sliceBytes, Met: true, Steps: []op.Step{{Kind: op.StepEnter, Peer: -1}, {Kind: op.StepMeet, Peer: -1}}}
	return nil
}

// replayed carries a log out and records it again.
func replayed(t *testing.T, open opener, log *Log) (*Log, error) {
	t.Helper()
	devices, exchanges, run := open(t, log.Ranks)
	recorders := make([]*Recorder, log.Ranks)
	bodies := make([]func() error, log.Ranks)
	texts := make([]bytes.Buffer, log.Ranks)
	for rank, d := range devices {
		recorders[rank] = Record(d, Options{Rank: rank, Ranks: log.Ranks, Out: &texts[rank]})
		body := Body(log.Program(rank), Stage{
			Rank: rank, Ranks: log.Ranks, Device: recorders[rank].Wrapped(), Exchange: exchanges[rank], Plan: meet, Verify: log.KeepsData(),
		})
		bodies[rank] = func() error {
			err := body()
			return errors.Join(err, recorders[rank].End())
		}
	}
	err := run(bodies)
	text := AppendHead(nil, log.Device, log.Ranks)
	for rank := range texts {
		text = append(text, texts[rank].Bytes()...)
	}
	again, parseErr := Parse(bytes.NewReader(text), nil)
	return again, errors.Join(err, parseErr)
}

// twoRanks is a world of two that makes nearly all calls there are, and leaves
// nothing that its end would have to wait for.
const twoRanks = `ccrun oplog 1
device "cpu"
ranks 2
rank 0
alloc b1 4096
stream s1
stream s2
event e1
comm g1 "world.0" all
comm g2 "alone" 0
export x1.1+0:4096 <- b1+0 4096
import b2 <- r1 x1.1+0:4096
read b1+16 64
fill s1 b1+0 1024 f32 seed 7 at 0
verify s1 b1+0 1024 f32 seed 7 at 0
sync s1
barrier
put s1 b2+2048 <- b1+0 512 c1 k2 l3 f1 t5 m6
signal s1 r1 slot 5 = 9
event_record s1 e1
event_wait s2 e1
wait s2 r1 slot 5 >= 9
copy s2 b1+3072 <- b1+2048 512
copy_box s2 b1+3584 by 8 64 <- b1+0 by 32 1000 of 2 4 8 c1 k2
copy_box s2 b1+0 by 0 0 <- b1+4096 by 0 0 of 0 0 0
send s1 r1 b1+0 64 channel 1
recv s1 r1 b1+1024 64 channel 1
reduce s2 b1+3072 <- b1+3072,b1+0 64 f32 sum
digest s2 b1+0 4096
gemm s2 b1+1536 <- b1+0 b1+256 f32 4 4 4
gemm s2 b1+1536 <- b1+0 b1+256 f32 4 4 4 add
call s1 g1 c1 all_reduce f32 sum root 0 count 16 in b1+0 out b1+64 ring slice 0 group 0
and broadcast u8 sum root 1 count 16 in - out b1+64 tree slice 64 group 0 warmup
call s1 g1 c3 all_to_all_v i32 sum root 0 count 0 in b1+0 out b1+64 direct slice 0 group 0 parts 1,1,0,1,1,1,0,1
sync s1
sync s2
event_sync e1
barrier
free b2
event_close e1
close s1
close s2
comm_close g1
comm_close g2
alloc b2 64
end
rank 1
alloc b1 4096
stream s1
comm g1 "world.0" all
export x1.1+0:4096 <- b1+0 4096
import b2 <- r0 x1.1+0:4096
barrier
get s1 b1+0 <- b2+0 1024 c1 k1
get_box s1 b1+0 by 16 0 <- b2+0 by 16 0 of 1 8 16 c1 k1
verify s1 b1+0 1024 f32 seed 7 at 0
put s1 b2+2048 <- b1+0 512
signal s1 r0 slot 5 = 9
wait s1 r0 slot 5 >= 9
sync s1
seen r0 slot 5 >= 9
verify s1 b1+2048 512 f32 seed 7 at 0
send s1 r0 b1+0 64 channel 1
recv s1 r0 b1+1024 64 channel 1
call s1 g1 c1 all_reduce f32 sum root 0 count 16 in b1+0 out b1+64 ring slice 0 group 0
and broadcast u8 sum root 1 count 16 in - out b1+64 tree slice 64 group 0 warmup
call s1 g1 c3 all_to_all_v i32 sum root 0 count 0 in b1+0 out b1+64 direct slice 0 group 0 parts 1,1,0,1,1,1,0,1
sync s1
barrier
close s1
comm_close g1
end
`

// TestAReplayAsksForTheSame records a replay and finds the log it began with.
func TestAReplayAsksForTheSame(t *testing.T) {
	for name, open := range map[string]opener{"cpu": cpuWorld, "sim": simWorld} {
		t.Run(name, func(t *testing.T) {
			text := twoRanks
			if name == "cpu" { // numbers its allocations from 0 on
				text = strings.ReplaceAll(text, "x1.1+", "x0.1+")
			}
			again, err := replayed(t, open, parse(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if got := print(t, again); got != text {
				t.Error(difference(got, text))
			}
		})
	}
}

// TestRingsAreReplayed records a ring on each device, replays it and the
// program that was found for all ranks, and finds the same each time.
func TestRingsAreReplayed(t *testing.T) {
	const size = 4
	for name, open := range map[string]opener{"cpu": cpuWorld, "sim": simWorld} {
		for form, template := range rings {
			t.Run(name+" "+form, func(t *testing.T) {
				devices, exchanges, run := open(t, size)
				bodies, recorders := make([]func() error, size), make([]*Recorder, size)
				for rank, d := range devices {
					recorders[rank] = Record(d, Options{Rank: rank, Ranks: size})
					r := template
					r.rank, r.size, r.device = rank, size, recorders[rank].Wrapped()
					r.exchangeShares(exchanges[rank])
					bodies[rank] = r.run
				}
				if err := run(bodies); err != nil {
					t.Fatal(err)
				}
				log := &Log{Device: name, Ranks: size}
				for _, r := range recorders {
					if err := r.End(); err != nil {
						t.Fatal(err)
					}
					log.Programs = append(log.Programs, r.Program())
				}
				again, err := replayed(t, open, log)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := print(t, again), print(t, log); got != want {
					t.Error(difference(got, want))
				}
				p, _, err := expanded(size, func(rank int) *Program { return sketched(t, template, rank, size) })
				if err != nil {
					t.Fatal(err)
				}
				again, err = replayed(t, open, &Log{Device: name, Ranks: size, Shared: p})
				if err != nil {
					t.Fatal(err)
				}
				got, want := withoutSeeds(print(t, again)), withoutSeeds(print(t, log))
				if got != want {
					t.Error(difference(got, want))
				}
			})
		}
	}
}

func withoutSeeds(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		if strings.HasPrefix(lines[i], "fill") {
			lines[i] = withoutSeed(lines[i])
		}
	}
	return strings.Join(lines, "\n")
}

// TestVerifyOnlyWithTheData shows that what was verified is verified again if
// the bytes are the same, and only looked at if the guest wrote some.
func TestVerifyOnlyWithTheData(t *testing.T) {
	const text = `ccrun oplog 1
device "cpu"
ranks 1
rank 0
alloc b1 64
stream s1
fill s1 b1+0 64 u8 seed 1 at 0
verify s1 b1+0 64 u8 seed 2 at 0
sync s1
end
`
	for name, c := range map[string]struct {
		text       string
		mismatches bool
	}{
		"all by operations": {text, true},
		"written":           {strings.Replace(text, "fill s1", "write b1+0 64\nfill s1", 1), false},
	} {
		log, counters := parse(t, c.text), flight.Counters{}
		path := filepath.Join(t.TempDir(), "flight")
		recorder, err := flight.Create(path, flight.Meta{Size: 1, PID: os.Getpid()}, 64)
		if err != nil {
			t.Fatal(err)
		}
		x := &devicetest.Exchange{}
		d, err := cpu.Open(device.Config{Size: 1, Exchange: x, Recorder: recorder})
		if err != nil {
			t.Fatal(err)
		}
		if err := Body(log.Program(0), Stage{Ranks: 1, Device: d, Exchange: x, Recorder: recorder, Verify: log.KeepsData()})(); err != nil {
			t.Error(err)
		}
		if counters = recorder.Counters(); (counters.Mismatches > 0) != c.mismatches || (counters.Verified > 0) != c.mismatches {
			t.Errorf("%s: %+v", name, counters)
		}
		if err := errors.Join(d.Close(), recorder.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatTheGuestSaidIsRecordedAgain replays collectives and marks, one of each
// not ended.
func TestWhatTheGuestSaidIsRecordedAgain(t *testing.T) {
	log := parse(t, `ccrun oplog 1
device "cpu"
ranks 1
rank 0
collective c1 all_gather f32 sum 4096 slice 64 ranks 1 group 0 "ring" warmup
collective c2 reduce f16 max 8192 slice 0 ranks 1 group 3 ""
mark m1 "step"
mark m2 "late"
mark_end m1
mark m1 "open"
mark_end m1
collective_end c1
end
`)
	path := filepath.Join(t.TempDir(), "flight")
	recorder, err := flight.Create(path, flight.Meta{Size: 1, PID: os.Getpid()}, 64)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSketch(0, 1)
	if err := Body(log.Program(0), Stage{Ranks: 1, Device: s, Exchange: s, Recorder: recorder})(); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := flight.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var got strings.Builder
	for r := range read.Records() {
		fmt.Fprintf(&got, "%d-%d %s %d %q %d bytes slice %d ranks %d group %d status %d\n",
			r.Start, r.End, op.Kind(r.Kind), r.Collective, read.Name(uint16(r.Aux)), r.Bytes, r.Slice, r.Chunk, r.Group, r.Status)
	}
	const want = `3000-5000 mark 0 "step" 0 bytes slice 0 ranks 0 group 0 status 0
6000-7000 mark 0 "open" 0 bytes slice 0 ranks 0 group 0 status 0
1000-8000 collective 1 "ring" 4096 bytes slice 64 ranks 1 group 0 status 0
2000-9000 collective 2 "" 8192 bytes slice 0 ranks 1 group 3 status 3
4000-10000 mark 0 "late" 0 bytes slice 0 ranks 0 group 0 status 3
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestAReplayThatFailsNamesItsLine has a rank ask for what its device refuses.
func TestAReplayThatFailsNamesItsLine(t *testing.T) {
	log := parse(t, "ccrun oplog 1\ndevice \"cpu\"\nranks 1\nrank 0\nalloc b1 64\nstream s1\ncopy s1 b1+0 <- b1+32 64 @\"main.main\"\n")
	s := NewSketch(0, 1)
	err := Body(log.Program(0), Stage{Ranks: 1, Device: s, Exchange: s})()
	const want = `line 3 of its operations (copy s1 b1+0 <- b1+32 64 @"main.main"): range outside the buffer`
	if !errors.Is(err, op.ErrRange) || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestWhatWasSeenIsWaitedFor has a guest look for a signal without waiting.
func TestWhatWasSeenIsWaitedFor(t *testing.T) {
	log := parse(t, `ccrun oplog 1
device "cpu"
ranks 2
rank 0
stream s1
signal s1 r1 slot 3 = 7
sync s1
end
rank 1
seen r0 slot 3 >= 7
barrier_late
end
`)
	devices, exchanges, run := cpuWorld(t, 2)
	bodies := make([]func() error, 2)
	for rank, d := range devices {
		bodies[rank] = Body(log.Program(rank), Stage{Rank: rank, Ranks: 2, Device: d, Exchange: exchanges[rank]})
	}
	if err := run(bodies); err != nil {
		t.Fatal(err)
	}
	if v, err := devices[1].SignalValue(0, 3); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// TestWaitingForAKeyEnds has a rank wait for what nobody exports until it is
// told to stop.
func TestWaitingForAKeyEnds(t *testing.T) {
	log := parse(t, "ccrun oplog 1\ndevice \"cpu\"\nranks 2\nrank 0\nimport b1 <- r1 x1.1+0:64\n")
	devices, exchanges, _ := cpuWorld(t, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(device.ErrAborted) })
	err := Body(log.Program(0), Stage{Ranks: 2, Device: devices[0], Exchange: exchanges[0], Stopped: func() error { return context.Cause(ctx) }})()
	if !errors.Is(err, device.ErrAborted) {
		t.Error(err)
	}
}

// FuzzPlay carries hostile logs out on a device that checks what is asked.
func FuzzPlay(f *testing.F) {
	f.Add(every)
	f.Add(sharedLog)
	f.Add(twoRanks)
	f.Fuzz(func(t *testing.T, text string) {
		log, err := Parse(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		for _, rank := range []int{0, log.Ranks - 1} {
			if p := log.Program(rank); p != nil {
				s := NewSketch(rank, log.Ranks)
				_ = s.Set(exportKey((rank+1)%log.Ranks, "1.1+0:65536"), device.Handle{Bytes: 65536}.Encode())
				_ = Body(p, Stage{Rank: rank, Ranks: log.Ranks, Device: s, Exchange: s, Plan: meet})() // any error will do
			}
		}
	})
}
