package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

var (
	storm     = flag.Int("storm", 300, "simulate so many random cases of bucket pipelines")
	stormSeed = flag.Uint64("stormseed", 1, "seed of the storm")
	stormCPU  = flag.Int("stormcpu", 40, "and run so many on processes")
)

// stormWorlds are worlds that cases are run on, each with its share of them, of
// 100, and with what makes its operations take other times than they do. The
// largest mesh is 6x5x2.
var stormWorlds = []struct {
	device       string
	ranks, share int
	fault        string
}{
	{"sim:h100x8", 60, 10, ""},
	{"sim:h100x2", 16, 20, "delay=*:3us,p=0.2"},
	{"sim:a100", 8, 20, ""},
	{"sim:cpu", 6, 20, "delay=*:40us,p=0.02"},
	{"sim:pcie5", 4, 20, ""},
	{"sim:h100", 2, 10, "delay=1:30us"},
}

// TestStormOfBuckets runs random bucket pipelines with data: all of them end,
// every byte is where it belongs and no other is touched, and statistics hold.
func TestStormOfBuckets(t *testing.T) {
	s := startStorm(t)
	for _, world := range stormWorlds {
		t.Run(fmt.Sprintf("%s-%d", world.device, world.ranks), func(t *testing.T) {
			flags := []string{"--data", "--device", world.device, "-n", strconv.Itoa(world.ranks)}
			if world.fault != "" {
				flags = append(flags, "--fault", world.fault)
			}
			s.run(t, *storm*world.share/100, flags...)
		})
	}
}

// TestStormOfBucketsOnProcesses is the same on the cpu device.
func TestStormOfBucketsOnProcesses(t *testing.T) {
	s := startStorm(t)
	for _, ranks := range []int{3, 4} {
		t.Run(strconv.Itoa(ranks), func(t *testing.T) {
			s.run(t, *stormCPU/2, "--device", "cpu", "-n", strconv.Itoa(ranks))
		})
	}
}

// stormy is what the runs of a storm share.
type stormy struct{ wasm, cache string }

func startStorm(t *testing.T) *stormy {
	t.Helper()
	wasm, err := newGuestBuilder(t.TempDir()).build("buckets")
	if errors.Is(err, tck.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &stormy{wasm, t.TempDir()}
}

// run runs cases, which verify themselves, and logs what they were.
func (s *stormy) run(t *testing.T, cases int, device ...string) {
	t.Helper()
	line := append(append([]string{"-q", "--timeout", "10m"}, device...), s.wasm, "-cases", strconv.Itoa(cases), "-seed", fmt.Sprint(*stormSeed))
	cmd := exec.Command("ccrun", line...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+s.cache)
	output, err := cmd.CombinedOutput()
	said := stormSaid.FindSubmatch(output)
	if err != nil || said == nil || string(said[1]) != strconv.Itoa(cases) {
		t.Fatalf("ccrun %s: %v\n%s", strings.Join(line, " "), err, output)
	}
	t.Logf("%s", said[0])
}

var stormSaid = regexp.MustCompile(`(?m)^(\d+) cases: \d+ runs, \d+ entries in \d+ buckets, \d+ bytes, 0 failed$`)
