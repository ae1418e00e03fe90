package module

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
)

// wasmModule is a WebAssembly module in the little detail that tests need: it
// imports functions, has a memory and exports functions of its own.
type wasmModule struct {
	imports   []wasmImport
	pages     uint32 // memory, none if 0
	importMem bool   // import the memory as env.memory instead
	functions []wasmFunction
}

type wasmImport struct {
	module, name    string
	params, results []api.ValueType
}

type wasmFunction struct {
	name            string
	params, results []api.ValueType
	body            []byte // without locals and end
}

func (m *wasmModule) encode() []byte {
	var types, imports, functions, exports, code [][]byte
	for n, f := range m.imports {
		types = append(types, wasmType(f.params, f.results))
		imports = append(imports, join(wasmName(f.module), wasmName(f.name), []byte{0}, leb(uint64(n))))
	}
	if m.importMem {
		imports = append(imports, join(wasmName("env"), wasmName("memory"), []byte{2, 0, 1}))
	}
	for n, f := range m.functions {
		index := leb(uint64(len(m.imports) + n))
		types = append(types, wasmType(f.params, f.results))
		functions = append(functions, index)
		exports = append(exports, join(wasmName(f.name), []byte{0}, index))
		body := join([]byte{0}, f.body, []byte{0x0b})
		code = append(code, join(leb(uint64(len(body))), body))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = append(out, wasmSection(1, types)...)
	out = append(out, wasmSection(2, imports)...)
	out = append(out, wasmSection(3, functions)...)
	if m.pages > 0 {
		out = append(out, wasmSection(5, [][]byte{join([]byte{0}, leb(uint64(m.pages)))})...)
		exports = append(exports, join(wasmName("memory"), []byte{2, 0}))
	}
	out = append(out, wasmSection(7, exports)...)
	return append(out, wasmSection(10, code)...)
}

func wasmType(params, results []api.ValueType) []byte {
	return join([]byte{0x60}, leb(uint64(len(params))), params, leb(uint64(len(results))), results)
}

func wasmSection(id byte, items [][]byte) []byte {
	if len(items) == 0 {
		return nil
	}
	content := join(append([][]byte{leb(uint64(len(items)))}, items...)...)
	return join([]byte{id}, leb(uint64(len(content))), content)
}

func wasmName(s string) []byte { return join(leb(uint64(len(s))), []byte(s)) }

func leb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

// sleb is the signed form, for constants.
func sleb(v int64) []byte {
	var out []byte
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

var i32Result = []api.ValueType{api.ValueTypeI32}

// tableImports imports every row of the table, in its order.
func tableImports() []wasmImport {
	var all []wasmImport
	for n := range abi.Table {
		row := &abi.Table[n]
		all = append(all, wasmImport{abi.Module, row.Name, paramTypes(row), i32Result})
	}
	return all
}

// proxyModule exports each row of the table under its name, as a function that
// calls the import with the arguments that it was given.
func proxyModule() *wasmModule {
	m := &wasmModule{imports: tableImports(), pages: 2}
	for n, f := range m.imports {
		var body []byte
		for p := range f.params {
			body = append(body, 0x20, byte(p)) // local.get
		}
		body = append(body, 0x10) // call
		m.functions = append(m.functions, wasmFunction{f.name, f.params, f.results, append(body, leb(uint64(n))...)})
	}
	return m
}

// addLoop exports a function that calls a row with constant arguments as often
// as its parameter says.
func (m *wasmModule) addLoop(export, name string, args ...uint64) {
	var call []byte
	for n, f := range m.imports {
		if f.name != name {
			continue
		}
		for p, t := range f.params {
			if t == api.ValueTypeI32 {
				call = append(append(call, 0x41), sleb(int64(int32(args[p])))...)
			} else {
				call = append(append(call, 0x42), sleb(int64(args[p]))...)
			}
		}
		call = append(append(call, 0x10), leb(uint64(n))...)
	}
	body := join(
		[]byte{0x03, 0x40}, // loop
		call, []byte{0x1a}, // drop
		[]byte{0x20, 0, 0x41, 1, 0x6b, 0x22, 0}, // local 0 = local 0 - 1
		[]byte{0x0d, 0, 0x0b},                   // br_if 0, end
	)
	m.functions = append(m.functions, wasmFunction{export, []api.ValueType{api.ValueTypeI32}, nil, body})
}
