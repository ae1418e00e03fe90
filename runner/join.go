package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/runner/guest"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

// Processes that another launcher has started meet in a directory that all of
// them can name: rank 0 makes it, serves the rendezvous in it and launches a
// process for itself; the others run their rank in place.
const (
	joinTimeout = 60 * time.Second
	joinPoll    = 20 * time.Millisecond
)

// joinRequest is what a process says that claims a rank.
type joinRequest struct {
	PID int `json:"pid"`
}

// meetingDir names the directory: the one that the user gave to all, or one
// named after what the launcher calls the run, or after the process that
// started them all.
func meetingDir(c *Config, p *place) (path, base string, err error) {
	if c.RunDir != "" {
		path, err = filepath.Abs(c.RunDir)
		return path, "", err
	}
	base = runsDir(c.TempDir)
	session := p.session
	if session == "" {
		session = fmt.Sprint("parent ", os.Getppid())
	}
	sum := sha256.Sum256([]byte(p.launcher + " " + session))
	return filepath.Join(base, "join-"+hex.EncodeToString(sum[:8])), base, nil
}

// openMeetingDir makes the directory for rank 0, once the run that had it
// before has ended.
func openMeetingDir(c *Config, p *place) (*runDir, error) {
	path, base, err := meetingDir(c, p)
	if err != nil {
		return nil, err
	}
	if base == "" {
		return useRunDir(path)
	}
	sweep(base)
	d, err := makeAndLock(base, path, cmp.Or(c.lockLimit, lockTimeout))
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, refuse("use another MASTER_PORT, or wait for that run to end", "another run of %d ranks from %s holds the same place (%s)", p.size, p.launcher, p.session)
	case err != nil:
		return nil, err
	}
	if err := d.clear(); err != nil { // of a run that was killed while this one waited for it
		d.lock.Close()
		return nil, unwritable(path, err)
	}
	return d, nil
}

// invite lets the other ranks find the rendezvous.
func (l *launcher) invite(s *supervisor) error {
	p := l.place
	l.console.note(l.config.Stderr, "rank %d of %d, as the variables of %s say", p.rank, p.size, p.launcher)
	if err := s.store.Set(keySpec, []byte(l.spec.String())); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	token := filepath.Join(l.dir.path, tokenName)
	if err := os.WriteFile(token+".part", []byte(l.spec.Token), 0o600); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	if err := os.Rename(token+".part", token); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	limit := joinTimeout
	if t := l.config.Timeout; t > 0 && t < limit {
		limit = t
	}
	for rank := 1; rank < p.size; rank++ {
		go awaitJoin(s, rank, limit)
	}
	return nil
}

// awaitJoin waits for a process to claim a rank, and then for its end.
func awaitJoin(s *supervisor, rank int, limit time.Duration) {
	data, err := s.store.Get(keyJoin(rank), limit)
	var request joinRequest
	if err != nil || json.Unmarshal(data, &request) != nil || request.PID <= 0 {
		s.events <- event{rank: rank, missing: true}
		return
	}
	fd, err := unix.PidfdOpen(request.PID, 0)
	if err != nil {
		s.events <- unwatchable(s, rank, err)
		return
	}
	process := &joined{fd: fd}
	defer process.close()
	s.events <- event{rank: rank, process: process}
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == nil || !errors.Is(err, unix.EINTR) {
			break
		}
	}
	s.events <- gone(rank)
}

func gone(rank int) event {
	return event{rank: rank, exit: &exitStatus{unknown: true, text: "its process has ended"}}
}

// unwatchable is what happened to a rank whose process cannot be opened.
func unwatchable(s *supervisor, rank int, err error) event {
	if errors.Is(err, unix.ESRCH) {
		return gone(rank)
	}
	text := fmt.Sprintf("rank 0 cannot watch its process (pidfd_open: %v)", err)
	return event{rank: rank, report: &report{Rank: rank, Kind: KindSetup, Code: exitCodes[KindSetup], Text: text, EndNanos: s.clock.Now()}}
}

// joined is the process of a rank that another launcher has started. Its number
// may be another process's as soon as it has ended: a descriptor stands for it.
type joined struct {
	mu sync.Mutex
	fd int // -1 once it has ended
}

func (j *joined) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fd >= 0 {
		_ = unix.PidfdSendSignal(j.fd, unix.SIGKILL, nil, 0) // it may have ended
	}
}

func (j *joined) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	unix.Close(j.fd)
	j.fd = -1
}

// follow runs this process's rank in a run that the process of rank 0 launches.
func follow(ctx context.Context, c Config, p *place) (*Result, error) {
	began := time.Now()
	s, err := meet(ctx, &c, p)
	if err != nil {
		return nil, refusal(err)
	}
	if c.Pin {
		pinProcess(p.localRank)
	}
	exchange, err := rendezvous.Dial(s.Socket, s.Token)
	if err != nil {
		return nil, refusal(err)
	}
	defer exchange.Close()
	unwatch := context.AfterFunc(ctx, func() {
		order := abortOrder{Kind: KindSignal, Code: ExitSignal, Text: fmt.Sprintf("rank %d was stopped by a signal", p.rank)}
		if data, err := json.Marshal(order); err == nil {
			_ = exchange.Set(keyAbort, data) // if the launcher is gone, the rank stops by itself
		}
	})
	defer unwatch()
	var out console
	stdout, stderr := out.lines(&c, p.rank, c.Stdout), out.lines(&c, p.rank, c.Stderr)
	code := runRank(context.WithoutCancel(ctx), s, stdout, stderr)
	stdout.flush()
	stderr.flush()
	return &Result{
		RunID: s.RunID, Launcher: p.launcher, Labels: c.Labels, Ranks: p.size, ExitCode: code, Wall: time.Since(began),
		Remove: func() error { return nil },
	}, nil
}

// meet claims this process's rank: it tries until rank 0 is there.
func meet(ctx context.Context, c *Config, p *place) (*spec, error) {
	dir, base, err := meetingDir(c, p)
	if err != nil {
		return nil, err
	}
	limit := joinTimeout
	if c.Timeout > 0 && c.Timeout < limit {
		limit = c.Timeout
	}
	ticker := time.NewTicker(joinPoll)
	defer ticker.Stop()
	deadline := time.After(limit)
	var last error
	for {
		s, err := claim(dir, base, c, p)
		var refused *Error
		if err == nil || errors.As(err, &refused) {
			return s, err
		}
		last = err
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, &Error{Code: ExitSignal, Text: "stopped by a signal"}
		case <-deadline:
			return nil, &Error{Code: ExitRankLost, Text: fmt.Sprintf("rank %d found no rank 0 within %v: %v", p.rank, limit, last),
				Hint: "start all ranks with the same variables (" + strings.Join(launcherNamed(p.launcher).sessions, ", ") + ")"}
		}
	}
}

// claim makes one attempt, in the directory dir below base.
func claim(dir, base string, c *Config, p *place) (*spec, error) {
	if base != "" {
		if err := guest.CheckPrivate(base); err != nil { // what lies there is trusted
			return nil, err
		}
	}
	token, err := os.ReadFile(filepath.Join(dir, tokenName))
	if err != nil {
		return nil, errors.New("nobody is there")
	}
	exchange, err := rendezvous.Dial(filepath.Join(dir, socketName), string(token))
	if err != nil {
		return nil, err
	}
	defer exchange.Close()
	mine, err := json.Marshal(joinRequest{PID: os.Getpid()})
	if err != nil {
		return nil, fmt.Errorf("join request: %w", err)
	}
	data, err := exchange.Get(keySpec, 0)
	if err != nil {
		return nil, err
	}
	s, err := parseSpec(string(data))
	if err != nil {
		return nil, err
	}
	if err := checkAgreement(s, c, p); err != nil {
		order := abortOrder{Kind: KindSetup, Code: ExitUsage, Text: err.Text}
		if data, e := json.Marshal(order); e == nil {
			_ = exchange.Set(keyAbort, data) // this process ends in any case
		}
		return nil, err
	}
	got, err := exchange.CompareAndSwap(keyJoin(p.rank), nil, mine)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(got, mine) {
		return nil, fmt.Errorf("rank %d is taken by another process", p.rank)
	}
	s.Rank, s.LocalRank, s.LocalSize = p.rank, p.localRank, p.localSize
	return s, nil
}

// checkAgreement finds what a process says otherwise than rank 0, which cannot
// be left at that.
func checkAgreement(s *spec, c *Config, p *place) *Error {
	switch {
	case s.Size != p.size:
		return refuse("start all ranks with the same number of ranks", "rank 0 says that there are %d ranks, rank %d says %d", s.Size, p.rank, p.size)
	case len(c.Algorithms) > 0 && c.Algorithms.String() != s.Algorithms:
		return refuse("give all ranks the same table, or rank 0 only", "rank %d selects algorithms by another table than rank 0", p.rank)
	case c.Fault != "" && c.Fault != s.Fault:
		return refuse("give all ranks the same faults, or rank 0 only", "rank %d wants other faults than rank 0", p.rank)
	}
	return nil
}

func launcherNamed(name string) *launcherVariables {
	for i := range launchers {
		if launchers[i].name == name {
			return &launchers[i]
		}
	}
	return &launchers[0]
}

// pinProcess keeps all threads of this process, and so those that they will
// start, on one of the processors that it may use.
func pinProcess(index int) {
	_, cpus := allowedCPUs()
	if len(cpus) < 2 {
		return // the launcher has done it
	}
	var set unix.CPUSet
	set.Set(cpus[index%len(cpus)])
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		var tid int
		if _, err := fmt.Sscan(thread.Name(), &tid); err == nil {
			_ = unix.SchedSetaffinity(tid, &set) // the thread may have ended
		}
	}
}
