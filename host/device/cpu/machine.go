package cpu

import (
	"bufio"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// available says what is missing for shared memory between processes.
func available() error {
	fd, err := unix.MemfdCreate("ccrun-probe", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return errors.New("the kernel has no memfd_create (Linux 3.17)")
	}
	defer unix.Close(fd)
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return errors.New("/proc is not mounted")
	}
	return nil
}

// defaultMemoryBytes is a rank's share of three quarters of the memory that
// is available now.
func defaultMemoryBytes(ranks int) int64 {
	const unknown = int64(1) << 30
	free := procField("/proc/meminfo", "MemAvailable:")
	kib, err := strconv.ParseInt(strings.TrimSuffix(free, " kB"), 10, 64)
	if err != nil || kib <= 0 {
		return unknown
	}
	bytes := kib * 1024
	if limit, ok := cgroupMemoryBytes(); ok {
		bytes = min(bytes, limit)
	}
	return max(bytes/4*3/int64(ranks), hugePageBytes) / hugePageBytes * hugePageBytes
}

// cgroupMemoryBytes is the memory limit of a container, if there is one.
func cgroupMemoryBytes() (int64, bool) {
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0, false
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return bytes, err == nil && bytes > 0
}

// processorModel is the name of the processor, or its architecture.
func processorModel() string {
	if name := procField("/proc/cpuinfo", "model name"); name != "" {
		return name
	}
	return runtime.GOARCH
}

// procField is the value of the first line of a file that begins with key.
func procField(path, key string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), key); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, " \t:"))
		}
	}
	return ""
}

// ownProcessors counts those that the calling thread may use.
func ownProcessors() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return runtime.NumCPU()
	}
	return set.Count()
}

// onlineProcessors counts the machine's processors. runtime.NumCPU counts
// those of this process, which is one when ranks are pinned.
func onlineProcessors() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return runtime.NumCPU()
	}
	n := 0
	for _, span := range strings.Split(strings.TrimSpace(string(text)), ",") {
		from, to, _ := strings.Cut(span, "-")
		if to == "" {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || last < first {
			return runtime.NumCPU()
		}
		n += last - first + 1
	}
	return n
}
