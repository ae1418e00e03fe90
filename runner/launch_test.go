package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// When a rank cannot be started those that could be have ended before the run
// directory is removed. What they leave running here shows who has waited.
func TestFailedStartWaitsForTheStarted(t *testing.T) {
	marks := t.TempDir()
	config := testConfig(t, write(t), 64)
	config.Self = script(t, fmt.Sprintf("cd %s; (touch begun.$$; sleep 0.5; touch late.$$) & exec sleep 1000", marks))
	config.Stdout, config.Stderr = new(strings.Builder), new(strings.Builder)
	allowDescriptors(t, 80)
	_, err := Run(t.Context(), config)
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != ExitUsage || !strings.Contains(refused.Text, "cannot start rank ") || strings.HasPrefix(refused.Text, "cannot start rank 0:") {
		t.Fatalf("%v", err)
	}
	begun, _ := filepath.Glob(filepath.Join(marks, "begun.*"))
	for _, mark := range begun {
		if _, err := os.Stat(strings.Replace(mark, "begun", "late", 1)); err != nil {
			t.Error("a process still ran: ", err)
		}
	}
	if len(begun) == 0 || !isEmpty(t, config.TempDir) {
		t.Errorf("%d ranks were started; empty %v", len(begun), isEmpty(t, config.TempDir))
	}
}

// allowDescriptors limits this process to so many more open files for one test.
func allowDescriptors(t *testing.T, more int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := unix.Rlimit{Cur: uint64(len(entries) + more), Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
}
