package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// gate is an output that nobody reads until it is opened.
type gate struct {
	open chan struct{}
	mu   sync.Mutex
	text bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(p)
}

// script makes a program to be started as a rank.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// startScript starts a program, with its outputs, as a rank.
func startScript(t *testing.T, body string, stdout, stderr *gate) *child {
	t.Helper()
	s := newStarter()
	t.Cleanup(s.close)
	shared := &console{}
	c, err := startChild(s, script(t, body), os.Environ(), &spec{}, -1,
		&lineWriter{console: shared, out: stdout}, &lineWriter{console: shared, out: stderr})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The end of a process is known at once, and what it has printed is not lost
// however late somebody reads it.
func TestOutputIsKeptForALateReader(t *testing.T) {
	opened := make(chan struct{})
	stdout, stderr := &gate{open: opened}, &gate{open: opened}
	c := startScript(t, "i=0; while [ $i -lt 3000 ]; do echo out $i; i=$((i+1)); done; echo err >&3; printf last", stdout, stderr)
	ended, copied := make(chan exitStatus, 1), make(chan struct{})
	go func() {
		ended <- c.wait()
		c.copying.Wait()
		close(copied)
	}()
	select {
	case status := <-ended:
		if status.text != "exited with code 0" {
			t.Errorf("%+v", status)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the end of the process is not told while nobody reads")
	}
	select {
	case <-copied:
		t.Fatal("output that nobody has read counts as passed on")
	default:
	}
	close(opened)
	<-copied
	if text := stdout.text.String(); strings.Count(text, "\n") != 3001 || !strings.HasSuffix(text, "out 2999\nlast\n") {
		t.Errorf("%d lines, the last is %q", strings.Count(text, "\n"), text[max(0, len(text)-20):])
	}
	if text := stderr.text.String(); text != "err\n" {
		t.Errorf("stderr %q", text)
	}
}

// A rank that is waited for already may be killed once more.
func TestKillOfAnEndedProcess(t *testing.T) {
	opened := make(chan struct{})
	close(opened)
	c := startScript(t, "exit 3", &gate{open: opened}, &gate{open: opened})
	if status := c.wait(); status.code != 3 {
		t.Errorf("%+v", status)
	}
	c.kill()
	c = startScript(t, "exec sleep 1000", &gate{open: opened}, &gate{open: opened})
	c.kill()
	if status := c.wait(); status.text != "killed by SIGKILL" || status.code != -1 {
		t.Errorf("%+v", status)
	}
}
