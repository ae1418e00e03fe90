package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
