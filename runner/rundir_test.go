package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func isEmpty(t *testing.T, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) == 0
}

func TestRunDirLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	d, err := openRunDir(&Config{TempDir: temp}, "1234")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(flightPath(d.path, 0), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.remove(); err != nil {
		t.Fatal(err)
	}
	if !isEmpty(t, temp) {
		t.Error("something is left")
	}
}

func TestRunDirsOfManyRunsAtOnce(t *testing.T) {
	temp := t.TempDir()
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 20 {
				d, err := openRunDir(&Config{TempDir: temp}, randomID(8))
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(flightPath(d.path, 0), nil, 0o600); err != nil {
					t.Error("swept away while in use: ", err)
				}
				if err := d.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if !isEmpty(t, temp) {
		t.Error("something is left")
	}
}

// One place is never that of two runs at once, though each disposes of it.
func TestMeetingsOfManyRunsInOnePlace(t *testing.T) {
	c, p := &Config{TempDir: t.TempDir()}, &place{launcher: "torchrun", session: "MASTER_PORT=1", size: 2}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 80 {
				d, err := openMeetingDir(c, p)
				if err != nil {
					t.Error(err)
					return
				}
				mine, err := os.OpenFile(filepath.Join(d.path, "mine"), os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					t.Errorf("another run has the place, or has removed it: %v", err)
				} else {
					mine.Close()
				}
				if err := d.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if !isEmpty(t, c.TempDir) {
		t.Error("something is left")
	}
}

func TestSweepRemovesWhatAKilledLauncherLeft(t *testing.T) {
	temp := t.TempDir()
	dead, err := openRunDir(&Config{TempDir: temp}, "dead")
	if err != nil {
		t.Fatal(err)
	}
	alive, err := openRunDir(&Config{TempDir: temp}, "alive")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := openRunDir(&Config{TempDir: temp}, "kept")
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.keep(); err != nil {
		t.Fatal(err)
	}
	dead.lock.Close() // as a kill does
	next, err := openRunDir(&Config{TempDir: temp}, "next")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range []*runDir{dead, alive, kept, next} {
		if _, err := os.Stat(d.path); err == nil {
			got = append(got, filepath.Base(d.path))
		}
	}
	if fmt.Sprint(got) != "[alive kept next]" {
		t.Errorf("there are %v", got)
	}
}

func TestOnlyRacesAreTriedAgain(t *testing.T) {
	temp := t.TempDir()
	dangling, file := filepath.Join(temp, "dangling"), filepath.Join(temp, "file")
	if err := os.Symlink(filepath.Join(temp, "nothing"), dangling); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for base, want := range map[string]bool{
		dangling:                          true, // as when base vanishes after it was found to exist
		filepath.Join(temp, "no", "\x00"): false,
		file:                              false,
		filepath.Join(file, "base"):       false,
	} {
		if err := makeIn(base, filepath.Join(base, "run")); err == nil || isRace(err) != want {
			t.Errorf("%s: tried again after %v: %v", base, err, isRace(err))
		}
	}
}

// A launcher may die before it has the lock, or after it has let it go.
func TestSweepRemovesWhatHasNoLock(t *testing.T) {
	const minutes = 2 * time.Minute
	for _, c := range []struct {
		name, file string
		age        time.Duration
		want       bool // it stays
	}{
		{"0000", "", minutes, false},
		{"0000", "", 0, true},
		{"0000", "rank-0000.json", minutes, true},
		{"0000", "run.json", minutes, true},
		{"0000", "rank-0000.flight", minutes, true},
		{gonePrefix + "1", "rank-0000.flight", minutes, false},
		{gonePrefix + "1", "rank-0000.flight", 0, true},
		{"join-1", tokenName, minutes, false},
	} {
		base := t.TempDir()
		dir := filepath.Join(base, c.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		made := time.Now().Add(-c.age)
		if err := os.Chtimes(dir, made, made); err != nil {
			t.Fatal(err)
		}
		sweep(base)
		if _, err := os.Stat(dir); (err == nil) != c.want {
			t.Errorf("%s with %q, %v old: %v", c.name, c.file, c.age, err)
		}
	}
}

func TestMeetingSweepsAsOtherRunsDo(t *testing.T) {
	temp := t.TempDir()
	dead, err := openRunDir(&Config{TempDir: temp}, "dead")
	if err != nil {
		t.Fatal(err)
	}
	dead.lock.Close() // as a kill does
	d, err := openMeetingDir(&Config{TempDir: temp}, &place{launcher: "torchrun", size: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.lock.Close()
	if _, err := os.Stat(dead.path); err == nil {
		t.Error("what a killed launcher left is still there")
	}
}

func TestMeetingThatIsKeptGetsItsRunsName(t *testing.T) {
	c, p := &Config{TempDir: t.TempDir()}, &place{launcher: "torchrun", size: 2}
	for _, runID := range []string{"one", "two"} {
		d, err := openMeetingDir(c, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(flightPath(d.path, 0), []byte(runID), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.settle(runID); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(d.path) != runID {
			t.Errorf("kept at %s", d.path)
		}
		if err := d.keep(); err != nil {
			t.Fatal(err)
		}
	}
	for _, runID := range []string{"one", "two"} {
		if data, err := os.ReadFile(flightPath(filepath.Join(runsDir(c.TempDir), runID), 0)); string(data) != runID {
			t.Errorf("run %s: %q, %v", runID, data, err)
		}
	}
}

// Who finds a directory in use is not told that it cannot be written.
func TestPlaceThatStaysInUse(t *testing.T) {
	c, p := &Config{TempDir: t.TempDir(), lockLimit: time.Millisecond}, &place{launcher: "torchrun", size: 2, session: "MASTER_PORT=1"}
	held, err := openRunDir(c, "1234")
	if err != nil {
		t.Fatal(err)
	}
	defer held.lock.Close()
	meeting, err := openMeetingDir(c, p)
	if err != nil {
		t.Fatal(err)
	}
	defer meeting.lock.Close()
	_, runErr := openRunDir(c, "1234")
	_, meetErr := openMeetingDir(c, p)
	for _, got := range []struct {
		err        error
		text, hint string
	}{
		{runErr, "other runs keep taking it", "run it again, or name a directory with --run-dir"},
		{meetErr, "another run of 2 ranks from torchrun holds the same place (MASTER_PORT=1)", "use another MASTER_PORT, or wait for that run to end"},
	} {
		var refused *Error
		if !errors.As(got.err, &refused) || !strings.Contains(refused.Text, got.text) || refused.Hint != got.hint {
			t.Errorf("%v: %+v", got.err, refused)
		}
	}
}

func TestRunDirOfTheUser(t *testing.T) {
	temp := t.TempDir()
	file := filepath.Join(temp, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	existing := filepath.Join(temp, "existing")
	if err := os.Mkdir(existing, 0o700); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(existing, "mine.txt")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := openRunDir(&Config{RunDir: existing}, "1")
	if err != nil {
		t.Fatal(err)
	}
	refusals := []struct{ dir, text string }{
		{existing, "is in use by another run"},
		{file, "not a directory"},
		{filepath.Join(file, "below"), "not a directory"},
		{"/proc/ccrun", "no such file or directory"},
	}
	for _, c := range refusals {
		_, err := openRunDir(&Config{RunDir: c.dir}, "2")
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != ExitUsage || !strings.Contains(refused.Text, c.text) || refused.Hint == "" {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
	for _, name := range []string{flightPath(existing, 0), reportPath(existing, 0), filepath.Join(existing, socketName)} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.remove(); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(existing); len(entries) != 1 || entries[0].Name() != "mine.txt" {
		t.Errorf("left: %v", entries)
	}
	if err := os.WriteFile(flightPath(existing, 0), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRunDir(&Config{RunDir: existing}, "3"); err == nil || !strings.Contains(err.Error(), "holds a run already") {
		t.Errorf("a directory with a run: %v", err)
	}
}
