package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

var rewrite = flag.Bool("rewrite", false, "write what the commands print into the scripts' golden files")

// TestMain lets scripts run this very program as ccrun.
func TestMain(m *testing.M) {
	// Under nohup, what scripts start would not hear that its terminal goes away:
	// a signal that is caught here is not ignored there.
	if filepath.Base(os.Args[0]) != "ccrun" && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, map[string]func(){"ccrun": main})
}

// TestScripts runs the command line as users do. Each script says in its first
// line what it shows.
func TestScripts(t *testing.T) {
	shared, cache := t.TempDir(), goCache(t)
	guests := newGuestBuilder(filepath.Join(shared, "guests"))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *rewrite,
		Setup: func(env *testscript.Env) error {
			// One compile cache for all scripts, as users have one for all runs.
			env.Setenv("XDG_CACHE_HOME", filepath.Join(shared, "cache"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GOCACHE_SHARED", cache)
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Condition: toolchainCondition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"guest":     guests.command,
			"exits":     exitsCommand,
			"clean":     cleanCommand,
			"killrank":  killRankCommand,
			"midrun":    midRunCommand,
			"collector": collectorCommand,
			"kept":      keptCommand,
			"odd":       oddCommand,
			"result":    resultCommand,
		},
	})
}

// goCache is the directory of the toolchain's build cache.
func goCache(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(dir))
}

// toolchainCondition is [toolchain:NAME]: guests of that language can be built.
func toolchainCondition(condition string) (bool, error) {
	name, ok := strings.CutPrefix(condition, "toolchain:")
	for _, toolchain := range tck.Toolchains() {
		if ok && toolchain.Name == name {
			return toolchain.Missing() == "", nil
		}
	}
	return false, fmt.Errorf("unknown condition %q", condition)
}
