//go:build wasip1

package raw

import "unsafe"

// AddressOfViews is what the host knows views by, for [Op.Sources]. The caller
// keeps views alive, on the heap, until the call that uses the address returns.
func (Host) AddressOfViews(views *[8]View) uint32 { return uint32(uintptr(unsafe.Pointer(views))) }

// AddressOfText is what the host knows text by, for [Collective.Algorithm].
// The caller keeps text alive, on the heap, until the call that uses the
// address returns.
func (Host) AddressOfText(text *[64]byte) uint32 { return uint32(uintptr(unsafe.Pointer(text))) }
