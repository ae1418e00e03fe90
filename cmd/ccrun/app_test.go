package main

import (
	"strings"
	"testing"
)

func TestRoute(t *testing.T) {
	for line, want := range map[string]string{
		"ccrun":                          "ccrun",
		"ccrun x.wasm -n 3":              "ccrun run x.wasm -n 3",
		"ccrun -n 4 x.wasm":              "ccrun run -n 4 x.wasm",
		"ccrun run x.wasm":               "ccrun run x.wasm",
		"ccrun ./report":                 "ccrun run ./report",
		"ccrun report dir":               "ccrun report dir",
		"ccrun __rank":                   "ccrun __rank",
		"ccrun --version":                "ccrun version",
		"ccrun -h":                       "ccrun --help",
		"ccrun help":                     "ccrun --help",
		"ccrun help abi":                 "ccrun abi --help",
		"ccrun --json help":              "ccrun run --json help",
		"ccrun x.wasm --help -o json=xx": "ccrun run x.wasm --help -o json=xx",
	} {
		got := strings.Join(route(newApp(&state{}), strings.Fields(line)), " ")
		if got != want {
			t.Errorf("%s: routed as %q, want %q", line, got, want)
		}
	}
}
