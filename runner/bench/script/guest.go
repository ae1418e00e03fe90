package script

import (
	"fmt"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/wasm"
)

// Guest is the Wasm module that carries the script out. All ranks run the same
// one.
func (s *Script) Guest() []byte {
	g := &assembly{Script: s}
	for _, name := range hostCalls {
		row, ok := abi.Lookup(name)
		if !ok {
			panic("no host function " + name)
		}
		i := wasm.Import{Module: abi.Module, Name: name, Results: []wasm.ValType{wasm.I32}}
		for _, p := range row.Params {
			i.Params = append(i.Params, map[abi.ValType]wasm.ValType{abi.I32: wasm.I32, abi.I64: wasm.I64}[p.Val])
		}
		g.imports = append(g.imports, i)
	}
	g.imports = append(g.imports, wasm.Import{
		Module: "wasi_snapshot_preview1", Name: writeCall,
		Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32, wasm.I32}, Results: []wasm.ValType{wasm.I32},
	})
	return g.module().Bytes()
}

// hostCalls are the functions of package abi that the guest imports.
var hostCalls = []string{
	"world", "clock_now", "last_error", "abort", "buffer_alloc", "buffer_free", "buffer_fill", "stream_create", "stream_sync",
	"submit", "share_publish", "share_lookup", "barrier",
}

const writeCall = "fd_write"

// The guest keeps everything in its memory, at these addresses.
const (
	cellsAt  = 64
	vectorAt = 512 // of fd_write
	worldAt  = 544
	nameAt   = 600 // of shares
	errorAt  = 1024
	lineAt   = 2048
	tablesAt = 4096

	errorBytes = 1000
	pageBytes  = 64 << 10
)

// cell is the address of a 64-bit number.
type cell int32

// Numbers that the guest keeps. Those of buffers are in the order of owners.
const (
	own cell = cellsAt + 8*iota
	prev
	next
	rank
	stream
	header // of the piece for this rank
	piece
	pieces // left
	sample
	samples // left
	rounds  // left
	counter
	cursor
	started
	ended
	taken // operations
	size  // of what was looked up
	digits
	printed
	letter // where the next one goes
	number // that is printed
)

// Fields of a header.
const (
	fieldBytes = 8 * iota
	fieldPrev
	fieldNext
	fieldOps // address
	fieldOpCount
	fieldHandles // address of pairs: where a handle goes, and the address of its cell
	fieldHandleCount
	fieldRaises // address of pairs: where a value is, and by how much it grows
	fieldRaiseCount
	fieldSamples
	fieldRounds
	headerBytes
)

// exitFailed is the code of a guest whose call failed.
const exitFailed = 3

// assembly writes the guest.
type assembly struct {
	*Script
	imports []wasm.Import
}

func (g *assembly) module() *wasm.Module {
	tables := g.tables()
	return &wasm.Module{
		Imports:     g.imports,
		MemoryPages: uint32((tablesAt + int64(len(tables)) + pageBytes - 1) / pageBytes),
		Functions: []wasm.Function{
			{Name: "script.start", Export: "_start", Body: g.start()},
			{Name: "script.fail", Body: g.fail()},
			{Name: "script.piece", Body: g.piece()},
			{Name: "script.print", Body: g.print()},
			{Name: "script.word", Body: g.word()},
		},
		Data: []wasm.Data{{Offset: nameAt, Bytes: "script"}, {Offset: tablesAt, Bytes: string(tables)}},
	}
}

const nameBytes = 6

// The functions, in the module's order.
const (
	failFunction = 1 + iota
	pieceFunction
	printFunction
	wordFunction
)

func (g *assembly) call(function int) []byte { return wasm.Call(len(g.imports) + function) }

// host calls a host function; the guest fails if that does.
func (g *assembly) host(name string, args ...[]byte) []byte {
	return wasm.If(wasm.Code(wasm.Code(args...), wasm.Call(g.importNamed(name))), g.call(failFunction))
}

func (g *assembly) importNamed(name string) int {
	for i := range g.imports {
		if g.imports[i].Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("no import %q", name))
}

func address(c cell) []byte           { return wasm.PushI32(int32(c)) }
func get(c cell) []byte               { return wasm.LoadI64(int32(c)) }
func set(c cell, value []byte) []byte { return wasm.StoreI64(address(c), 0, value) }
func add(c cell, v int64) []byte      { return set(c, wasm.Add(get(c), constant(v))) }
func constant(v int64) []byte         { return wasm.PushI64(v) }
func pointer(at int32) []byte         { return wasm.PushI32(at) }
func at(c cell) []byte                { return wasm.Wrap(get(c)) }
func forever() []byte                 { return constant(-1) }
func field(offset uint32) []byte      { return wasm.LoadI64At(at(header), offset) }

func times(c cell, count []byte, body ...[]byte) []byte {
	return wasm.Code(set(c, count), wasm.While(get(c), wasm.Code(body...), add(c, -1)))
}

// start carries out piece after piece.
func (g *assembly) start() []byte {
	return wasm.Code(
		g.host("world", pointer(worldAt)),
		set(rank, wasm.Extend(wasm.LoadI32(worldAt))),
		g.host("stream_create", address(stream)),
		set(header, wasm.Add(constant(tablesAt), wasm.Mul(get(rank), constant(headerBytes)))),
		times(pieces, constant(int64(len(g.Pieces))),
			g.call(pieceFunction),
			add(header, int64(g.Ranks)*headerBytes),
			add(piece, 1),
		),
	)
}

// piece carries out the piece that the header is of.
func (g *assembly) piece() []byte {
	return wasm.Code(
		g.host("buffer_alloc", field(fieldBytes), address(own)),
		g.host("share_publish", pointer(nameAt), pointer(nameBytes), get(piece), get(own), constant(0), field(fieldBytes)),
		g.lookup(fieldPrev, prev), g.lookup(fieldNext, next),
		g.pairs(fieldHandles, fieldHandleCount, wasm.LoadI64At(wasm.Wrap(wasm.LoadI64At(at(cursor), 8)), 0)),
		// Numbers that are no numbers, or nearly zero, take other times.
		g.host("buffer_fill", get(stream), get(own), constant(0), field(fieldBytes), pointer(int32(op.F32)), get(rank)),
		g.host("stream_sync", get(stream), forever()),
		set(sample, constant(0)),
		times(samples, field(fieldSamples),
			g.barrier(),
			g.host("clock_now", address(started)),
			times(rounds, field(fieldRounds),
				g.pairs(fieldRaises, fieldRaiseCount,
					wasm.Add(wasm.LoadI64At(wasm.Wrap(wasm.LoadI64At(at(cursor), 0)), 0), wasm.LoadI64At(at(cursor), 8))),
				g.host("submit", get(stream), wasm.Wrap(field(fieldOps)), wasm.Wrap(field(fieldOpCount)), address(taken)),
				g.host("stream_sync", get(stream), forever()),
			),
			g.host("clock_now", address(ended)),
			g.call(printFunction),
			add(sample, 1),
		),
		g.barrier(), // nobody frees what a peer still uses
		g.host("buffer_free", get(own)),
	)
}

func (g *assembly) barrier() []byte { return g.host("barrier", forever()) }

func (g *assembly) lookup(peer uint32, buffer cell) []byte {
	return g.host("share_lookup", wasm.Wrap(field(peer)), pointer(nameAt), pointer(nameBytes), get(piece), forever(), address(buffer), address(size))
}

// pairs stores a value for each pair of a table, at the address that the pair
// begins with. The cursor is at the pair.
func (g *assembly) pairs(table, count uint32, value []byte) []byte {
	return wasm.Code(
		set(cursor, field(table)),
		times(counter, field(count),
			wasm.StoreI64(wasm.Wrap(wasm.LoadI64At(at(cursor), 0)), 0, value),
			add(cursor, 16),
		),
	)
}

// print tells of a sample: four numbers in hexadecimal.
func (g *assembly) print() []byte {
	word := func(value []byte) []byte { return wasm.Code(set(number, value), g.call(wordFunction)) }
	return wasm.Code(
		set(letter, constant(lineAt)),
		word(get(piece)), word(get(rank)), word(get(sample)), word(wasm.Sub(get(ended), get(started))),
		wasm.StoreByte(wasm.Wrap(wasm.Sub(get(letter), constant(1))), constant('\n')), // the last space
		wasm.StoreI32(pointer(vectorAt), pointer(lineAt)),
		wasm.StoreI32(pointer(vectorAt+4), wasm.Wrap(wasm.Sub(get(letter), constant(lineAt)))),
		pointer(1), pointer(vectorAt), pointer(1), pointer(vectorAt+8), wasm.Call(g.importNamed(writeCall)), wasm.Drop(),
	)
}

// word writes sixteen digits and a space.
func (g *assembly) word() []byte {
	nibble := wasm.ShiftRight(get(number), constant(60))
	character := func(v []byte) []byte { return wasm.Code(wasm.StoreByte(at(letter), v), add(letter, 1)) }
	return wasm.Code(
		times(digits, constant(16),
			// Digits lie at 48, letters at 97.
			character(wasm.Add(wasm.Add(nibble, constant('0')), wasm.Mul(wasm.Extend(wasm.Above(nibble, constant(9))), constant('a'-'9'-1)))),
			set(number, wasm.ShiftLeft(get(number), constant(4))),
		),
		character(constant(' ')),
	)
}

// fail ends the run with the text of the last error.
func (g *assembly) fail() []byte {
	return wasm.Code(
		pointer(errorAt), pointer(errorBytes), address(printed), wasm.Call(g.importNamed("last_error")), wasm.Drop(),
		wasm.If(wasm.Above(get(printed), constant(errorBytes)), set(printed, constant(errorBytes))),
		pointer(exitFailed), pointer(errorAt), at(printed), wasm.Call(g.importNamed("abort")), wasm.Drop(),
		wasm.Unreachable(),
	)
}
