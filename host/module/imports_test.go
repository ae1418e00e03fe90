package module

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// TestCheckImports checks guests that import what each line says: a module, a
// name, parameters and results.
func TestCheckImports(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	datadriven.RunTest(t, "testdata/imports.txt", func(t *testing.T, d *datadriven.TestData) string {
		m := &wasmModule{pages: 1, importMem: d.HasArg("memory")}
		if m.importMem {
			m.pages = 0
		}
		for line := range strings.Lines(d.Input) {
			m.imports = append(m.imports, parseImport(t, line))
		}
		compiled, err := r.CompileModule(ctx, m.encode())
		if err != nil {
			t.Fatal(err)
		}
		defer compiled.Close(ctx)
		err = CheckImports(compiled)
		if err == nil {
			return "ok\n"
		}
		var e *ImportError
		if !errors.As(err, &e) {
			t.Fatalf("%T: %v", err, err)
		}
		return fmt.Sprintf("error: %v\nhint: %s\n", e, e.Hint)
	})
}

func parseImport(t *testing.T, line string) wasmImport {
	line, types, _ := strings.Cut(strings.TrimSpace(line), " (")
	params, results, ok := strings.Cut(strings.TrimSuffix(types, ")"), ") -> (")
	module, name, named := strings.Cut(line, " ")
	if !ok || !named {
		t.Fatalf("bad import %q", line)
	}
	// Spaces and escapes are written as Go does.
	name = strings.NewReplacer(`\s`, " ", `\n`, "\n", `\e`, "\x1b").Replace(name)
	return wasmImport{module, name, valueTypes(params), valueTypes(results)}
}

func valueTypes(names string) []api.ValueType {
	var types []api.ValueType
	for _, name := range strings.Fields(names) {
		types = append(types, map[string]api.ValueType{
			"i32": api.ValueTypeI32, "i64": api.ValueTypeI64, "f32": api.ValueTypeF32, "f64": api.ValueTypeF64,
		}[name])
	}
	return types
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
