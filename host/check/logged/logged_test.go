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

// TestBounds holds that logs which would take too much are refused, and why.
func TestBounds(t *testing.T) {
	var ranks, others, numbers strings.Builder
	for rank := range logged.RanksMax {
		if rank > 0 {
			fmt.Fprintf(&others, "rank %d\nend\n", rank)
			numbers.WriteByte(',')
		}
		fmt.Fprint(&numbers, rank)
	}
	ranks.Write(oplog.AppendHead(nil, "cpu", logged.RanksMax))
	var comms, lists strings.Builder
	for number := range logged.MembersMax/logged.RanksMax + 1 {
		fmt.Fprintf(&comms, "comm g%d \"%d\" all\n", number+1, number)
	}
	for number := range logged.TextBytesMax/logged.RanksMax/numbers.Len() + 1 {
		fmt.Fprintf(&lists, "comm g%d \"%d\" %s\n", number+1, number, numbers.String())
	}
	for _, c := range []struct{ lines, want string }{
		{"rank 0\n" + strings.Repeat("barrier_late\n", logged.EntriesMax/logged.RanksMax+1) + "end\n" + others.String(), "calls and barriers of the log have more than"},
		{"rank 0\n" + comms.String() + "end\n" + others.String(), "communicators of the log have more than"},
		{"rank *\n" + lists.String() + "end\n", "bytes in its lines"},
	} {
		log, err := oplog.Parse(strings.NewReader(ranks.String()+c.lines), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := logged.Schedule(log); err == nil || !strings.Contains(err.Error(), c.want) {
			message := fmt.Sprint(err)
			t.Errorf("%.200s, want %s", message, c.want)
		}
	}
}
