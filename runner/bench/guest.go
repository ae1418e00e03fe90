package bench

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/wasm"
)

// The guest keeps everything in its memory, at these addresses.
const (
	worldAt     = 128  // the structure world
	resultAt    = 256  // the structure verify_result
	vectorAt    = 288  // what fd_write is given
	algorithmAt = 320  // the algorithm's name
	gatherAt    = 512  // the call that brings results to rank 0
	cellsAt     = 1024 // numbers, see below
	seedsAt     = 2048 // of the patterns of all ranks
	errorAt     = 8192 // why a call failed
	lineAt      = 9216 // a line of results, in hexadecimal
	recordsAt   = 32768

	errorBytes = 1000
	// lineWords is how many numbers a line holds; the runner breaks lines of 64 KiB.
	lineWords = 1024
	pageBytes = 64 << 10
)

// cell is the address of a 64-bit number.
type cell int32

// Numbers that the guest keeps.
const (
	rank cell = cellsAt + 8*iota
	stream
	comm
	input
	output
	sent      // buffer of this rank's results
	gathered  // buffer of all ranks' results, at rank 0
	cursor    // the record of the placement that is measured
	next      // the one after it
	remaining // records
	counter   // of the loop that runs
	inner     // of a loop within
	digits    // of the innermost
	salt      // what makes patterns of one check differ from those of the next
	started   // times
	issued
	ended
	wrong
	place   // in memory
	printed // number
	number  // of words in this line
	first   // word of this line
	source  // rank whose results are printed
	left    // rank before this one
	right   // the one behind
)

// Guest is the Wasm module that measures the rows. All ranks run the same one;
// rank 0 prints what all have measured, for [Results].
func (o *Options) Guest(rows []Row) []byte {
	g := newAssembly(o, rows)
	return g.module().Bytes()
}

// assembly writes the guest.
type assembly struct {
	*Options
	imports []wasm.Import
	records []record
	tables  []byte // of counts, behind the records
	names   string // of algorithms
	words   int64  // results of the placement with most
	buffer  int64  // bytes of the input and of the output
}

// hostCalls are the functions of package abi that the guest imports.
var hostCalls = []string{
	"world", "clock_now", "last_error", "abort", "buffer_alloc", "buffer_read", "buffer_write", "buffer_fill", "buffer_verify",
	"buffer_verify_reduced", "stream_create", "stream_sync", "comm_world", "collective", "barrier", "send", "recv",
}

const writeCall = "fd_write"

func newAssembly(o *Options, rows []Row) *assembly {
	g := &assembly{Options: o}
	for _, name := range hostCalls {
		row, ok := abi.Lookup(name)
		if !ok {
			panic("no host function " + name)
		}
		i := wasm.Import{Module: abi.Module, Name: name, Results: []wasm.ValType{wasm.I32}}
		for _, p := range row.Params {
			i.Params = append(i.Params, valTypes[p.Val])
		}
		g.imports = append(g.imports, i)
	}
	g.imports = append(g.imports, wasm.Import{
		Module: "wasi_snapshot_preview1", Name: writeCall,
		Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32, wasm.I32}, Results: []wasm.ValType{wasm.I32},
	})
	for i := range rows {
		g.words = max(g.words, int64(o.wordCount(&rows[i])))
		g.buffer = max(g.buffer, rows[i].Bytes()+o.unalignBytes(&rows[i]))
		g.records = append(g.records, o.recordsOf(&rows[i])...)
	}
	at := 0
	for i := range rows {
		end := at + len(rows[i].layouts())*variants
		g.place(&rows[i], g.records[at:end])
		at = end
	}
	return g
}

// place gives the records of a row what lies elsewhere in memory.
func (g *assembly) place(row *Row, records []record) {
	name := strings.Index(g.names, row.Algorithm)
	if name < 0 {
		name = len(g.names)
		g.names += row.Algorithm
	}
	tablesAt := 0
	if row.Parts != nil {
		tablesAt = int(g.tablesAt()) + len(g.tables)
		for _, table := range row.tables() {
			for _, count := range table {
				g.tables = binary.LittleEndian.AppendUint64(g.tables, uint64(count))
			}
		}
	}
	for i := range records {
		c := &records[i].callFields
		c.algorithmAt, c.tablesAt, c.tableBytes = algorithmAt+int32(name), int32(tablesAt), 2*row.Ranks*8
	}
}

var valTypes = map[abi.ValType]wasm.ValType{abi.I32: wasm.I32, abi.I64: wasm.I64}

// tablesAt is where counts lie in memory, behind the records.
func (g *assembly) tablesAt() int32 { return recordsAt + int32(len(g.records)*recordBytes) }

// wordsAt is where this rank's results lie, behind the counts.
func (g *assembly) wordsAt() int32 { return g.tablesAt() + int32(len(g.tables)) }

func (g *assembly) module() *wasm.Module {
	records := make([]byte, 0, len(g.records)*recordBytes)
	for i := range g.records {
		records = g.records[i].append(records)
	}
	end := int64(g.wordsAt()) + g.words*8
	gather := callFields{op: op.Gather, dtype: op.I64, warmup: true}
	return &wasm.Module{
		Imports:     g.imports,
		MemoryPages: uint32((end + pageBytes - 1) / pageBytes),
		Functions: []wasm.Function{
			{Name: "bench.start", Export: "_start", Body: g.start()},
			{Name: "bench.fail", Body: g.fail()},
			{Name: "bench.measure", Body: g.measure()},
			{Name: "bench.check", Body: g.check()},
			{Name: "bench.print", Body: g.print()},
		},
		Data: []wasm.Data{
			{Offset: algorithmAt, Bytes: g.names},
			{Offset: gatherAt, Bytes: string(gather.append(nil))},
			{Offset: recordsAt, Bytes: string(records)},
			{Offset: g.tablesAt(), Bytes: string(g.tables)},
		},
	}
}

// The functions, in the module's order.
const (
	failFunction = 1 + iota
	measureFunction
	checkFunction
	printFunction
)

func (g *assembly) call(function int) []byte { return wasm.Call(len(g.imports) + function) }

// host calls a host function; the guest fails if that does.
func (g *assembly) host(name string, args ...[]byte) []byte {
	return wasm.If(wasm.Code(wasm.Code(args...), wasm.Call(g.importNamed(name))), g.call(failFunction))
}

func address(c cell) []byte           { return wasm.PushI32(int32(c)) }
func get(c cell) []byte               { return wasm.LoadI64(int32(c)) }
func set(c cell, value []byte) []byte { return wasm.StoreI64(address(c), 0, value) }
func add(c cell, value []byte) []byte { return set(c, wasm.Add(get(c), value)) }
func constant(v int64) []byte         { return wasm.PushI64(v) }
func pointer(at int32) []byte         { return wasm.PushI32(at) }
func forever() []byte                 { return wasm.PushI64(-1) }
func at(c cell) []byte                { return wasm.Wrap(get(c)) }
func times(c cell, count []byte, body ...[]byte) []byte {
	return wasm.Code(set(c, count), wasm.While(get(c), wasm.Code(body...), add(c, constant(-1))))
}

// start prepares everything, then measures record after record.
func (g *assembly) start() []byte {
	return wasm.Code(
		g.host("world", pointer(worldAt)),
		set(rank, wasm.Extend(wasm.LoadI32(worldAt))),
		g.neighbours(),
		g.host("stream_create", address(stream)),
		g.host("comm_world", forever(), address(comm)),
		g.host("buffer_alloc", constant(g.buffer), address(input)),
		g.host("buffer_alloc", constant(g.buffer), address(output)),
		g.host("buffer_alloc", constant(g.words*8), address(sent)),
		g.host("buffer_alloc", constant(g.words*8*int64(g.Ranks())), address(gathered)),
		wasm.StoreI64(pointer(gatherAt), 0, get(comm)),
		wasm.StoreI64(pointer(gatherAt), callIn, get(sent)),
		wasm.StoreI64(pointer(gatherAt), callOut, get(gathered)),
		set(cursor, constant(recordsAt)),
		set(salt, constant(1)),
		times(remaining, constant(int64(len(g.records)/variants)),
			// The root's variant of the record lies behind the others'.
			set(next, wasm.Add(get(cursor), constant(variants*recordBytes))),
			wasm.If(wasm.Equal(get(rank), g.field(fieldRoot)), add(cursor, constant(recordBytes))),
			g.call(measureFunction),
			set(cursor, get(next)),
		),
		// A rank that ends with wrong numbers ends the others, which must not
		// come before rank 0 has printed them.
		g.barrier(),
	)
}

// neighbours works out who sends to this rank and to whom it sends.
func (g *assembly) neighbours() []byte {
	last := constant(int64(g.Ranks() - 1))
	return wasm.Code(
		set(left, wasm.Sub(get(rank), constant(1))),
		wasm.If(wasm.Equal(get(rank), constant(0)), set(left, last)),
		set(right, wasm.Add(get(rank), constant(1))),
		wasm.If(wasm.Equal(get(rank), last), set(right, constant(0))),
	)
}

// fail ends the run with the text of the last error.
func (g *assembly) fail() []byte {
	last, abort := g.importNamed("last_error"), g.importNamed("abort")
	return wasm.Code(
		pointer(errorAt), pointer(errorBytes), address(number), wasm.Call(last), wasm.Drop(),
		wasm.If(wasm.Above(get(number), constant(errorBytes)), set(number, constant(errorBytes))),
		pointer(ExitCommunication), pointer(errorAt), at(number), wasm.Call(abort), wasm.Drop(),
		wasm.Unreachable(),
	)
}

func (g *assembly) importNamed(name string) int {
	for i := range g.imports {
		if g.imports[i].Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("no import %q", name))
}
