package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

// A reader that leaves is no error, and is not written to again; a full disk is
// one.
func TestOutputWhoseReaderLeaves(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	out := &abandonable{out: write}
	if _, err := out.Write([]byte("seen")); err != nil {
		t.Fatal(err)
	}
	seen := make([]byte, 8)
	if n, _ := read.Read(seen); !bytes.Equal(seen[:n], []byte("seen")) {
		t.Errorf("read %q", seen[:n])
	}
	read.Close()
	var after bytes.Buffer
	for range 2 {
		if n, err := fmt.Fprint(out, "unseen"); n != 6 || err != nil {
			t.Errorf("write to nobody: %d, %v", n, err)
		}
		out.out = &after
	}
	if after.Len() > 0 {
		t.Errorf("written after the reader had left: %q", &after)
	}
	if n, err := (&abandonable{out: fullDisk{}}).Write([]byte("x")); n != 0 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("write to a full disk: %d, %v", n, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
