package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ccrun/ccrun/host/flight"
)

// exitsCommand is `exits CODE PROGRAM [ARG...]`: exec that looks at the code.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptDeadline bounds what a script waits for.
const scriptDeadline = 20 * time.Second

// eventually waits for a condition of other processes.
func eventually(ts *testscript.TestScript, what string, holds func() bool) {
	deadline := time.After(scriptDeadline)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			ts.Fatalf("%s: not within %v", what, scriptDeadline)
		case <-tick.C:
		}
	}
}

// cleanCommand is `clean`: no process of this script runs any more, and
// neither the temporary directory nor /dev/shm holds a file of ccrun's.
func cleanCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: clean")
	}
	// A killed process may take a moment to be reaped.
	eventually(ts, "processes end", func() bool { return len(processes(ts, "")) == 0 })
	for _, dir := range []string{ts.Getenv("TMPDIR"), "/dev/shm"} {
		ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if !d.IsDir() && strings.Contains(path[len(filepath.Dir(dir)):], "ccrun") {
				ts.Fatalf("left behind: %s", path)
			}
			return nil
		}))
	}
}

// processes lists this script's ccrun processes, which have its temporary
// directory in their environment: with a rank's arguments if so asked.
func processes(ts *testscript.TestScript, with string) []int {
	mine := "TMPDIR=" + ts.Getenv("TMPDIR")
	entries, err := os.ReadDir("/proc")
	ts.Check(err)
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if len(line) > 0 && strings.Contains("\x00"+string(environ), "\x00"+mine+"\x00") && strings.Contains(string(line)+string(environ), with) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// midRunCommand is `midrun RANK`: waits until a rank's guest carries out
// operations.
func midRunCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: midrun RANK")
	}
	rank, err := strconv.Atoi(args[0])
	ts.Check(err)
	flightOf(ts, rank)
}

// flightOf gives the process of a rank that is in the middle of its run.
func flightOf(ts *testscript.TestScript, rank int) (pid int) {
	const recordsMin = 100
	name := "rank-" + strings.Repeat("0", 4-len(strconv.Itoa(rank))) + strconv.Itoa(rank) + ".flight"
	eventually(ts, "rank "+strconv.Itoa(rank)+" works", func() bool {
		err := filepath.WalkDir(ts.Getenv("TMPDIR"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != name {
				return nil
			}
			log, err := flight.Open(path)
			if err != nil {
				return nil
			}
			defer log.Close()
			if log.Counters().Records >= recordsMin {
				pid = log.PID
				return fs.SkipAll
			}
			return nil
		})
		return err == nil && pid != 0
	})
	return pid
}

// killRankCommand is `killrank RANK`: kills a rank in the middle of its run.
func killRankCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: killrank RANK")
	}
	rank, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(syscall.Kill(flightOf(ts, rank), syscall.SIGKILL))
}
