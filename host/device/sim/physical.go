package sim

import "golang.org/x/sys/unix"

// realBytesMost is the most that buffers of all ranks together hold, on a
// computer that has more than twice as much memory or does not say.
const realBytesMost = 64 << 30

// realMost is how much data all ranks' buffers may hold: more would end the
// process, without a word that a guest could read. One allocation of half of the
// memory is something that the operating system gives.
func realMost() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return realBytesMost
	}
	return int64(min(uint64(info.Totalram)*uint64(info.Unit)/2, realBytesMost))
}
