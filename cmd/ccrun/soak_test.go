package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/tck"
	"github.com/ccrun/ccrun/host/flight"
)

var (
	soakTime = flag.Duration("soak", 3*time.Second, "how long TestSoak runs")
	soakSeed = flag.Uint64("soakseed", 0, "seed of TestSoak, 0 for a new one")
)

// TestSoak runs random collectives, verified by the workflow itself, and
// watches the memory of the ranks: `make soak`.
func TestSoak(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: to replay, make soak SOAKTIME=%v SOAKSEED=%d", seed, *soakTime, seed)
	s := startSoak(t, seed, *soakTime, "-for", soakTime.String())
	s.watch(t)
	s.wait(t)
	if len(s.samples[0]) >= 10 {
		t.Log(s.trends())
	}
	for _, complaint := range s.complaints() {
		t.Error(complaint)
	}
}

// A workflow that forgets its buffers is found out: what it leaks while samples
// are taken is more than a short run is allowed, however long its rounds take.
func TestSoakSeesALeak(t *testing.T) {
	s := startSoak(t, 1, 2*time.Second, "-rounds", "300", "-leak", "1MiB")
	s.watch(t)
	s.wait(t)
	found := s.complaints()
	for rank := range soakRanks {
		if !slices.ContainsFunc(found, func(c string) bool {
			return strings.HasPrefix(c, fmt.Sprintf("rank %d: shared memory has grown", rank))
		}) {
			t.Errorf("rank %d has leaked, but the complaints are %q", rank, found)
		}
	}
}

const soakRanks = 4

// Bounds. What a short run allows for is that caches fill.
const (
	slackBytes      = 4 << 20
	shortSlackBytes = 64 << 20
	shortSoak       = time.Minute
	flightBytesMax  = 257 << 20 // of a rank's file: records, and the header
)

// soak is a run of the workflow of that name.
type soak struct {
	cmd     *exec.Cmd
	dir     string // the run directory
	length  time.Duration
	began   time.Time
	ended   chan error
	text    strings.Builder
	logs    []*flight.Log
	samples [soakRanks][]memory
}

func startSoak(t *testing.T, seed uint64, length time.Duration, args ...string) *soak {
	t.Helper()
	wasm, err := newGuestBuilder(t.TempDir()).build("soak")
	if errors.Is(err, tck.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{dir: filepath.Join(t.TempDir(), "run"), length: length, ended: make(chan error, 1)}
	line := append([]string{"--quiet", "--keep", "--run-dir", s.dir, "-n", strconv.Itoa(soakRanks), "--seed", strconv.FormatUint(seed, 10), wasm}, args...)
	s.cmd = exec.Command("ccrun", line...)
	s.cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	s.cmd.Stdout, s.cmd.Stderr = &s.text, &s.text
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	s.began = time.Now()
	return s
}

// watch samples the memory of the ranks while they run, once a second or thirty
// times in a short run, and logs a line every ten seconds.
func (s *soak) watch(t *testing.T) {
	tick := time.NewTicker(min(time.Second, s.length/30))
	defer tick.Stop()
	for logged := s.began; ; {
		select {
		case err := <-s.ended:
			s.ended <- err
			return
		case <-tick.C:
		}
		if s.open() && s.sample() && time.Since(logged) > 10*time.Second {
			logged = time.Now()
			t.Log(s.progress())
		}
	}
}

// open opens the flight files, and reports whether all ranks run.
func (s *soak) open() bool {
	for rank := len(s.logs); rank < soakRanks; rank++ {
		log, err := flight.Open(s.flight(rank))
		if err != nil {
			return false
		}
		s.logs = append(s.logs, log)
	}
	return !slices.ContainsFunc(s.logs, func(l *flight.Log) bool { return l.State() != flight.StateRunning })
}

func (s *soak) flight(rank int) string {
	return filepath.Join(s.dir, fmt.Sprintf("rank-%04d.flight", rank))
}

// sample looks at the memory of all ranks, or of none, if one has ended.
func (s *soak) sample() bool {
	var all [soakRanks]memory
	for rank, log := range s.logs {
		m, err := memoryOf(log.PID)
		if err != nil {
			return false
		}
		all[rank] = m
	}
	for rank, m := range all {
		s.samples[rank] = append(s.samples[rank], m)
	}
	return true
}

// progress is how far the run is.
func (s *soak) progress() string {
	var verified, dropped int64
	var most memory
	for rank, log := range s.logs {
		counters := log.Counters()
		verified, dropped = verified+counters.Verified, dropped+counters.Dropped
		if n := len(s.samples[rank]); n > 0 {
			m := s.samples[rank][n-1]
			most = memory{max(most.total, m.total), max(most.shared, m.shared), max(most.heap, m.heap), max(most.flight, m.flight)}
		}
	}
	calls, _ := s.logs[0].Collective()
	return fmt.Sprintf("%v: %d calls of rank 0, %.1f GB verified, at most %s resident in a rank, of it %s shared, %s Go heap; beside it %s of flight file, %d records dropped",
		time.Since(s.began).Round(time.Second), calls, float64(verified)/1e9, mib(most.total), mib(most.shared), mib(most.heap), mib(most.flight), dropped)
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// wait waits for the end of the run and logs what came of it.
func (s *soak) wait(t *testing.T) {
	t.Helper()
	err := <-s.ended
	if err != nil || len(s.logs) < soakRanks {
		t.Fatalf("%v\n%s", err, &s.text)
	}
	t.Logf("%s%s", &s.text, s.progress())
	t.Cleanup(func() {
		for _, log := range s.logs {
			_ = log.Close()
		}
	})
}

// complaints lists what is wrong with a run that has ended well.
func (s *soak) complaints() []string {
	var found []string
	for rank, log := range s.logs {
		if counters := log.Counters(); counters.Verified == 0 || counters.Mismatches > 0 || counters.BadCalls > 0 {
			found = append(found, fmt.Sprintf("rank %d: %+v", rank, counters))
		}
		var info syscall.Stat_t
		if err := syscall.Stat(s.flight(rank), &info); err != nil || info.Blocks*512 > flightBytesMax {
			found = append(found, fmt.Sprintf("rank %d: flight file of %d bytes on disk, more than %d (%v)", rank, info.Blocks*512, flightBytesMax, err))
		}
		found = append(found, s.growth(rank)...)
	}
	return found
}

// growth lists what has grown in a rank.
func (s *soak) growth(rank int) []string {
	if len(s.samples[rank]) < 10 {
		return []string{fmt.Sprintf("rank %d: only %d samples of its memory", rank, len(s.samples[rank]))}
	}
	slack := int64(slackBytes)
	if s.length < shortSoak {
		slack = shortSlackBytes
	}
	var found []string
	for _, kind := range kinds {
		if before, after, bad := grown(s.series(rank, kind), slack); bad {
			found = append(found, fmt.Sprintf("rank %d: %s has grown from %s to %s", rank, kind.name, mib(before), mib(after)))
		}
	}
	return found
}

// series is how a kind of a rank's memory went.
func (s *soak) series(rank int, kind memoryKind) []int64 {
	values := make([]int64, len(s.samples[rank]))
	for i, m := range s.samples[rank] {
		values[i] = kind.of(m)
	}
	return values
}

// trends says how the memory of the ranks went.
func (s *soak) trends() string {
	var b strings.Builder
	for rank := range s.samples {
		fmt.Fprintf(&b, "rank %d, medians of the second and last fifth of %d samples:", rank, len(s.samples[rank]))
		for _, kind := range kinds {
			before, after, _ := grown(s.series(rank, kind), 0)
			fmt.Fprintf(&b, " %s %s, %s;", kind.name, mib(before), mib(after))
		}
		b.WriteString("\n")
	}
	return b.String()
}
