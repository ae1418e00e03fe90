package ccruntest

import (
	"unsafe"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// bytesAt is the slice behind a pointer and a length of the ABI.
func bytesAt(p *byte, n uint32) []byte { return unsafe.Slice(p, n) }

// opsAt is the slice of operations behind a pointer and a length of the ABI.
func opsAt(p *raw.Op, n uint32) []raw.Op { return unsafe.Slice(p, n) }

// callsAt is the slice of calls behind a pointer and a length of the ABI.
func callsAt(p *raw.Call, n uint32) []raw.Call { return unsafe.Slice(p, n) }

// seedsAt is the slice of seeds behind a pointer and a length of the ABI.
func seedsAt(p *uint64, n uint32) []uint64 { return unsafe.Slice(p, n) }
