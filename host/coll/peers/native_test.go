package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/device"
)

// TestNativeRing runs real processes: each verifies what it gathered.
func TestNativeRing(t *testing.T) {
	for _, c := range []rankConfig{
		{size: 2, protocol: "put", chunkBytes: 4096, sliceBytes: 1024},
		{size: 3, protocol: "get", chunkBytes: 1000, sliceBytes: 300},
		{size: 3, protocol: "put", chunkBytes: 1000, sliceBytes: 0},
		{size: 4, protocol: "get", chunkBytes: 77, sliceBytes: 1000},
		{size: 2, protocol: pingpong, chunkBytes: ballBytes},
	} {
		c.iters, c.warmup = 5, 2
		n, err := newNative(options{ranks: c.size}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if nanos, err := n.run(t.Context(), c); err != nil || nanos <= 0 {
			t.Errorf("%+v: %v ns, %v", c, nanos, err)
		}
	}
}

// TestNativeRankFails expects the failure of one rank to end the others.
func TestNativeRankFails(t *testing.T) {
	n, err := newNative(options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := rankConfig{size: 2, protocol: "put", chunkBytes: 1 << 60, iters: 1}
	if nanos, err := n.run(t.Context(), c); err == nil {
		t.Errorf("a buffer of 2 EiB gives %v ns", nanos)
	}
}

func TestRankArguments(t *testing.T) {
	want := rankConfig{rank: 1, size: 3, dir: "/d", protocol: "get", chunkBytes: 4, sliceBytes: 5, iters: 6, warmup: 7}
	if got, err := parseRank(want.args()); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, args := range [][]string{nil, {"1"}, {"x", "3", "/d", "get", "4", "5", "6", "7"}} {
		if _, err := parseRank(args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

func TestMedianCCT(t *testing.T) {
	times := []rankTimes{
		{Start: []int64{0, 100, 200}, End: []int64{10, 150, 210}},
		{Start: []int64{5, 95, 201}, End: []int64{30, 140, 203}},
	}
	if got := medianCCT(times); got != 30 { // of 30, 55 and 10
		t.Errorf("median %v, want 30", got)
	}
}

func TestFileExchange(t *testing.T) {
	x := fileExchange{t.TempDir()}
	if _, err := x.Get("a/b", time.Millisecond); !errors.Is(err, device.ErrTimeout) {
		t.Errorf("a key that nobody sets: %v", err)
	}
	waited := make(chan string)
	go func() {
		value, err := x.Get("a/b", device.Forever)
		waited <- fmt.Sprint(string(value), err)
	}()
	if err := x.Set("a/b", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if got := <-waited; got != "one<nil>" {
		t.Errorf("waited for %q", got)
	}
	for _, c := range []struct{ old, value, want string }{{"two", "three", "one"}, {"one", "four", "four"}} {
		if got, err := x.CompareAndSwap("a/b", []byte(c.old), []byte(c.value)); err != nil || string(got) != c.want {
			t.Errorf("swap %s for %s: %s, %v", c.old, c.value, got, err)
		}
	}
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			if _, err := x.CompareAndSwap("first", nil, []byte{byte(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	first, err := x.Get("first", 0)
	if again, e := x.CompareAndSwap("first", nil, []byte("late")); err != nil || e != nil || !bytes.Equal(first, again) {
		t.Errorf("first %v, then %v, %v, %v", first, again, err, e)
	}
}

// TestMPI builds and runs the MPI side where Open MPI is installed.
func TestMPI(t *testing.T) {
	if _, err := exec.LookPath("mpicc"); err != nil {
		t.Skipf("Open MPI: %v", err)
	}
	m, err := buildMPI(t.Context(), options{ranks: 2, iters: 3}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.gather(t.Context(), ccrun.ByteSize(1000))
	if err != nil || len(got) != 3 || got["copy"] <= 0 || got["mpi"] <= 0 || got["mpi in place"] <= 0 {
		t.Errorf("gather: %v, %v", got, err)
	}
	got, err = m.run(t.Context(), 2, pingpong, ballBytes, 2, 1)
	if err != nil || len(got) != 1 || got["round trip"] <= 0 {
		t.Errorf("ping-pong: %v, %v", got, err)
	}
}
