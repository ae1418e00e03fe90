package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/runner/wasm"
)

// Only a process that is not there has ended: one that cannot be watched has a
// launcher that cannot run it.
func TestProcessThatCannotBeWatched(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{unix.ESRCH, "111 rank lost: rank 1 was lost: its process has ended"},
		{unix.ENOSYS, "104 setup failed: rank 1 could not start: rank 0 cannot watch its process (pidfd_open: function not implemented)"},
		{unix.EPERM, "104 setup failed: rank 1 could not start: rank 0 cannot watch its process (pidfd_open: operation not permitted)"},
	} {
		s := watchOver(t, 2)
		s.handle(unwatchable(s, 1, c.err))
		if got := outcomeOf(s); got != c.want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.err, got, c.want)
		}
	}
}

// A process is killed as long as it is the one that has joined.
func TestKillOfAJoinedProcess(t *testing.T) {
	cmds := []*exec.Cmd{exec.Command("sleep", "1000"), exec.Command("sleep", "1000")}
	fds := make([]int, len(cmds))
	for i, cmd := range cmds {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Skip("this system has no process descriptors: ", err)
		}
		fds[i] = fd
	}
	first := &joined{fd: fds[0]}
	first.kill()
	_ = cmds[0].Wait() // the state says more
	if got := cmds[0].ProcessState.String(); got != "signal: killed" {
		t.Errorf("%s", got)
	}
	first.close()
	if err := unix.Dup3(fds[1], fds[0], unix.O_CLOEXEC); err != nil { // the number goes to another process
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	first.kill()
	if err := unix.PidfdSendSignal(fds[1], unix.SIGTERM, nil, 0); err != nil {
		t.Error(err)
	}
	_ = cmds[1].Wait()
	if got := cmds[1].ProcessState.String(); got != "signal: terminated" {
		t.Error("another process was killed: ", got)
	}
}

// joinMain is one process of a run that "another launcher" has started.
func joinMain() int {
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv(joinVariable)), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitInternal
	}
	c.Env, c.Environ, c.Stdout, c.Stderr = os.Getenv, os.Environ(), os.Stdout, os.Stderr
	c.Environ = withoutVariable(c.Environ, joinVariable)
	r, err := Run(context.Background(), c)
	if err != nil {
		fmt.Println("refused:", err)
		return refusal(err).Code
	}
	defer func() { _ = r.Remove() }()
	if r.Verdict != nil {
		fmt.Println(r.Verdict.Text)
	}
	return r.ExitCode
}

// encode gives what of a Config is data.
func encode(t *testing.T, c Config) string {
	t.Helper()
	data, err := json.Marshal(struct {
		WasmPath, Device, Self, CacheDir, TempDir, RunDir string
		Timeout                                           time.Duration
		Pin, Keep                                         bool
	}{c.WasmPath, c.Device, c.Self, c.CacheDir, c.TempDir, c.RunDir, c.Timeout, c.Pin, c.Keep})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// join starts a process for each environment and gives exit codes and outputs.
func join(t *testing.T, c Config, environments ...string) string {
	t.Helper()
	config := encode(t, c)
	outcomes := make([]string, len(environments))
	var running sync.WaitGroup
	for i, env := range environments {
		cmd := exec.Command(c.Self)
		cmd.Env = append(append(os.Environ(), joinVariable+"="+config), strings.Fields(env)...)
		running.Go(func() {
			out, _ := cmd.Output()
			outcomes[i] = fmt.Sprintf("%d %s", cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out)))
		})
	}
	running.Wait()
	if !c.Keep && !isEmpty(t, c.TempDir) {
		t.Error("files are left behind")
	}
	return strings.Join(outcomes, "\n")
}

func byHand(rank, size int) string {
	return fmt.Sprintf("RANK=%d WORLD_SIZE=%d MASTER_ADDR=localhost MASTER_PORT=29500", rank, size)
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name string
		body []byte
		envs []string
		want string
	}{
		{"three by hand", enterBarrier(), []string{byHand(2, 3), byHand(1, 3), byHand(0, 3)}, "0 \n0 \n0"},
		{"one alone", enterBarrier(), []string{byHand(0, 1)}, "0"},
		{"trap of the launcher's", wasm.Code(enterBarrier(), only(wasm.Unreachable()), enterBarrier()), []string{byHand(0, 2), byHand(1, 2)},
			"107 rank 0 trapped: unreachable\nat main.work\nat runtime.start\n107"},
		{"deadlock", wasm.Code(enterBarrier(), only(exit(0)), enterBarrier()), []string{byHand(0, 2), byHand(1, 2)},
			"112 deadlock: no rank can move\nrank 0 has ended: its guest returned\nrank 1 waits in main.work: barrier 2: wait for rank 0, which has entered 1\n" +
				"behind: rank 0 has ended (its guest returned) and rank 1 waits for it\n112"},
		{"sizes disagree", enterBarrier(), []string{byHand(0, 2), byHand(1, 3)},
			"104 rank 0 says that there are 2 ranks, rank 1 says 3\n104 refused: rank 0 says that there are 2 ranks, rank 1 says 3"},
		{"one is missing", enterBarrier(), []string{byHand(0, 3), byHand(1, 3)}, "111 rank 2 has not joined\n111"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, write(t, c.body), 0)
			config.Timeout = time.Minute
			if c.name == "one is missing" {
				config.Timeout = 4 * time.Second
			}
			if got := strings.TrimSpace(join(t, config, c.envs...)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Runs that meet in one place are all kept.
func TestJoinedRunsThatAreKept(t *testing.T) {
	config := testConfig(t, write(t, enterBarrier()), 0)
	config.Keep = true
	for range 2 {
		if got := join(t, config, byHand(1, 2), byHand(0, 2)); strings.TrimSpace(got) != "0 \n0" {
			t.Errorf("got %s", got)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(runsDir(config.TempDir), "*", "rank-*.flight"))
	if len(kept) != 4 || strings.Contains(strings.Join(kept, ""), "join-") {
		t.Errorf("kept: %q", kept)
	}
}
