package runner

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
)

// compile makes a runtime with the host's functions and a guest ready to run
// in it. A cache that does not work is done without.
func compile(ctx context.Context, s *spec, path string, wasm []byte) (*guest.Runtime, wazero.CompiledModule, error) {
	dir := s.CacheDir
	if s.hasMany() {
		dir = filepath.Join(dir, "many")
	}
	cache, err := guest.OpenCache(dir)
	if err != nil {
		cache = nil
	}
	r, compiled, err := compileWith(ctx, cache, s, path, wasm)
	var refused *guest.Error
	if err == nil || cache == nil || !errors.As(err, &refused) || refused.Reason != guest.BadFile {
		return r, compiled, err
	}
	return compileWith(ctx, nil, s, path, wasm) // the cache may be full or damaged
}

func compileWith(ctx context.Context, cache wazero.CompilationCache, s *spec, path string, wasm []byte) (*guest.Runtime, wazero.CompiledModule, error) {
	newRuntime := guest.New
	if s.hasMany() {
		newRuntime = guest.NewMany
	}
	r, err := newRuntime(ctx, cache, s.MemoryBytes)
	if err != nil {
		return nil, nil, err
	}
	compiled, err := r.Compile(ctx, path, wasm)
	if err == nil {
		err = module.CheckImports(compiled)
	}
	if err == nil {
		if s.Record {
			ctx = guest.WithCallSites(ctx) // of the host's functions only
		}
		err = module.Register(ctx, r.Wazero())
	}
	if err != nil {
		r.Close(ctx)
		return nil, nil, err
	}
	return r, compiled, nil
}
