package cpu_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// programs are what ranks that are processes can run.
var programs = map[string]func(processConfig, device.Device) (string, error){
	"pingpong": pingPongProgram,
	"barrier":  barrierProgram,
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
