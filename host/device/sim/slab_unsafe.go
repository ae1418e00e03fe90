package sim

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// slab hands out slices of one large allocation after another: what thousands
// of ranks look at by turns should lie on few pages, huge ones if the kernel
// gives them. What has been handed out is not handed out again: a closed stream's
// memory is the garbage collector's, and goes when all of its allocation does.
type slab[T any] struct{ rest []T }

// slabs are those of a cluster.
type slabs struct {
	devices slab[Device]
	streams slab[stream]
	rings   slab[task]
}

// slabBytes is how much is allocated at a time, for clusters that need as much.
const slabBytes = 4 << 20

// take gives n zeroed values next to each other; expected is how often as many
// will be asked for.
func (s *slab[T]) take(n, expected int) []T {
	if len(s.rest) < n {
		var one T
		all := min(max(slabBytes/int(unsafe.Sizeof(one)), n), max(n*expected, n))
		s.rest = make([]T, all)
		if bytes := all * int(unsafe.Sizeof(one)); bytes >= slabBytes/2 {
			adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.rest))), bytes))
		}
	}
	out := s.rest[:n:n]
	s.rest = s.rest[n:]
	return out
}

// adviseHuge asks for huge pages under memory. It is advice only.
func adviseHuge(b []byte) {
	const page = 4 << 10
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - skip) &^ (page - 1); n > 0 {
		_ = unix.Madvise(b[skip:][:n], unix.MADV_HUGEPAGE)
	}
}
