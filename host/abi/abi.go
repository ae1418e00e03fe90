// Package abi is the table of what a guest can call: one [Row] per host
// function, append-only. Everything else about the ABI is derived from it:
// the registration of host functions, the load-time check of a guest's
// imports, the raw layers of the SDKs, the C header, ABI.md, `ccrun abi` and
// the fuzzer. Start with [Table].
//
// The conventions, which a row need not repeat: a function returns an [Errno]
// as i32, 0 for success; results go through out pointers, written only on
// success; handles are 64-bit, index and generation, never an address, and 0
// is never a handle; pointers are offsets into the guest's memory, out
// pointers and pointers to structures are aligned to 8 bytes (4 for a u32);
// all numbers are little-endian; sizes, offsets and lengths are in bytes and
// times in nanoseconds; a negative timeout waits for ever.
package abi

//go:generate go run ./gen/cmd ../..

// Module is the name under which a guest imports the functions.
const Module = "ccrun_v1"

// Version is the newest row's Since. It grows by one whenever rows are added.
const Version = 3

// ValType is the WebAssembly type of a parameter.
type ValType uint8

// The types a parameter can have.
const (
	I32 ValType = iota
	I64
	F64
)

// String is the type in WebAssembly's text form.
func (t ValType) String() string { return [...]string{"i32", "i64", "f64"}[t] }

// Role says what a parameter means, and so what the host checks about it.
type Role uint8

// Roles.
const (
	Scalar   Role = iota // a number
	Buffer               // a buffer handle
	Stream               // a stream handle
	EventH               // an event handle
	Rank                 // a rank of the world
	Enum                 // a value of the enumeration in Type
	Size                 // bytes: a size, length or offset of device memory
	Timeout              // nanoseconds, negative to wait for ever
	In                   // pointer to bytes that the host reads; its length is the next parameter, of role Len
	Len                  // length of what the previous In or Out parameter points to, in units of its Bytes
	Out                  // pointer to bytes that the host writes: Bytes of them, or Len times Bytes if a Len follows
	InStruct             // pointer to one structure of Bytes bytes, named by Type, that the host reads
	Comm                 // a communicator handle
	Pipeline             // a bucket pipeline's handle
)

// Param is one parameter.
type Param struct {
	Name  string
	Val   ValType
	Role  Role
	Type  string // of Enum, In, Out, InStruct: the enumeration, structure or scalar type ("u64")
	Bytes int    // of In, Out, InStruct: size of one Type
}

// Row is one host function.
type Row struct {
	Name    string
	Since   int
	Family  string // the file in host/module that implements it
	Params  []Param
	Errnos  []Errno // beside OK and, wherever there is a pointer, Fault
	Doc     string  // one sentence
	Devices string  // devices that carry it out
}

// Returns reports whether the function may return e.
func (r *Row) Returns(e Errno) bool {
	if e == OK {
		return true
	}
	for _, listed := range r.Errnos {
		if listed == e {
			return true
		}
	}
	return e == Fault && r.hasPointer()
}

func (r *Row) hasPointer() bool {
	for _, p := range r.Params {
		if p.Role == In || p.Role == Out || p.Role == InStruct {
			return true
		}
	}
	return false
}

// Lookup finds a row by name.
func Lookup(name string) (*Row, bool) {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i], true
		}
	}
	return nil, false
}
