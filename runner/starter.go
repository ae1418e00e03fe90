package runner

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// starter starts processes from one thread that lives as long as the run: the
// kernel kills a child when the thread that started it ends, and a child
// inherits the processors that this thread may use.
type starter struct {
	requests chan startRequest
	allowed  unix.CPUSet
	cpus     []int
}

type startRequest struct {
	cmd  *exec.Cmd
	cpu  int // index, -1 for any
	done chan error
}

func newStarter() *starter {
	s := &starter{requests: make(chan startRequest)}
	s.allowed, s.cpus = allowedCPUs()
	go s.serve()
	return s
}

// allowedCPUs lists the processors that this process may use.
func allowedCPUs() (set unix.CPUSet, cpus []int) {
	if unix.SchedGetaffinity(0, &set) != nil {
		return set, nil
	}
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return set, cpus
}

// serve ends with its thread, whose affinity nobody should inherit.
func (s *starter) serve() {
	runtime.LockOSThread()
	for r := range s.requests {
		s.setCPU(r.cpu)
		r.done <- r.cmd.Start()
	}
}

// setCPU limits the thread to one processor, as far as the system lets it.
func (s *starter) setCPU(index int) {
	set := s.allowed
	if index >= 0 && len(s.cpus) > 0 {
		set.Zero()
		set.Set(s.cpus[index%len(s.cpus)])
	}
	if len(s.cpus) > 0 {
		_ = unix.SchedSetaffinity(0, &set)
	}
}

func (s *starter) start(cmd *exec.Cmd, cpu int) error {
	done := make(chan error)
	s.requests <- startRequest{cmd, cpu, done}
	return <-done
}

// close lets the thread go: processes that still run are killed.
func (s *starter) close() { close(s.requests) }

// exitStatus is how a process ended.
type exitStatus struct {
	text     string // "exited with code 3", "was killed by SIGKILL"
	code     int    // -1 if killed
	unknown  bool   // a process that others started: nobody can tell
	lastWord string // of the Go runtime
}

// child is the process of one rank that this launcher has started.
type child struct {
	cmd            *exec.Cmd
	stdout, stderr *lineWriter
	words          *lastWords
	stderrRead     *os.File
	stderrDone     chan struct{}
}

// startChild starts a rank. Its standard input is empty; what the Go runtime
// may have to say goes to descriptor 2, the guest's own to others.
func startChild(s *starter, self string, environ []string, spec *spec, cpu int, stdout, stderr *lineWriter) (*child, error) {
	spec.GuestStderr = true
	c := &child{stdout: stdout, stderr: stderr, words: &lastWords{}, stderrDone: make(chan struct{})}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	c.stderrRead = read
	c.cmd = exec.Command(self, "__rank")
	c.cmd.Env = append(withoutVariable(environ, specVariable), specVariable+"="+spec.String())
	c.cmd.Stdout, c.cmd.Stderr = stdout, c.words
	c.cmd.ExtraFiles = []*os.File{write} // descriptor guestStderr
	c.cmd.WaitDelay = 2 * time.Second
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.start(c.cmd, cpu); err != nil {
		read.Close()
		return nil, err
	}
	go func() {
		defer close(c.stderrDone)
		_, _ = io.Copy(stderr, read) // ends with the process
	}()
	return c, nil
}

func withoutVariable(environ []string, name string) []string {
	var out []string
	for _, e := range environ {
		if !strings.HasPrefix(e, name+"=") {
			out = append(out, e)
		}
	}
	return out
}

// wait waits for the process and for all that it has printed.
func (c *child) wait() exitStatus {
	_ = c.cmd.Wait() // the state says more
	select {
	case <-c.stderrDone:
	case <-time.After(c.cmd.WaitDelay): // somebody else holds the pipe open
	}
	c.stderrRead.Close()
	<-c.stderrDone
	c.stdout.flush()
	c.stderr.flush()
	status := exitStatus{code: c.cmd.ProcessState.ExitCode(), lastWord: c.words.firstLine()}
	status.text = c.cmd.ProcessState.String()
	if w, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		status.text = "killed by " + unix.SignalName(w.Signal())
	} else {
		status.text = strings.Replace(status.text, "exit status", "exited with code", 1)
	}
	return status
}

// kill ends the process and whatever is in its group at once.
func (c *child) kill() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
}
