package main

import (
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/wasm"
)

// The guest keeps everything in its memory, at these addresses.
const (
	streamAt  = 64
	ownAt     = 72  // buffer
	sharedAt  = 80  // buffer, looked up
	sizeAt    = 88  // of shared
	counterAt = 96  // operations or batches left
	raisedAt  = 104 // value of the last signal
	takenAt   = 112 // operations of a batch that were accepted
	nameAt    = 120
	batchAt   = 1024
)

// The functions that are called from here; _start sets up.
const (
	startFunction = "_start"
	workFunction  = "work"
)

// assembly writes the guest.
type assembly struct {
	work
	imports []wasm.Import
}

var hostCalls = []string{"stream_create", "stream_sync", "buffer_alloc", "share_publish", "share_lookup", "copy", "put", "signal", "submit"}

func newAssembly(work work) *assembly {
	a := &assembly{work: work}
	for _, name := range hostCalls {
		row, ok := abi.Lookup(name)
		if !ok {
			panic("no host function " + name)
		}
		i := wasm.Import{Module: abi.Module, Name: name, Results: []wasm.ValType{wasm.I32}}
		for _, p := range row.Params {
			i.Params = append(i.Params, map[abi.ValType]wasm.ValType{abi.I32: wasm.I32, abi.I64: wasm.I64}[p.Val])
		}
		a.imports = append(a.imports, i)
	}
	return a
}

func (a *assembly) bytes() []byte {
	m := wasm.Module{
		Imports: a.imports, MemoryPages: 1, Data: []wasm.Data{{Offset: nameAt, Bytes: "x"}},
		Functions: []wasm.Function{
			{Name: startFunction, Export: startFunction, Body: a.start()},
			{Name: workFunction, Export: workFunction, Body: a.loop()},
		},
	}
	return m.Bytes()
}

// host calls a host function and traps if it fails.
func (a *assembly) host(name string, args ...[]byte) []byte {
	for i := range a.imports {
		if a.imports[i].Name == name {
			return wasm.If(wasm.Code(wasm.Code(args...), wasm.Call(i)), wasm.Unreachable())
		}
	}
	panic("no import " + name)
}

func pointer(at int32) []byte { return wasm.PushI32(at) }
func constant(v int64) []byte { return wasm.PushI64(v) }
func number(at int32) []byte  { return wasm.LoadI64(at) }
func forever() []byte         { return wasm.PushI64(-1) }
func add(at int32, v int64) []byte {
	return wasm.StoreI64(pointer(at), 0, wasm.Add(number(at), constant(v)))
}

// start makes the stream and a buffer, which it also looks up as a share.
func (a *assembly) start() []byte {
	return wasm.Code(
		a.host("stream_create", pointer(streamAt)),
		a.host("buffer_alloc", constant(bufferBytes), pointer(ownAt)),
		a.host("share_publish", pointer(nameAt), pointer(1), constant(0), number(ownAt), constant(0), constant(bufferBytes)),
		a.host("share_lookup", pointer(0), pointer(nameAt), pointer(1), constant(0), forever(), pointer(sharedAt), pointer(sizeAt)),
	)
}

// loop does a chunk of the work.
func (a *assembly) loop() []byte {
	turns, call := a.chunk(), a.one()
	if a.batched {
		turns = a.chunk() / batchOps
		call = a.host("submit", number(streamAt), pointer(batchAt), pointer(batchOps), pointer(takenAt))
	}
	return wasm.Code(
		wasm.StoreI64(pointer(counterAt), 0, constant(int64(turns))),
		wasm.While(number(counterAt), call, add(counterAt, -1)),
		a.host("stream_sync", number(streamAt), forever()),
	)
}

// one is one operation.
func (a *assembly) one() []byte {
	switch a.kind {
	case op.Copy:
		return a.host("copy", number(streamAt), number(ownAt), constant(0), number(ownAt), constant(bufferBytes/2), constant(a.work.bytes))
	case op.Put:
		return a.host("put", number(streamAt), number(sharedAt), constant(0), number(ownAt), constant(bufferBytes/2), constant(a.work.bytes))
	default:
		return wasm.Code(add(raisedAt, 1), a.host("signal", number(streamAt), pointer(0), pointer(guestSlot), number(raisedAt)))
	}
}

// moduleConfig runs _start.
func moduleConfig() wazero.ModuleConfig { return wazero.NewModuleConfig().WithName("cost") }

// describeBatch writes the structures of a batch, which the guest submits over
// and over.
func describeBatch(memory api.Memory, work work) error {
	own, _ := memory.ReadUint64Le(ownAt)
	dst := own
	if work.kind == op.Put {
		dst, _ = memory.ReadUint64Le(sharedAt)
	}
	for n := range uint64(batchOps) {
		o := make([]byte, 0, abi.OpBytes)
		o = binary.LittleEndian.AppendUint32(o, uint32(work.kind))
		o = binary.LittleEndian.AppendUint32(o, 0) // peer
		for _, v := range []uint64{dst, 0, own, bufferBytes / 2, uint64(work.bytes), n + 1} {
			o = binary.LittleEndian.AppendUint64(o, v)
		}
		o = binary.LittleEndian.AppendUint32(o, guestSlot)
		o = append(o, make([]byte, abi.OpBytes-len(o))...)
		if !memory.Write(uint32(batchAt+n*abi.OpBytes), o) {
			return errors.New("the guest's memory is too small for a batch")
		}
	}
	return nil
}
