package runner

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
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
	cmd     *exec.Cmd
	words   *lastWords
	copying sync.WaitGroup // of what the guest prints
}

// wordsDelay is how long the Go runtime's last words may take to arrive after
// the process has ended.
const wordsDelay = 2 * time.Second

// startChild starts a rank. Its standard input is empty; what the Go runtime
// may have to say goes to descriptor 2, the guest's own to others.
func startChild(s *starter, self string, environ []string, spec *spec, cpu int, stdout, stderr *lineWriter) (*child, error) {
	spec.GuestStderr = true
	c := &child{words: &lastWords{}}
	out, err := c.pipeTo(stdout)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	diagnostics, err := c.pipeTo(stderr)
	if err != nil {
		return nil, err
	}
	defer diagnostics.Close()
	c.cmd = exec.Command(self, "__rank")
	c.cmd.Env = append(withoutVariable(environ, specVariable), specVariable+"="+spec.String())
	c.cmd.Stdout, c.cmd.Stderr = out, c.words
	c.cmd.ExtraFiles = []*os.File{diagnostics} // descriptor guestStderr
	c.cmd.WaitDelay = wordsDelay
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.start(c.cmd, cpu); err != nil {
		return nil, err
	}
	return c, nil
}

// pipeTo makes a pipe and gives its write end. What comes through is passed on
// until nobody has that end open.
func (c *child) pipeTo(out *lineWriter) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.copying.Go(func() {
		defer read.Close()
		_, _ = io.Copy(out, read) // there is nobody to tell
		out.flush()
	})
	return write, nil
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

// wait waits for the end of the process. What it has printed may take longer to
// be passed on: as long as nobody reads.
func (c *child) wait() exitStatus {
	_ = c.cmd.Wait() // the state says more
	status := exitStatus{code: c.cmd.ProcessState.ExitCode(), lastWord: c.words.firstLine()}
	status.text = c.cmd.ProcessState.String()
	if w, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		status.text = "killed by " + unix.SignalName(w.Signal())
	} else {
		status.text = strings.Replace(status.text, "exit status", "exited with code", 1)
	}
	return status
}

// kill ends the process at once. It never meets another one of the same
// number: the standard library knows whether the process has been waited for.
func (c *child) kill() { _ = c.cmd.Process.Kill() } // it may have ended
