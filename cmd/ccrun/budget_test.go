package main

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// Budgets: a function fits a screen, a file holds one concept.
const (
	functionLinesMax = 70
	fileLinesMax     = 500
)

func TestBudgets(t *testing.T) {
	for _, file := range sources(t) {
		if file.generated || file.test { // a table of cases is as long as it needs to be
			continue
		}
		if file.lines > fileLinesMax {
			t.Errorf("%s has %d lines, more than %d: split it by concept", file.path, file.lines, fileLinesMax)
		}
		for _, decl := range file.tree.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := file.fset.Position(fn.End()).Line - file.fset.Position(fn.Pos()).Line + 1
			if lines > functionLinesMax {
				t.Errorf("%s: %s has %d lines, more than %d: move a step out and name it", file.at(fn), fn.Name.Name, lines, functionLinesMax)
			}
		}
	}
}

func TestExportsAreDocumented(t *testing.T) {
	for _, file := range sources(t) {
		if file.test || file.generated {
			continue
		}
		for _, decl := range file.tree.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: exported %s has no doc comment: say in a sentence what it is for", file.at(decl), name)
			}
		}
	}
}

// undocumented lists the exported names that a declaration leaves without a
// comment. A group's comment, or one at the end of the line, counts.
func undocumented(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var names []string
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(spec)...)
		}
		return names
	}
	return nil
}

func undocumentedSpec(spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
			return []string{s.Name.Name}
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil {
			return nil
		}
		var names []string
		for _, name := range s.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
		return names
	}
	return nil
}

// exportedReceiver reports whether a method belongs to an exported type;
// methods of others satisfy interfaces that are documented elsewhere.
func exportedReceiver(recv *ast.FieldList) bool {
	expr := recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	documented := make(map[string]bool)
	for _, file := range sources(t) {
		if !file.test {
			documented[file.pkg] = documented[file.pkg] || file.tree.Doc != nil
		}
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment: say what to call first, then what it does not do", pkg)
		}
	}
}

// vagueNames are file names that say nothing of what is inside.
var vagueNames = []string{"util", "utils", "common", "helpers", "helper", "types", "lib", "misc", "shared"}

// TestConstructs forbids what the repository does without.
func TestConstructs(t *testing.T) {
	for _, file := range sources(t) {
		if base, _, _ := strings.Cut(path.Base(file.path), "."); slices.Contains(vagueNames, strings.TrimSuffix(base, "_test")) {
			t.Errorf("%s: name the file after the concept that it holds", file.path)
		}
		for _, spec := range file.tree.Imports {
			if spec.Name != nil && spec.Name.Name == "_" && spec.Path.Value != `"embed"` {
				t.Errorf("%s: blank import of %s: list what is needed explicitly", file.at(spec), spec.Path.Value)
			}
		}
		for _, decl := range file.tree.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init(): list what is needed explicitly, in one place", file.at(fn))
			}
		}
		for _, group := range file.tree.Comments {
			if text := group.Text(); strings.Contains(text, "TO"+"DO") || strings.Contains(text, "FIX"+"ME") {
				t.Errorf("%s: a note for later: do it, or write an issue", file.at(group))
			}
		}
		checkSelectors(t, file)
	}
}

// checkSelectors looks at each use of another package's names.
func checkSelectors(t *testing.T, file *sourceFile) {
	t.Helper()
	ast.Inspect(file.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if why := forbiddenUse(file, x.Name, sel.Sel.Name); why != "" {
			t.Errorf("%s: %s.%s: %s", file.at(n), x.Name, sel.Sel.Name, why)
		}
		return true
	})
}

// layoutQueries of package unsafe are constants: they reach into nothing.
var layoutQueries = []string{"Sizeof", "Offsetof", "Alignof"}

// processNames of package os are the process's own.
var processNames = []string{"Args", "Exit", "Getenv", "LookupEnv", "Environ"}

// forbiddenUse says why a file may not use a name, or nothing.
func forbiddenUse(file *sourceFile, pkg, name string) string {
	switch {
	case pkg == "unsafe" && !slices.Contains(layoutQueries, name) && !strings.HasSuffix(strings.TrimSuffix(file.path, ".go"), "_unsafe") && !file.test && !file.generated:
		return "unsafe belongs in files named *_unsafe.go, where a reviewer looks for it"
	case pkg == "time" && name == "Sleep" && file.test:
		return "a test that sleeps is slow or flaky: wait for the condition, with a deadline"
	case pkg == "os" && slices.Contains(processNames, name) && !file.test && !mayTouchProcess(file):
		return "only cmd/ccrun touches the process: take the value as a parameter"
	}
	return ""
}

// mayTouchProcess holds for programs: ccrun itself, guests, and the tools of
// developers.
func mayTouchProcess(file *sourceFile) bool {
	return file.pkg == "cmd/ccrun" || file.tree.Name.Name == "main" && (file.guest() || matchesAny([]string{"host/abi/gen/...", "host/coll/peers", "host/device/kernels/gen/...", "host/device/sim/peers", "host/device/sim/validate", "runner/bench/cost"}, file.pkg))
}
