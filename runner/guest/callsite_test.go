package guest

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/runner/wasm"
)

// TestCallSites has two guests call the host through a function of an SDK's,
// one from the inner and one from the outer of its author's functions, and one
// whose calls nobody notes.
func TestCallSites(t *testing.T) {
	ctx := context.Background()
	r, err := New(ctx, nil, 64*pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(ctx)
	var sites [2]CallSite
	var seen [2][]string
	note := api.GoModuleFunc(func(ctx context.Context, _ api.Module, _ []uint64) {
		for i := range sites {
			if ctx.Value(callSiteKey{}) == &sites[i] {
				seen[i] = append(seen[i], sites[i].Function())
			}
		}
	})
	_, err = r.Wazero().NewHostModuleBuilder("ccrun_v1").NewFunctionBuilder().
		WithGoModuleFunction(note, nil, nil).Export("barrier").Instantiate(WithCallSites(ctx))
	if err != nil {
		t.Fatal(err)
	}
	m := &wasm.Module{
		Imports: []wasm.Import{{Module: "ccrun_v1", Name: "barrier"}}, MemoryPages: 1,
		Functions: []wasm.Function{
			{Name: "main.main", Export: "_start", Body: wasm.Code(wasm.Call(2), wasm.Call(3), wasm.Call(2))},
			{Name: "github.com_ccrun_ccrun_guest_sdk_go_ccrun.__World_.Barrier", Body: wasm.Call(0)},
			{Name: "main.__ring_.step", Body: wasm.Code(wasm.Call(2))},
		},
	}
	compiled, err := r.Compile(ctx, "g.wasm", m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range sites {
		if exit := r.Run(sites[i].Context(ctx), compiled, "g.wasm", WASI{}); exit.Err != nil {
			t.Fatal(exit.Err)
		}
		if got := seen[i]; len(got) != 3 || got[0] != "main.main" || got[1] != "main.(*ring).step" || got[2] != "main.main" {
			t.Errorf("guest %d called from %q", i, got)
		}
	}
	if exit := r.Run(ctx, compiled, "g.wasm", WASI{}); exit.Err != nil {
		t.Error(exit.Err)
	}
}
