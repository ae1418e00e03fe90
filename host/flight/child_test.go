package flight_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/flight"
)

// children are what this test binary does when a test starts it again.
var children = map[string]func(path string) error{
	"killed":  appendAndDie,
	"limited": appendPastFileLimit,
	"refused": createPastFileLimit,
}

// TestMain runs a child's part if the environment names one.
func TestMain(m *testing.M) {
	if child := children[os.Getenv("FLIGHT_TEST_CHILD")]; child != nil {
		if err := child(os.Getenv("FLIGHT_TEST_PATH")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild runs the named child and gives its output and how it ended.
func runChild(t *testing.T, name, path string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), "FLIGHT_TEST_CHILD="+name, "FLIGHT_TEST_PATH="+path)
	out, err := c.CombinedOutput()
	return string(out), err
}

const killedAfter = segmentRecords + 4321

// appendAndDie is killed as kill -9 does it, in the middle of a wait.
func appendAndDie(path string) error {
	w, err := flight.Create(path, flight.Meta{Rank: 1, Size: 2, PID: os.Getpid()}, 4*segmentRecords)
	if err != nil {
		return err
	}
	w.SetState(flight.StateRunning)
	w.Name("ring")
	for i := range killedAfter {
		r := numbered(i)
		w.Append(&r)
	}
	w.BeginWait(2, flight.Wait{Kind: 5, Peer: 0, Slot: 4, Value: 10, Seen: 9})
	w.CheckWait(2, 9)
	return unix.Kill(os.Getpid(), unix.SIGKILL)
}

// TestSurvivesKill reads what a killed process has written: all of it.
func TestSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank-0001.flight")
	out, err := runChild(t, "killed", path)
	if err == nil || err.Error() != "signal: killed" {
		t.Fatalf("child: %v\n%s", err, out)
	}
	l := open(t, path)
	if l.State() != flight.StateRunning || l.Name(1) != "ring" || l.Counters().Records != killedAfter {
		t.Errorf("state %v, name %q, counters %+v", l.State(), l.Name(1), l.Counters())
	}
	want := flight.Lane{State: flight.LaneWaiting, Epoch: 2, Checks: 1, Wait: flight.Wait{Kind: 5, Slot: 4, Value: 10, Seen: 9}}
	if got := l.Lanes()[2]; got != want {
		t.Errorf("lane 2 %+v, want %+v", got, want)
	}
	count := 0
	for r := range l.Records() {
		if r.Start != int64(count)*3 || r.Bytes != uint64(count)*5 {
			t.Fatalf("record %d: %+v", count, r)
		}
		count++
	}
	if last, _ := l.Last(); count != killedAfter || !sameRecord(last, numbered(killedAfter-1)) {
		t.Errorf("%d records, want %d; the last is %+v", count, killedAfter, last)
	}
}

const limitRecords = segmentRecords + 1000

// setFileLimit leaves SIGXFSZ as it is: deadly.
func setFileLimit(bytes uint64) error {
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes})
}

func appendPastFileLimit(path string) error {
	if err := setFileLimit(64<<10 + limitRecords*flight.RecordBytes); err != nil {
		return err
	}
	w, err := flight.Create(path, flight.Meta{Size: 1}, 4*segmentRecords)
	if err != nil {
		return err
	}
	for i := range 3 * segmentRecords {
		r := numbered(i)
		w.Append(&r)
	}
	return w.Close()
}

func createPastFileLimit(path string) error {
	if err := setFileLimit(1 << 20); err != nil {
		return err
	}
	_, err := flight.Create(path, flight.Meta{Size: 1}, 0)
	return err
}

// TestFileSizeLimit writes under ulimit -f: what does not fit is dropped and
// counted.
func TestFileSizeLimit(t *testing.T) {
	if signal.Ignored(unix.SIGXFSZ) {
		t.Skip("SIGXFSZ is ignored here, so the test would prove nothing")
	}
	path := filepath.Join(t.TempDir(), "rank-0000.flight")
	if out, err := runChild(t, "limited", path); err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	l := open(t, path)
	if c := l.Counters(); c.Records != 3*segmentRecords || c.Dropped != 3*segmentRecords-limitRecords {
		t.Errorf("counters %+v, want %d dropped", c, 3*segmentRecords-limitRecords)
	}
	if last, _ := l.Last(); !sameRecord(last, numbered(limitRecords-1)) {
		t.Errorf("last record %+v, want number %d", last, limitRecords-1)
	}
	path += ".refused"
	out, err := runChild(t, "refused", path)
	if want := "flight file: file too large: the limit of file sizes (ulimit -f) is too low\n"; err == nil || out != want {
		t.Errorf("child under a limit too low for any record: %v, says %q, want %q", err, out, want)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the refused file: %v", err)
	}
}

// TestFullDisk fills a small file system: what does not fit is dropped and
// counted, and no store faults.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 10<<20)
	path := filepath.Join(dir, "rank-0000.flight")
	w, err := flight.Create(path, flight.Meta{Size: 1}, 8*segmentRecords)
	if err != nil {
		t.Fatal(err)
	}
	const n, fits = 4 * segmentRecords, 2 * segmentRecords
	for i := range n {
		r := numbered(i)
		w.Append(&r)
	}
	l := open(t, path)
	if c := l.Counters(); c.Records != n || c.Dropped != n-fits {
		t.Errorf("counters %+v, want %d of %d dropped", c, n-fits, n)
	}
	if last, _ := l.Last(); !sameRecord(last, numbered(fits-1)) {
		t.Errorf("last record %+v, want number %d", last, fits-1)
	}
	second := filepath.Join(dir, "rank-0001.flight")
	if _, err := flight.Create(second, flight.Meta{Size: 1}, 0); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("create on a full disk: %v", err)
	}
	if _, err := os.Stat(second); !os.IsNotExist(err) {
		t.Errorf("the file that did not fit: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if last, _ := l.Last(); !sameRecord(last, numbered(fits-1)) {
		t.Errorf("last record after close %+v, want number %d", last, fits-1)
	}
}

// smallDisk mounts a file system in memory, where that is allowed.
func smallDisk(t *testing.T, bytes int64) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", bytes)); err != nil {
		t.Skipf("mounting a small file system: %v (needs root)", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
