// Package guest loads one WebAssembly module and runs it: [Read] a file,
// [New] a runtime, [Runtime.Compile], [Runtime.Run]. A guest gets arguments,
// two output streams, clocks and seeded randomness through WASI, and nothing
// else: no files, no environment, no network. What it may call beside WASI is
// package module's affair.
package guest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Reason says what kind of refusal an [Error] is.
type Reason uint8

// Reasons.
const (
	BadFile   Reason = iota // not a module that can be run
	BadImport               // asks for functions that there are not
	TooBig                  // needs more than its limit
)

// Error is a guest that was refused before it ran: one line for the user and
// what to do about it.
type Error struct {
	Reason Reason
	Text   string
	Hint   string
}

// Error is the text.
func (e *Error) Error() string { return e.Text }

// fileBytesMax bounds what is read into memory.
const fileBytesMax = 256 << 20

const goHint = "build it with: GOOS=wasip1 GOARCH=wasm go build -o NAME.wasm"

// Read gives the bytes of a core WebAssembly module. Anything else is an
// [Error] that says what the file is instead.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Text: fmt.Sprintf("no such file: %s", path), Hint: "the first argument is the workflow, a .wasm file; flags of ccrun come before it"}
	case err != nil:
		return nil, &Error{Text: fmt.Sprintf("cannot read %s: %v", path, reason(err))}
	case info.IsDir():
		return nil, &Error{Text: fmt.Sprintf("%s is a directory", path), Hint: directoryHint(path)}
	case !info.Mode().IsRegular():
		return nil, &Error{Text: fmt.Sprintf("%s is not a regular file", path), Hint: "give the path of a .wasm file"}
	case info.Size() > fileBytesMax:
		return nil, &Error{Reason: TooBig, Text: fmt.Sprintf("%s has %d MiB, more than %d MiB", path, info.Size()>>20, fileBytesMax>>20), Hint: "is this the right file?"}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Text: fmt.Sprintf("cannot read %s: %v", path, reason(err))}
	}
	if err := checkHeader(path, data); err != nil {
		return nil, err
	}
	return data, nil
}

// reason is an error without the path that the text has already.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func directoryHint(path string) string {
	if sources, _ := filepath.Glob(filepath.Join(path, "*.go")); len(sources) > 0 {
		return fmt.Sprintf("build the workflow in it first: (cd %s && GOOS=wasip1 GOARCH=wasm go build -o workflow.wasm .)", path)
	}
	return "give the path of a .wasm file"
}

// Headers: four bytes of magic, then version and layer.
var (
	wasmMagic   = []byte("\x00asm")
	moduleTail  = []byte{1, 0, 0, 0}
	layerAt     = 6
	headerBytes = 8
)

func checkHeader(path string, data []byte) error {
	switch {
	case len(data) == 0:
		return &Error{Text: fmt.Sprintf("%s is empty", path), Hint: "the build that should have written it has probably failed"}
	case !bytes.HasPrefix(data, wasmMagic[:min(4, len(data))]):
		return notWasm(path, data)
	case len(data) < headerBytes:
		return &Error{Text: fmt.Sprintf("%s is truncated: %d bytes", path, len(data)), Hint: "build it again"}
	case data[layerAt] == 1:
		return &Error{Text: fmt.Sprintf("%s is a WebAssembly component, not a core module", path),
			Hint: "build a core module with WASI preview 1 (wasip1) instead of a component (wasip2)"}
	case !bytes.Equal(data[4:headerBytes], moduleTail):
		return &Error{Text: fmt.Sprintf("%s has an unknown WebAssembly version: % x", path, data[4:headerBytes]), Hint: "ccrun reads version 1"}
	}
	return nil
}

// notWasm says what a file is that does not begin like WebAssembly.
func notWasm(path string, data []byte) error {
	head := data[:min(len(data), 4096)]
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return &Error{Text: fmt.Sprintf("%s is a native program, not WebAssembly", path), Hint: goHint}
	case !isText(head):
		return &Error{Text: fmt.Sprintf("%s is not WebAssembly", path), Hint: goHint}
	}
	text, ext := string(head), filepath.Ext(path)
	first := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(first, "(module") || strings.HasPrefix(first, "(component") || ext == ".wat":
		return &Error{Text: fmt.Sprintf("%s is WebAssembly text, not a binary", path), Hint: fmt.Sprintf("translate it with: wat2wasm %s -o NAME.wasm", path)}
	case ext == ".go" || strings.HasPrefix(first, "package ") || strings.Contains(text, "\npackage "):
		return &Error{Text: fmt.Sprintf("%s is a Go source file", path), Hint: goHint + " " + path}
	case ext == ".c" || ext == ".h" || strings.Contains(text, "#include"):
		return &Error{Text: fmt.Sprintf("%s is a C source file", path),
			Hint: fmt.Sprintf("build it with: clang --target=wasm32-wasi --sysroot=/usr -O2 -g -c %s -o NAME.o && clang --target=wasm32-wasi --sysroot=/usr NAME.o -o NAME.wasm", path)}
	default:
		return &Error{Text: fmt.Sprintf("%s is a text file, not WebAssembly", path), Hint: "give the path of a .wasm file"}
	}
}

// isText reports whether the head of a file reads as text. A character may be
// cut off at its end.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		switch {
		case r == utf8.RuneError && size == 1:
			return len(head) < utf8.UTFMax && !utf8.FullRune(head)
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r == 0x7f:
			return false
		}
		head = head[size:]
	}
	return true
}
