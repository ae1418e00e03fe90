package cpu_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var errEnough = errors.New("enough")

// programs are what ranks that are processes can run.
var programs = map[string]func(processConfig, device.Device) (string, error){
	"pingpong": pingPongProgram,
	"pingpong beside a stream": func(c processConfig, d device.Device) (string, error) {
		if _, err := d.NewStream(); err != nil {
			return "", err
		}
		return pingPongProgram(c, d)
	},
	"barrier":  barrierProgram,
	"oneshot":  func(c processConfig, d device.Device) (string, error) { return allReduceProgram(c, d, oneshot(c)) },
	"direct":   func(c processConfig, d device.Device) (string, error) { return allReduceProgram(c, d, direct(c)) },
	"ring":     ringProgram,
	"victim":   victimProgram,
	"survivor": survivorProgram,
	"caller":   callerProgram,

	"bundles any":  bundleProgram("any"),
	"bundles sync": bundleProgram("sync"),
	"bundles one":  bundleProgram("one"),
}

// batchRounds is how many rounds are timed together. The best batch counts:
// the machine has other things to do.
const batchRounds = 1000

// neighbours gives every rank a buffer of its own and the next rank's, through
// the exchange.
func neighbours(c processConfig, d device.Device, bytes int64) (mine, next op.Buffer, err error) {
	if mine, err = d.Alloc(bytes); err != nil {
		return nil, nil, err
	}
	h, err := d.Export(op.View{Buf: mine}, bytes)
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, nil, err
	}
	if err := c.exchange.Set("buffer/"+strconv.Itoa(c.Rank), text); err != nil {
		return nil, nil, err
	}
	peer := (c.Rank + 1) % c.Size
	if text, err = c.exchange.Get("buffer/"+strconv.Itoa(peer), time.Minute); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, nil, err
	}
	next, err = d.Import(peer, h)
	return mine, next, err
}

// pingPongProgram sends 64 bytes and a signal back and forth and returns the
// nanoseconds of a round trip.
func pingPongProgram(c processConfig, d device.Device) (string, error) {
	mine, next, err := neighbours(c, d, 4096)
	if err != nil {
		return "", err
	}
	s, err := d.NewStream()
	if err != nil {
		return "", err
	}
	peer := int32(1 - c.Rank)
	put := &op.Op{Kind: op.Put, Bytes: 64, Dst: op.View{Buf: next}, Src: op.View{Buf: mine}}
	signal, wait := &op.Op{Kind: op.Signal, Peer: peer}, &op.Op{Kind: op.Wait, Peer: peer}
	turn := []*op.Op{put, signal, wait}
	if c.Rank == 1 {
		turn = []*op.Op{wait, put, signal}
	}
	if err := d.Barrier(device.Forever); err != nil {
		return "", err
	}
	best, start := int64(1)<<62, d.Now()
	for i := range c.N {
		if i%batchRounds == 0 && i > 0 {
			now := d.Now()
			best, start = min(best, now-start), now
		}
		signal.Value, wait.Value = uint64(i+1), uint64(i+1)
		for _, o := range turn {
			if err := s.Submit(o); err != nil {
				return "", err
			}
		}
		if err := s.Sync(device.Forever); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(float64(best) / batchRounds), d.Barrier(device.Forever)
}

func barrierProgram(c processConfig, d device.Device) (string, error) {
	if err := d.Barrier(device.Forever); err != nil {
		return "", err
	}
	best, start := int64(1)<<62, d.Now()
	for i := range c.N {
		if i%batchRounds == 0 && i > 0 {
			now := d.Now()
			best, start = min(best, now-start), now
		}
		if err := d.Barrier(device.Forever); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(float64(best) / batchRounds), nil
}

// ringProgram hands each rank's pattern around the ring, by put into the next
// rank's memory, and returns how many rounds were right.
func ringProgram(c processConfig, d device.Device) (string, error) {
	const size = 50_000
	mine, next, err := neighbours(c, d, 2*size)
	if err != nil {
		return "", err
	}
	s, err := d.NewStream()
	if err != nil {
		return "", err
	}
	to, from := int32((c.Rank+1)%c.Size), int32((c.Rank+c.Size-1)%c.Size)
	right := 0
	for i := range c.N {
		var found op.Result
		seed, half := uint64(i*c.Size), int64(i%2)*size
		for _, o := range []op.Op{
			{Kind: op.Wait, Peer: to, Slot: 1, Value: uint64(max(i-1, 0))},
			{Kind: op.Fill, Dst: op.View{Buf: next, Off: half}, Bytes: size, Value: seed + uint64(c.Rank)},
			{Kind: op.Signal, Peer: to, Value: uint64(i + 1)},
			{Kind: op.Wait, Peer: from, Value: uint64(i + 1)},
			{Kind: op.Verify, Dst: op.View{Buf: mine, Off: half}, Bytes: size, Value: seed + uint64(from), Result: &found},
			{Kind: op.Signal, Peer: from, Slot: 1, Value: uint64(i + 1)},
		} {
			if err := s.Submit(&o); err != nil {
				return "", err
			}
		}
		if err := s.Sync(time.Minute); err != nil {
			return "", err
		}
		if found.Mismatches == 0 {
			right++
		}
	}
	return strconv.Itoa(right), d.Barrier(time.Minute)
}

// victimProgram fills its memory, says so, and waits to be killed.
func victimProgram(c processConfig, d device.Device) (string, error) {
	mine, _, err := neighbours(c, d, 1<<20)
	if err != nil {
		return "", err
	}
	pattern := make([]byte, 1<<20)
	op.FillPattern(pattern, op.U8, 7, 0)
	if err := d.Write(op.View{Buf: mine}, pattern); err != nil {
		return "", err
	}
	if err := d.Barrier(time.Minute); err != nil {
		return "", err
	}
	if err := c.exchange.Set("ready", []byte{1}); err != nil {
		return "", err
	}
	s, err := d.NewStream()
	if err != nil {
		return "", err
	}
	if err := s.Submit(&op.Op{Kind: op.Wait, Slot: 5, Value: 1}); err != nil {
		return "", err
	}
	return "", s.Sync(time.Minute) // nobody raises it
}

// survivorProgram goes on using the memory of a rank that was killed, and
// returns what it found.
func survivorProgram(c processConfig, d device.Device) (string, error) {
	mine, next, err := neighbours(c, d, 1<<20)
	if err != nil {
		return "", err
	}
	if err := d.Barrier(time.Minute); err != nil {
		return "", err
	}
	if _, err := c.exchange.Get("killed", time.Minute); err != nil {
		return "", err
	}
	s, err := d.NewStream()
	if err != nil {
		return "", err
	}
	var found op.Result
	for _, o := range []op.Op{
		{Kind: op.Get, Dst: op.View{Buf: mine}, Src: op.View{Buf: next}, Bytes: 1 << 20},
		{Kind: op.Put, Dst: op.View{Buf: next, Off: 100}, Src: op.View{Buf: mine}, Bytes: 1000},
		{Kind: op.Signal, Peer: int32(1 - c.Rank), Value: 1},
		{Kind: op.Verify, Dst: op.View{Buf: mine}, Bytes: 1 << 20, Value: 7, Result: &found},
	} {
		if err := s.Submit(&o); err != nil {
			return "", err
		}
	}
	if err := s.Sync(time.Minute); err != nil {
		return "", err
	}
	stuck := d.Barrier(50 * time.Millisecond)
	return fmt.Sprintf("%d wrong, barrier times out: %v", found.Mismatches, errors.Is(stuck, device.ErrTimeout)), nil
}
