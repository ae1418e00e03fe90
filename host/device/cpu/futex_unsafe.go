package cpu

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Futex operations of linux/futex.h, without FUTEX_PRIVATE: the sleepers may
// be other processes.
const (
	futexWaitOp = 0
	futexWakeOp = 1
)

// futexWait sleeps until woken, at most nanos, unless the low half of v
// already differs from seen's. It may return early for no reason.
func futexWait(v *atomic.Uint64, seen uint64, nanos int64) {
	limit := unix.NsecToTimespec(nanos)
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, lowHalf(v), futexWaitOp, uintptr(uint32(seen)),
		uintptr(unsafe.Pointer(&limit)), 0, 0)
}

// futexWake wakes everyone who sleeps on v.
func futexWake(v *atomic.Uint64) {
	const all = 1<<31 - 1
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, lowHalf(v), futexWakeOp, all, 0, 0, 0)
}

// lowHalf is the address of the low 32 bits of v: futexes have 32.
func lowHalf(v *atomic.Uint64) uintptr {
	const bigEndian = uint16(0x0100)
	skip := uintptr(*(*byte)(unsafe.Pointer(&[]uint16{bigEndian}[0]))) * 4
	return uintptr(unsafe.Pointer(v)) + skip
}

func schedYield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
