package runner

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestLinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	l := &lineWriter{console: &console{}, out: &out, prefix: "[3] "}
	for _, part := range []string{"a", "b\nc\n\nd", "", "e", "\n", "last"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("write %q: %d, %v", part, n, err)
		}
	}
	const whole = "[3] ab\n[3] c\n[3] \n[3] de\n"
	if got := out.String(); got != whole {
		t.Errorf("before the end: %q", got)
	}
	l.flush()
	l.flush()
	if got := out.String(); got != whole+"[3] last\n" {
		t.Errorf("at the end: %q", got)
	}
}

func TestLongLinesAreBroken(t *testing.T) {
	var out bytes.Buffer
	l := &lineWriter{console: &console{}, out: &out}
	for range 5 {
		fmt.Fprint(l, strings.Repeat("x", lineBytesMax/2))
	}
	if len(l.pending) > lineBytesMax {
		t.Errorf("%d bytes are held back", len(l.pending))
	}
	l.flush()
	var lengths []int
	for line := range strings.Lines(out.String()) {
		lengths = append(lengths, len(line)-1)
	}
	if got, want := fmt.Sprint(lengths), fmt.Sprint([]int{lineBytesMax, lineBytesMax, lineBytesMax / 2}); got != want {
		t.Errorf("lines of %s bytes, want %s", got, want)
	}
}

func TestRanksDoNotTearEachOthersLines(t *testing.T) {
	var out bytes.Buffer
	shared := &console{progress: &out}
	var writing sync.WaitGroup
	for rank := range 4 {
		l := &lineWriter{console: shared, out: &out, prefix: fmt.Sprintf("[%d] ", rank)}
		writing.Go(func() {
			for i := range 200 {
				fmt.Fprintf(l, "line ")
				fmt.Fprintf(l, "%d\n", i)
				shared.draw("progress")
			}
		})
	}
	writing.Wait()
	shared.draw("")
	text := strings.ReplaceAll(out.String(), "progress"+eraseLine, "")
	count := 0
	for line := range strings.Lines(text) {
		var rank, i int
		if n, err := fmt.Sscanf(line, "[%d] line %d\n", &rank, &i); n != 2 || err != nil {
			t.Fatalf("torn line %q", line)
		}
		count++
	}
	if count != 800 {
		t.Errorf("%d lines", count)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, fmt.Errorf("broken pipe") }

func TestBrokenOutputIsNoFailure(t *testing.T) {
	l := &lineWriter{console: &console{}, out: brokenPipe{}}
	if n, err := l.Write([]byte("a\n")); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestLastWordsAreBounded(t *testing.T) {
	var w lastWords
	fmt.Fprint(&w, "fatal error: everything\ngoroutine 1 [running]:\n")
	fmt.Fprint(&w, strings.Repeat("x", 2*lineBytesMax))
	if w.firstLine() != "fatal error: everything" || len(w.bytes) != lineBytesMax {
		t.Errorf("%q of %d bytes", w.firstLine(), len(w.bytes))
	}
}
