//go:build !wasip1

package raw

// Addresses is the part of Calls that gives out the 32-bit numbers which stand
// for pointers inside structures.
type Addresses interface {
	AddressOfViews(views *[8]View) uint32
	AddressOfText(text *[64]byte) uint32
	AddressOfCall(call *Call) uint32
	AddressOfGemm(gemm *Gemm) uint32
	AddressOfBox(box *Box) uint32
	AddressOfCounts(counts []uint64) uint32
}

// AddressOfViews is what the host knows views by, for [Op.Sources].
func (h Host) AddressOfViews(views *[8]View) uint32 { return h.calls().AddressOfViews(views) }

// AddressOfText is what the host knows text by, for [Collective.Algorithm]
// and [Call.Algorithm].
func (h Host) AddressOfText(text *[64]byte) uint32 { return h.calls().AddressOfText(text) }

// AddressOfCall is what the host knows call by, for [Op.Sources].
func (h Host) AddressOfCall(call *Call) uint32 { return h.calls().AddressOfCall(call) }

// AddressOfGemm is what the host knows gemm by, for [Op.Sources].
func (h Host) AddressOfGemm(gemm *Gemm) uint32 { return h.calls().AddressOfGemm(gemm) }

// AddressOfBox is what the host knows box by, for [Op.Sources].
func (h Host) AddressOfBox(box *Box) uint32 { return h.calls().AddressOfBox(box) }

// AddressOfCounts is what the host knows counts by, for [Call.SendCounts] and
// its like.
func (h Host) AddressOfCounts(counts []uint64) uint32 { return h.calls().AddressOfCounts(counts) }

// calls is what stands in for the host; without it nothing can go on.
func (h Host) calls() Calls {
	if h.Calls == nil {
		panic("raw: no ccrun host here: build the guest with GOOS=wasip1 GOARCH=wasm and run it with ccrun, or test it with package ccruntest")
	}
	return h.Calls
}
