package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/runner"
)

var sweep = flag.Int("sweep", 14, "simulate random collectives with so many seeds, machines and faults")

// sweepFaults are what is made wrong, and the exit codes that it may lead to. A
// kill or a hang may come too late to be noticed; reductions that are spoilt are
// waited for in Submit, where ranks that call in different orders wait for ever.
var sweepFaults = []struct {
	fault string
	codes []int
}{
	{"", []int{runner.ExitOK}},
	{"jitter=*:400%", []int{runner.ExitOK}},
	{"delay=*:3us,p=0.2,kind=signal+copy+put+get+recv+reduce+fill+verify", []int{runner.ExitOK}},
	{"delay=0:50x", []int{runner.ExitOK}},
	{"jitter=*:50%;kill=1,p=0.01", []int{runner.ExitOK, runner.ExitRankLost}},
	{"jitter=*:50%;hang=1,p=0.01", []int{runner.ExitOK, runner.ExitDeadlock}},
	{"reduction", []int{runner.ExitUnverified, 1, runner.ExitDeadlock}},
}

// TestSimulationSweep simulates random collectives under whatever time can do to
// them: no order in which operations complete may change a byte, and what is made
// wrong is told by the exit code.
func TestSimulationSweep(t *testing.T) {
	wasm, err := newGuestBuilder(t.TempDir()).build("soak")
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	cache := t.TempDir()
	for i := range *sweep {
		c := sweepFaults[i%len(sweepFaults)]
		device := []string{"sim:h100", "sim:cpu", "sim:a100x2", "sim:pcie5"}[draw.IntN(4)]
		args := []string{"-q", "--data", "--device", device, "-n", fmt.Sprint(2 + draw.IntN(9)), "--seed", fmt.Sprint(draw.Uint32())}
		if c.fault != "" {
			args = append(args, "--fault", c.fault)
		}
		command := append(args, wasm, "-rounds", "10", "-renew", "4")
		cmd := exec.Command("ccrun", command...)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+cache)
		output, err := cmd.CombinedOutput()
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(c.codes, code) {
			t.Errorf("ccrun %s\nexits with %d, want one of %v\n%s", strings.Join(command, " "), code, c.codes, output)
		}
	}
}
