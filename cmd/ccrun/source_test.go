package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// repoRoot is the repository's top directory, seen from this package's.
const repoRoot = "../.."

// sourceFile is one Go file of the repository.
type sourceFile struct {
	path      string // from the top directory, with slashes
	pkg       string // directory of path
	test      bool
	generated bool
	lines     int
	fset      *token.FileSet
	tree      *ast.File
}

// imports lists the paths that the file imports.
func (f *sourceFile) imports() []string {
	var paths []string
	for _, spec := range f.tree.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// at is the position of a node, for messages.
func (f *sourceFile) at(n ast.Node) string {
	p := f.fset.Position(n.Pos())
	return f.path + ":" + strconv.Itoa(p.Line)
}

// guest reports whether the file is compiled to Wasm: what is forbidden to
// the host's packages is how a guest talks to the world.
func (f *sourceFile) guest() bool {
	return strings.HasPrefix(f.path, "workflows/") || strings.HasPrefix(f.path, "guest-sdk/")
}

// sources parses all Go files of the repository.
func sources(t *testing.T) []*sourceFile {
	t.Helper()
	var files []*sourceFile
	err := filepath.WalkDir(repoRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != repoRoot && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		files = append(files, parseSource(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d Go files found: the walk looks in the wrong place", len(files))
	}
	return files
}

func parseSource(t *testing.T, path string) *sourceFile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(repoRoot, path)
	if err != nil {
		t.Fatal(err)
	}
	rel = filepath.ToSlash(rel)
	return &sourceFile{
		path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)),
		test: strings.HasSuffix(rel, "_test.go"), generated: ast.IsGenerated(tree),
		lines: strings.Count(string(text), "\n"), fset: fset, tree: tree,
	}
}
