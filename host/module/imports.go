package module

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
)

// ImportError says in one line which import of a guest cannot be had, and what
// to do about it.
type ImportError struct {
	Import string // module.name
	Text   string
	Hint   string
}

// Error is the line without the hint.
func (e *ImportError) Error() string { return e.Text }

const wasi = "wasi_snapshot_preview1"

// CheckImports reports, as an [ImportError], the first import of a guest that
// a rank does not offer: anything but the functions of [abi.Table], with their
// signatures, and those of WASI.
func CheckImports(c wazero.CompiledModule) error {
	for _, f := range c.ImportedFunctions() {
		if e := checkFunction(f); e != nil {
			return e
		}
	}
	for _, m := range c.ImportedMemories() {
		module, name, _ := m.Import()
		return &ImportError{
			Import: dotted(module, name), Text: "the guest imports its memory as " + dotted(module, name),
			Hint: "link it so that it defines and exports its own memory",
		}
	}
	return nil
}

// checkFunction gives a typed nil to nobody: its caller compares the pointer.
func checkFunction(f api.FunctionDefinition) *ImportError {
	module, name, _ := f.Import()
	switch {
	case module == wasi:
		return nil
	case module != abi.Module:
		return foreignModule(module, name)
	}
	row, ok := abi.Lookup(name)
	if !ok {
		return unknownFunction(name)
	}
	want := signature(paramTypes(row), []api.ValueType{api.ValueTypeI32})
	if got := signature(f.ParamTypes(), f.ResultTypes()); got != want {
		return &ImportError{
			Import: dotted(module, name),
			Text:   fmt.Sprintf("the guest imports %s as %s, but it is %s", dotted(module, name), got, want),
			Hint:   "rebuild the guest with the SDK of this ccrun",
		}
	}
	return nil
}

func unknownFunction(name string) *ImportError {
	e := &ImportError{
		Import: dotted(abi.Module, name),
		Text:   fmt.Sprintf("the guest imports %s, which ABI version %d does not have", dotted(abi.Module, name), abi.Version),
		Hint:   "it was built for a newer ccrun: update ccrun, or rebuild the guest with the SDK of this one",
	}
	names := make([]string, len(abi.Table))
	for n := range abi.Table {
		names[n] = abi.Table[n].Name
	}
	if near, ok := nearest(name, names); ok {
		e.Hint = "did you mean " + near + "? If not, " + e.Hint
	}
	return e
}

func foreignModule(module, name string) *ImportError {
	e := &ImportError{
		Import: dotted(module, name),
		Text:   fmt.Sprintf("the guest imports %s; ccrun offers the modules %s and %s", dotted(module, name), abi.Module, wasi),
		Hint:   "see `ccrun abi` for what a guest can call",
	}
	prefix := strings.TrimRight(abi.Module, "0123456789")
	if number, ok := strings.CutPrefix(module, prefix); ok && isNumber(number) {
		e.Text = fmt.Sprintf("the guest imports %s, but this ccrun has %s", dotted(module, name), abi.Module)
		e.Hint = "rebuild the guest with the SDK of this ccrun, or run it with the ccrun that it was built for"
		return e
	}
	if near, ok := nearest(module, []string{abi.Module, wasi}); ok {
		e.Hint = "did you mean the module " + near + "?"
	}
	return e
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// dotted is module.name as a user may read it: whatever is not plain is
// quoted, and cut if it is long, since it comes from a stranger's file.
func dotted(module, name string) string {
	s := module + "." + name
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	if quoted := strconv.QuoteToASCII(s); quoted != `"`+s+`"` || strings.ContainsRune(s, ' ') {
		return quoted
	}
	return s
}

// signature is a function type in WebAssembly's text form.
func signature(params, results []api.ValueType) string {
	return "(" + typeNames(params) + ") -> (" + typeNames(results) + ")"
}

func typeNames(types []api.ValueType) string {
	names := make([]string, len(types))
	for n, t := range types {
		names[n] = api.ValueTypeName(t)
	}
	return strings.Join(names, " ")
}

// nearest is the candidate that differs least from name, if it differs by no
// more than a typing error does.
func nearest(name string, candidates []string) (string, bool) {
	const farthest = 64 // no name of ours is longer
	if len(name) > farthest {
		return "", false
	}
	best, bestDistance := "", 1+max(1, len(name)/3)
	for _, candidate := range candidates {
		if d := editDistance(name, candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best, best != ""
}

// editDistance counts the bytes to insert, delete or replace (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{replace, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
