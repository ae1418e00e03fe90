package guest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Runtime compiles and runs guests of one process.
type Runtime struct {
	wazero wazero.Runtime
	memory *Memory
}

// New makes a runtime with WASI. cache may be nil; memoryBytes limits a
// guest's linear memory, 0 for as much as there can be.
func New(ctx context.Context, cache wazero.CompilationCache, memoryBytes int64) (*Runtime, error) {
	return newRuntime(ctx, cache, memoryBytes, true)
}

// NewMany is [New] for a runtime of very many guests: their stacks name
// functions, but not where those are in the source, since to look that up takes
// milliseconds each. Its cache must not be that of another kind of runtime.
func NewMany(ctx context.Context, cache wazero.CompilationCache, memoryBytes int64) (*Runtime, error) {
	return newRuntime(ctx, cache, memoryBytes, false)
}

func newRuntime(ctx context.Context, cache wazero.CompilationCache, memoryBytes int64, sources bool) (*Runtime, error) {
	config := wazero.NewRuntimeConfigCompiler()
	if !compilerSupported() {
		config = wazero.NewRuntimeConfig()
	}
	config = config.WithCloseOnContextDone(false).WithDebugInfoEnabled(sources)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	r := &Runtime{wazero: wazero.NewRuntimeWithConfig(ctx, config), memory: newMemory(memoryBytes)}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r.wazero); err != nil {
		r.wazero.Close(ctx)
		return nil, fmt.Errorf("wasi: %w", err)
	}
	return r, nil
}

// compilerSupported reports whether wazero translates to machine code here; it
// interprets elsewhere.
func compilerSupported() bool { return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" }

// Wazero is the runtime underneath, to register host modules with.
func (r *Runtime) Wazero() wazero.Runtime { return r.wazero }

// Memory is what the guests of this runtime used that had none of their own.
func (r *Runtime) Memory() *Memory { return r.memory }

// NewMemory is the memory of one guest of many, with the same limit.
func (r *Runtime) NewMemory() *Memory {
	return &Memory{limitBytes: r.memory.limitBytes, oneOfMany: true}
}

// Close gives everything back.
func (r *Runtime) Close(ctx context.Context) error { return r.wazero.Close(ctx) }

// Compile translates a module, with all processors, or loads what another
// process has translated, and checks that it is a command within its limits.
// path is only what messages call it.
func (r *Runtime) Compile(ctx context.Context, path string, wasm []byte) (wazero.CompiledModule, error) {
	compiled, err := r.wazero.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.NumCPU()), wasm)
	if err != nil {
		return nil, invalid(path, err)
	}
	if err := r.check(path, compiled); err != nil {
		compiled.Close(ctx)
		return nil, err
	}
	return compiled, nil
}

func (r *Runtime) check(path string, compiled wazero.CompiledModule) error {
	start, ok := compiled.ExportedFunctions()[startFunction]
	_, isReactor := compiled.ExportedFunctions()["_initialize"]
	switch {
	case !ok && isReactor:
		return &Error{Text: fmt.Sprintf("%s is a library (it exports _initialize), not a program", path),
			Hint: "build it as a command: without -buildmode=c-shared, or without -mexec-model=reactor"}
	case !ok:
		return &Error{Text: fmt.Sprintf("%s exports no _start function", path), Hint: "build it as a WASI command: " + strings.TrimPrefix(goHint, "build it with: ")}
	case len(start.ParamTypes()) != 0 || len(start.ResultTypes()) != 0:
		return &Error{Text: fmt.Sprintf("%s: _start takes parameters or returns a result", path), Hint: "_start of a WASI command has neither"}
	}
	for _, memory := range compiled.ExportedMemories() {
		if need := uint64(memory.Min()) * pageBytes; need > r.memory.limitBytes {
			return &Error{Reason: TooBig, Text: fmt.Sprintf("%s needs at least %d bytes of memory and its limit is %d", path, need, r.memory.limitBytes),
				Hint: fmt.Sprintf("raise the limit with --memory %dMiB", (need+1<<20-1)>>20)}
		}
	}
	return checkModules(path, compiled)
}

// checkModules refuses functions of host modules that a guest of ccrun never
// has. Package module checks its own.
func checkModules(path string, compiled wazero.CompiledModule) error {
	for _, f := range compiled.ImportedFunctions() {
		from, name, _ := f.Import()
		if from == wasi_snapshot_preview1.ModuleName || strings.HasPrefix(from, "ccrun_v") {
			continue
		}
		hint := "a guest can import from wasi_snapshot_preview1 and ccrun_v1; `ccrun abi` lists the latter"
		switch {
		case from == "gojs" || from == "go":
			hint = "this was built with GOOS=js: " + goHint
		case strings.HasPrefix(from, "wasi:") || from == "wasi_unstable":
			hint = "build for WASI preview 1 (wasip1, wasi_snapshot_preview1)"
		}
		return &Error{Reason: BadImport, Text: fmt.Sprintf("%s imports %s.%s, which ccrun does not have", path, from, name), Hint: hint}
	}
	for _, m := range compiled.ImportedMemories() {
		from, name, _ := m.Import()
		return &Error{Reason: BadImport, Text: fmt.Sprintf("%s imports a memory, %s.%s", path, from, name), Hint: "a guest brings its own memory: link without --import-memory"}
	}
	return nil
}

const startFunction = "_start"

// Exit is how a guest ended.
type Exit struct {
	Err   error // of the start function: nil, a [sys.ExitError], or what unwound it
	Code  uint32
	Trap  string  // what went wrong, in one line; "" if the guest exited by itself
	Hint  string  // of a guest that could not be started
	Stack []Frame // innermost first, if it was unwound
}

// Run runs a compiled guest to its end. ctx must carry the state that host
// functions need; it does not stop the guest. It is what they get, as it is:
// each of them looks for its state there.
func (r *Runtime) Run(ctx context.Context, compiled wazero.CompiledModule, path string, w WASI) Exit {
	loading := experimental.WithMemoryAllocator(ctx, cmp.Or(w.Memory, r.memory))
	m, err := r.wazero.InstantiateModule(loading, compiled, w.config(filepath.Base(path)))
	if err != nil {
		return exitOf(compiled.Name(), err)
	}
	defer m.Close(ctx)
	return exitOf(compiled.Name(), call(ctx, m))
}

func call(ctx context.Context, m api.Module) error {
	_, err := m.ExportedFunction(startFunction).Call(ctx)
	return err
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
