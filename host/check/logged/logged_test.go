package logged_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/check"
	"github.com/ccrun/ccrun/host/check/logged"
	"github.com/ccrun/ccrun/host/device/oplog"
)

// TestFindings shows what is found in logs: check takes the ranks' lines, and
// how many ranks there are.
func TestFindings(t *testing.T) {
	datadriven.RunTest(t, "testdata/findings", func(t *testing.T, d *datadriven.TestData) string {
		states, ranks := 1_000_000, 2
		d.MaybeScanArgs(t, "states", &states)
		d.MaybeScanArgs(t, "ranks", &ranks)
		return examine(string(oplog.AppendHead(nil, "cpu", ranks))+d.Input+"\n", states)
	})
}

func examine(text string, states int) string {
	log, err := oplog.Parse(strings.NewReader(text), nil)
	if err != nil {
		return "log: " + err.Error() + "\n"
	}
	s, err := logged.Schedule(log)
	if err != nil {
		return "schedule: " + err.Error() + "\n"
	}
	result, err := check.Check(s, states)
	if err != nil {
		return "check: " + err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d operations, orders %d, states %d, complete %v\n", result.Operations, result.Orders, result.States, result.Complete)
	for i := range result.Findings {
		f := &result.Findings[i]
		fmt.Fprintf(&b, "%s, %s\n", f.Class, strings.ReplaceAll(f.Text(), "\n", "\n  "))
	}
	return b.String()
}

// FuzzSchedule holds that no log that can be read makes the reader or the check
// panic or go on for long.
func FuzzSchedule(f *testing.F) {
	text, err := os.ReadFile("testdata/findings")
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n\n") {
		lines, _, _ := strings.Cut(part, "\n----")
		if _, body, ok := strings.Cut(lines, "\n"); ok {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, lines string) {
		log, err := oplog.Parse(strings.NewReader(string(oplog.AppendHead(nil, "cpu", 3))+lines+"\n"), nil)
		if err != nil {
			return
		}
		s, err := logged.Schedule(log)
		if err != nil {
			return
		}
		result, err := check.Check(s, 20_000)
		if err != nil {
			return
		}
		for i := range result.Findings {
			if text := result.Findings[i].Text(); text == "" || strings.Contains(text, "%!") {
				t.Errorf("a finding reads %q", text)
			}
		}
	})
}
