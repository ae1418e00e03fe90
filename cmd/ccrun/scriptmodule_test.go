package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ccrun/ccrun/runner/wasm"
)

// oddModules are files that ccrun must refuse, by what is odd about them.
func oddModules() map[string][]byte {
	i32 := []wasm.ValType{wasm.I32}
	importing := func(module, name string, params []wasm.ValType) []byte {
		m := wasm.Module{
			Imports:     []wasm.Import{{Module: module, Name: name, Params: params, Results: i32}},
			Functions:   []wasm.Function{{Name: "start", Export: "_start"}},
			MemoryPages: 1,
		}
		return m.Bytes()
	}
	start := []wasm.Function{{Name: "start", Export: "_start"}}
	big := wasm.Module{Functions: start, MemoryPages: 2048}
	library := wasm.Module{MemoryPages: 1}
	whole := importing("ccrun_v1", "world", i32)
	return map[string][]byte{
		"component":       []byte("\x00asm\x0d\x00\x01\x00"),
		"truncated":       whole[:40],
		"library":         library.Bytes(),
		"big_memory":      big.Bytes(),
		"unknown_import":  importing("ccrun_v1", "wrld", i32),
		"wrong_signature": importing("ccrun_v1", "world", []wasm.ValType{wasm.I64}),
		"other_abi":       importing("ccrun_v2", "world", i32),
		"other_host":      importing("env", "printf", i32),
	}
}

// oddCommand is `odd NAME...`: writes NAME.wasm.
func oddCommand(ts *testscript.TestScript, neg bool, args []string) {
	modules := oddModules()
	if neg || len(args) == 0 {
		ts.Fatalf("usage: odd NAME...")
	}
	for _, name := range args {
		text, ok := modules[name]
		if !ok {
			ts.Fatalf("no odd module is called %s; there are %s", name, strings.Join(slices.Sorted(maps.Keys(modules)), ", "))
		}
		ts.Check(os.WriteFile(ts.MkAbs(name+".wasm"), text, 0o600))
	}
}
