package kernels

import "github.com/ccrun/ccrun/host/op"

// ISA says which instructions are used.
type ISA uint8

// The sets of instructions, from the least to the most capable.
const (
	Portable ISA = iota
	AVX2
	AVX512
)

// String is the name in lower case.
func (i ISA) String() string {
	return [...]string{Portable: "portable", AVX2: "avx2", AVX512: "avx512"}[i]
}

// vectorBytes is the width of a vector.
func (i ISA) vectorBytes() int { return 16 << i }

// StreamBytesDefault is the traffic from which writing past the caches pays.
const StreamBytesDefault = 32 << 20

// Set is how memory is moved on this machine.
type Set struct {
	ISA ISA
	// StreamBytes is the traffic (bytes read and written) of an operation from
	// which on its results are written past the caches.
	StreamBytes int64
}

// New returns the fastest set that this processor can execute.
func New() Set { return Set{ISA: Detect(), StreamBytes: StreamBytesDefault} }

// Task says what [Set.Combine] does with the elements.
type Task struct {
	Type op.Dtype
	Red  op.RedOp
	// Divisor divides the sums if Red is Avg; 0 and 1 leave them as they are,
	// 2^24 is the largest.
	Divisor int
	// TrafficBytes is what the operation that this pass is part of reads and
	// writes in all; 0 is the pass alone.
	TrafficBytes int64
	// Backward begins with the end. Of what an operation touched last, most is
	// still in the caches: one that follows on the same memory, or on another's
	// results, finds it there if it goes the other way.
	Backward bool
}

// divides reports whether sums are divided.
func (t Task) divides() bool { return t.Red == op.Avg && t.Divisor > 1 }

// Combine writes the element-wise combination of the sources, at least one and
// at most [op.MaxSources], to every one of as many destinations. All are as
// long as the first destination, a whole number of elements.
func (s Set) Combine(dests, sources [][]byte, t Task) {
	bytes := len(dests[0])
	switch {
	case bytes == 0:
	case len(sources) == 1 && len(dests) == 1 && !t.divides():
		s.move(dests[0], sources[0][:bytes], t)
	case bytes < smallBytes && t.Type != op.F16 && t.Type != op.BF16:
		combineFew(dests, sources, t)
	case s.ISA != Portable && s.vectors(dests, sources, t):
	default:
		combinePortable(dests, sources, t)
	}
}

// smallBytes is the size below which setting up a vector kernel costs more
// than it saves.
const smallBytes = 64

// streams reports whether an operation writes past the caches.
func (s Set) streams(trafficBytes, ownBytes int64) bool {
	return s.ISA != Portable && max(trafficBytes, ownBytes) >= s.StreamBytes
}
