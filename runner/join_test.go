package runner

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
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
