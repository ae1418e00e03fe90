// Package wasmtest assembles tiny WebAssembly modules for tests, so that those
// need no toolchain: describe one as a [Module] and call [Module.Bytes].
package wasm

// ValType is a value type of WebAssembly.
type ValType byte

// Value types.
const (
	I32 ValType = 0x7f
	I64 ValType = 0x7e
)

// Import is an imported function. Imports take the first function indices.
type Import struct {
	Module, Name    string
	Params, Results []ValType
}

// Function is a function without parameters, results or locals.
type Function struct {
	Name   string // as in a stack trace
	Export string // "" if not exported
	Body   []byte // instructions, without the final end
}

// Data is placed in memory before the module starts.
type Data struct {
	Offset int32
	Bytes  string
}

// Module describes a module. Its memory is exported as "memory".
type Module struct {
	Imports     []Import
	Functions   []Function
	MemoryPages uint32
	Data        []Data
}

// Bytes is the module in binary form.
func (m *Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = append(out, section(1, m.types())...)
	out = append(out, section(2, m.imports())...)
	out = append(out, section(3, m.functions())...)
	out = append(out, section(5, append([]byte{1, 0}, Unsigned(uint64(m.MemoryPages))...))...)
	out = append(out, section(7, m.exports())...)
	out = append(out, section(10, m.code())...)
	out = append(out, section(11, m.data())...)
	return append(out, section(0, m.names())...)
}

// types lists one type for each import and, last, that of all functions.
func (m *Module) types() []byte {
	out := Unsigned(uint64(len(m.Imports) + 1))
	for _, i := range m.Imports {
		out = append(out, 0x60)
		out = append(out, valTypes(i.Params)...)
		out = append(out, valTypes(i.Results)...)
	}
	return append(out, 0x60, 0, 0)
}

func valTypes(types []ValType) []byte {
	out := Unsigned(uint64(len(types)))
	for _, t := range types {
		out = append(out, byte(t))
	}
	return out
}

func (m *Module) imports() []byte {
	out := Unsigned(uint64(len(m.Imports)))
	for i, f := range m.Imports {
		out = append(out, text(f.Module)...)
		out = append(out, text(f.Name)...)
		out = append(out, 0)
		out = append(out, Unsigned(uint64(i))...)
	}
	return out
}

func (m *Module) functions() []byte {
	out := Unsigned(uint64(len(m.Functions)))
	for range m.Functions {
		out = append(out, Unsigned(uint64(len(m.Imports)))...)
	}
	return out
}

func (m *Module) exports() []byte {
	count, out := uint64(1), append(text("memory"), 2, 0)
	for i, f := range m.Functions {
		if f.Export == "" {
			continue
		}
		count++
		out = append(out, text(f.Export)...)
		out = append(out, 0)
		out = append(out, Unsigned(uint64(len(m.Imports)+i))...)
	}
	return append(Unsigned(count), out...)
}

func (m *Module) code() []byte {
	out := Unsigned(uint64(len(m.Functions)))
	for _, f := range m.Functions {
		body := append([]byte{0}, f.Body...) // no locals
		body = append(body, end)
		out = append(out, Unsigned(uint64(len(body)))...)
		out = append(out, body...)
	}
	return out
}

func (m *Module) data() []byte {
	out := Unsigned(uint64(len(m.Data)))
	for _, d := range m.Data {
		out = append(out, 0)
		out = append(out, PushI32(d.Offset)...)
		out = append(out, end)
		out = append(out, text(d.Bytes)...)
	}
	return out
}

// names is the custom section that stack traces read.
func (m *Module) names() []byte {
	names := Unsigned(uint64(len(m.Functions)))
	for i, f := range m.Functions {
		names = append(names, Unsigned(uint64(len(m.Imports)+i))...)
		names = append(names, text(f.Name)...)
	}
	return append(text("name"), section(1, names)...)
}

func section(id byte, content []byte) []byte {
	return append(append([]byte{id}, Unsigned(uint64(len(content)))...), content...)
}

func text(s string) []byte { return append(Unsigned(uint64(len(s))), s...) }
