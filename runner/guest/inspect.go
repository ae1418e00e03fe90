package guest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Inspection is what a module says of itself without being run.
type Inspection struct {
	Bytes       int
	Language    string // what it was written in and built with, "" if it does not say
	Imports     []Function
	Exports     []Function
	MemoryBytes int64 // that it starts with
	MemoryMax   int64 // that it declares as its most, 0 for none
}

// Function is a function that a module imports or exports.
type Function struct {
	Module    string // of an import
	Name      string
	Signature string // in WebAssembly's text form: "(i32 i64) -> i32"
}

// Inspect reads a module. It refuses what [Read] refuses and what is not
// valid; what the module imports is told and not judged.
func Inspect(ctx context.Context, path string) (*Inspection, error) {
	wasm, err := Read(path)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCustomSections(true))
	defer r.Close(ctx)
	compiled, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return nil, invalid(path, err)
	}
	i := &Inspection{Bytes: len(wasm)}
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		i.Imports = append(i.Imports, Function{module, name, functionType(f)})
	}
	for name, f := range compiled.ExportedFunctions() {
		i.Exports = append(i.Exports, Function{"", name, functionType(f)})
	}
	slices.SortFunc(i.Exports, func(a, b Function) int { return cmp.Compare(a.Name, b.Name) })
	for _, memory := range compiled.ExportedMemories() {
		i.MemoryBytes = int64(memory.Min()) * pageBytes
		if most, declared := memory.Max(); declared {
			i.MemoryMax = int64(most) * pageBytes
		}
	}
	for _, section := range compiled.CustomSections() {
		if section.Name() == "producers" {
			i.Language = producers(section.Data())
		}
	}
	return i, nil
}

func functionType(f api.FunctionDefinition) string {
	text := "(" + valueTypes(f.ParamTypes()) + ")"
	if results := f.ResultTypes(); len(results) > 0 {
		text += " -> " + valueTypes(results)
	}
	return text
}

func valueTypes(types []api.ValueType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = api.ValueTypeName(t)
	}
	return strings.Join(names, " ")
}

// producers puts the conventional section of that name into words: fields
// (language, processed-by) of pairs (name, version). A section that is not
// whole gives what was read so far.
func producers(data []byte) string {
	r := bytes.NewReader(data)
	var words []string
	for fields := readCount(r); fields > 0; fields-- {
		readName(r)
		for values := readCount(r); values > 0; values-- {
			word := strings.TrimSpace(readName(r) + " " + readName(r))
			if word != "" && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return strings.Join(words, ", ")
}

// readCount reads a length, 0 if it cannot be true.
func readCount(r *bytes.Reader) uint64 {
	n, err := binary.ReadUvarint(r)
	if err != nil || n > uint64(r.Len()) {
		return 0
	}
	return n
}

// readName reads a string and makes it fit to print.
func readName(r *bytes.Reader) string {
	name := make([]byte, readCount(r))
	if _, err := r.Read(name); err != nil {
		return ""
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(string(name), ""))
}

// invalid is the refusal of a module that does not decode.
func invalid(path string, err error) error {
	return &Error{Text: fmt.Sprintf("%s is not a valid WebAssembly module: %s", path, firstLine(err)),
		Hint: "the file may be truncated or use a feature that ccrun does not know: build it again"}
}
