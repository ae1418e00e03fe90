package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWriteJSONFileThroughDescriptor writes to what /dev/stdout is when the
// shell has redirected it: a link to an open regular file. The link stays, and
// the spans stand between what is written before and after them.
func TestWriteJSONFileThroughDescriptor(t *testing.T) {
	run := tracedRun(t)
	var want bytes.Buffer
	if _, err := WriteJSON(&want, run, Info{RunID: "a"}, SpanOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"} {
		files, links := t.TempDir(), t.TempDir()
		out, err := os.Create(filepath.Join(files, "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		link := filepath.Join(links, "stdout")
		if err := os.Symlink(fmt.Sprintf("%s/%d", folder, out.Fd()), link); err != nil {
			t.Fatal(err)
		}
		write(t, out, "before\n")
		if _, err := WriteJSONFile(link, run, Info{RunID: "a"}, SpanOptions{}); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		write(t, out, "after\n")
		got, err := os.ReadFile(out.Name())
		if err != nil || string(got) != "before\n"+want.String()+"after\n" {
			t.Errorf("%s: %.60q in %d bytes, %v", folder, got, len(got), err)
		}
		if text, err := os.Readlink(link); err != nil || !strings.HasPrefix(text, folder) {
			t.Errorf("%s: the link is now %q, %v", folder, text, err)
		}
		onlyEntry(t, files)
		onlyEntry(t, links)
	}
}

func write(t *testing.T, file *os.File, text string) {
	t.Helper()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// onlyEntry finds parts that were left behind.
func onlyEntry(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%s holds %v, %v", dir, entries, err)
	}
}

// TestWriteJSONFileThroughLink replaces what ordinary links lead to, and keeps
// the links.
func TestWriteJSONFileThroughLink(t *testing.T) {
	run := tracedRun(t)
	for name, existing := range map[string]bool{"replaced": true, "created": false} {
		files, links := t.TempDir(), t.TempDir()
		target := filepath.Join(files, "spans")
		if existing {
			if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for from, to := range map[string]string{"one": "two", "two": "../" + filepath.Base(files) + "/spans"} {
			if err := os.Symlink(to, filepath.Join(links, from)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := WriteJSONFile(filepath.Join(links, "one"), run, Info{}, SpanOptions{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text, err := os.ReadFile(target); err != nil || !strings.HasPrefix(string(text), `{"resourceSpans":[`) {
			t.Errorf("%s: %.40q, %v", name, text, err)
		}
		onlyEntry(t, files)
		for _, link := range []string{"one", "two"} {
			if info, err := os.Lstat(filepath.Join(links, link)); err != nil || info.Mode().Type() != fs.ModeSymlink {
				t.Errorf("%s: %s is no link any more, %v", name, link, err)
			}
		}
	}
}

func TestJSONTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"devices": "/dev", "full": "devices/full", "circle": "circle"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, target string
		whole        bool
		err          error
	}{
		{path: "new", target: dir + "/new", whole: true},
		{path: "full", target: "/dev/full"},
		{path: "devices/null", target: "/dev/null"},
		{path: "devices/not-there", target: "/dev/not-there"},
		{path: "circle", err: syscall.ELOOP},
		{path: "none/x", err: fs.ErrNotExist},
	} {
		target, whole, err := fileTarget(filepath.Join(dir, c.path))
		if target != c.target || whole != c.whole || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v, %v", c.path, target, whole, err)
		}
	}
}
