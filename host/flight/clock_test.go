package flight_test

import (
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/flight"
)

func monotonic(t *testing.T) int64 {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	return ts.Nano()
}

// TestClockIsShared brackets readings between two of the kernel's clock, which
// all processes share. Of many brackets the narrow ones count: a wide one says
// that the test was not scheduled.
func TestClockIsShared(t *testing.T) {
	for range 5 {
		clock := flight.NewClock()
		narrow := 0
		for deadline := time.Now().Add(10 * time.Second); narrow < 20_000; {
			before, now, after := monotonic(t), clock.Now(), monotonic(t)
			if after-before > 2000 {
				if time.Now().After(deadline) {
					t.Skip("this machine is too busy to read the clock twice within 2 us")
				}
				continue
			}
			narrow++
			if now < before-200 || now > after+200 {
				t.Fatalf("the clock says %d between %d and %d", now, before, after)
			}
		}
	}
}

// TestClockAscends reads one clock from several goroutines.
func TestClockAscends(t *testing.T) {
	clock := flight.NewClock()
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			last := clock.Now()
			for range 200_000 {
				now := clock.Now()
				if now < last {
					t.Errorf("%d after %d", now, last)
					return
				}
				last = now
			}
		})
	}
	running.Wait()
}

func TestClockWall(t *testing.T) {
	clock := flight.NewClock()
	before := time.Now()
	wall := time.Unix(0, clock.Wall(clock.Now()))
	after := time.Now()
	if wall.Before(before.Add(-time.Second)) || wall.After(after.Add(time.Second)) {
		t.Errorf("%v is not between %v and %v", wall, before, after)
	}
}
