//go:build wasip1

package raw

import "unsafe"

// AddressOfViews is what the host knows views by, for [Op.Sources]. The caller
// keeps views alive, on the heap, until the call that uses the address returns.
func (Host) AddressOfViews(views *[8]View) uint32 { return uint32(uintptr(unsafe.Pointer(views))) }

// AddressOfText is what the host knows text by, for [Collective.Algorithm]
// and [Call.Algorithm]. The caller keeps text alive, on the heap, until the call that uses the
// address returns.
func (Host) AddressOfText(text *[64]byte) uint32 { return uint32(uintptr(unsafe.Pointer(text))) }

// AddressOfCall is what the host knows call by, for [Op.Sources]. The caller
// keeps call alive, on the heap, until the call that uses the address returns.
func (Host) AddressOfCall(call *Call) uint32 { return uint32(uintptr(unsafe.Pointer(call))) }

// AddressOfGemm is what the host knows gemm by, for [Op.Sources]. The caller
// keeps gemm alive, on the heap, until the call that uses the address returns.
func (Host) AddressOfGemm(gemm *Gemm) uint32 { return uint32(uintptr(unsafe.Pointer(gemm))) }

// AddressOfBox is what the host knows box by, for [Op.Sources]. The caller keeps
// box alive, on the heap, until the call that uses the address returns.
func (Host) AddressOfBox(box *Box) uint32 { return uint32(uintptr(unsafe.Pointer(box))) }

// AddressOfCounts is what the host knows counts by, for [Call.SendCounts] and
// its like. The caller keeps counts alive, on the heap, until the call that
// uses the address returns.
func (Host) AddressOfCounts(counts []uint64) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(counts))))
}
