// Package gen derives files from the table of package abi: the raw layers of
// the SDKs, the C header and ABI.md. Start with [Write], which `go generate
// ./host/abi` calls, and [Drift], which says what it would change. The package
// holds one emitter a language and no knowledge of its own about the ABI.
package gen

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ccrun/ccrun/host/abi"
)

// File is one generated file.
type File struct {
	Path    string // from the repository's root, with slashes
	Content []byte
}

// Files generates everything, in memory.
func Files() ([]File, error) {
	files := []File{
		{"guest-sdk/go/ccrun/raw/abi_gen.go", goTypes()},
		{"guest-sdk/go/ccrun/raw/raw_gen.go", goImports()},
		{"guest-sdk/go/ccrun/raw/stub_gen.go", goStub()},
		{"guest-sdk/c/ccrun.h", cHeader()},
		{"host/ABI.md", markdown()},
	}
	for i := range files {
		if !strings.HasSuffix(files[i].Path, ".go") {
			continue
		}
		formatted, err := formatGo(files[i].Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files[i].Path, err)
		}
		files[i].Content = formatted
	}
	return files, nil
}

// Write writes all files below root, the repository's.
func Write(root string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Drift lists the files below root that differ from what Write would write.
func Drift(root string) ([]string, error) {
	files, err := Files()
	if err != nil {
		return nil, err
	}
	var stale []string
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil || !bytes.Equal(got, f.Content) {
			stale = append(stale, f.Path)
		}
	}
	return stale, nil
}

// isText reports whether parameter j of r is text, which SDKs pass as a string
// of their language, its length included.
func isText(r *abi.Row, j int) bool {
	p := &r.Params[j]
	return p.Role == abi.In && p.Type == "u8" && (p.Name == "name" || p.Name == "text")
}

// isTextLen reports whether parameter j of r is the length of a text.
func isTextLen(r *abi.Row, j int) bool {
	return r.Params[j].Role == abi.Len && j > 0 && isText(r, j-1)
}

// camel turns snake case into Go's exported spelling.
func camel(snake string) string {
	var b strings.Builder
	for _, word := range strings.Split(snake, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// lowerCamel turns snake case into Go's unexported spelling.
func lowerCamel(snake string) string {
	name := camel(snake)
	return strings.ToLower(name[:1]) + name[1:]
}

// lowerFirst is a sentence to be continued after a name: "Reads" to "reads".
func lowerFirst(sentence string) string {
	return strings.ToLower(sentence[:1]) + sentence[1:]
}
