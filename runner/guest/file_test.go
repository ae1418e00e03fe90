package guest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadSaysWhatAFileIs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good.wasm", "\x00asm\x01\x00\x00\x00")
	write("empty.wasm", "")
	write("short.wasm", "\x00as")
	write("cut.wasm", "\x00asm\x01\x00")
	write("component.wasm", "\x00asm\x0d\x00\x01\x00")
	write("future.wasm", "\x00asm\x02\x00\x00\x00")
	write("elf", "\x7fELF\x02\x01\x01")
	write("binary", "\x89PNG\r\n\x1a\n")
	write("notes.txt", "Grüße aus dem Büro\n")
	write("ring.wat", ";; a ring\n(module)\n")
	write("text.wasm", "  (module (func))\n")
	write("main.go", "// Command ring.\npackage main\n")
	write("go.wasm", "package main\n")
	write("ring.c", "int main(void) { return 0; }\n")
	write("cut.txt", strings.Repeat("a", 4095)+"ü") // the character straddles the head
	if err := os.Mkdir("workflow", 0o700); err != nil {
		t.Fatal(err)
	}
	write("workflow/main.go", "package main\n")
	if err := os.Mkdir("nothing", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, text, hint string }{
		{"good.wasm", "", ""},
		{"absent.wasm", "no such file: absent.wasm", "first argument is the workflow"},
		{"empty.wasm", "empty.wasm is empty", "build"},
		{"short.wasm", "short.wasm is truncated: 3 bytes", "build it again"},
		{"cut.wasm", "cut.wasm is truncated: 6 bytes", "build it again"},
		{"component.wasm", "component.wasm is a WebAssembly component, not a core module", "wasip1"},
		{"future.wasm", "future.wasm has an unknown WebAssembly version: 02 00 00 00", "version 1"},
		{"elf", "elf is a native program, not WebAssembly", "GOOS=wasip1"},
		{"binary", "binary is not WebAssembly", "GOOS=wasip1"},
		{"notes.txt", "notes.txt is a text file, not WebAssembly", ".wasm file"},
		{"cut.txt", "cut.txt is a text file, not WebAssembly", ".wasm file"},
		{"ring.wat", "ring.wat is WebAssembly text, not a binary", "wat2wasm ring.wat"},
		{"text.wasm", "text.wasm is WebAssembly text, not a binary", "wat2wasm text.wasm"},
		{"main.go", "main.go is a Go source file", "GOOS=wasip1 GOARCH=wasm go build"},
		{"go.wasm", "go.wasm is a Go source file", "GOOS=wasip1 GOARCH=wasm go build"},
		{"ring.c", "ring.c is a C source file", "clang"},
		{"workflow", "workflow is a directory", "cd workflow"},
		{"nothing", "nothing is a directory", ".wasm file"},
		{"pipe", "pipe is not a regular file", ".wasm file"},
		{"good.wasm/x", "cannot read good.wasm/x: not a directory", ""},
	} {
		_, err := Read(c.path)
		if c.text == "" {
			if err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
			continue
		}
		var refused *Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v is no *Error", c.path, err)
			continue
		}
		if refused.Text != c.text || !strings.Contains(refused.Hint, c.hint) {
			t.Errorf("%s:\ngot  %q, hint %q\nwant %q, hint with %q", c.path, refused.Text, refused.Hint, c.text, c.hint)
		}
	}
}

func TestMakePrivate(t *testing.T) {
	base := t.TempDir()
	made := filepath.Join(base, "a", "b")
	if err := MakePrivate(made); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("made %v, %v", info.Mode(), err)
	}
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(open); !errors.Is(err, ErrOpenMode) {
		t.Errorf("a directory that others can read: %v", err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(made, link); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(link); err == nil {
		t.Error("a link to a private directory was taken for one")
	}
	if os.Geteuid() == 0 {
		theirs := filepath.Join(base, "theirs")
		if err := os.Mkdir(theirs, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(theirs, 65534, 65534); err != nil {
			t.Skip("cannot give a directory away: ", err)
		}
		if err := MakePrivate(theirs); !errors.Is(err, ErrForeignOwner) {
			t.Errorf("another user's directory: %v", err)
		}
	}
}
