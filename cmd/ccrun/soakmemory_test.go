package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// memory is what a process has in physical memory, in bytes.
type memory struct {
	total  int64 // without the flight file, which grows to its limit
	shared int64 // buffers, its own and its peers'
	heap   int64 // Go's
	flight int64
}

// memoryKind is a part of a process's memory.
type memoryKind struct {
	name string
	of   func(memory) int64
}

// kinds are what must not grow.
var kinds = []memoryKind{
	{"memory", func(m memory) int64 { return m.total }},
	{"shared memory", func(m memory) int64 { return m.shared }},
	{"Go heap", func(m memory) int64 { return m.heap }},
}

// memoryOf reads the memory of a process mapping by mapping.
func memoryOf(pid int) (memory, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return memory{}, err
	}
	defer file.Close()
	var m memory
	var into *int64
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if first, _, _ := strings.Cut(lines.Text(), " "); !strings.HasSuffix(first, ":") {
			into = m.kindOf(fields)
			continue
		}
		if fields[0] != "Rss:" {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return m, err
		}
		if into != nil {
			*into += kib << 10
		}
		if into != &m.flight {
			m.total += kib << 10
		}
	}
	if m.total == 0 {
		return m, fmt.Errorf("process %d has no memory: it has ended", pid)
	}
	return m, nil
}

// kindOf tells where a mapping counts, by the first line about it: addresses,
// rights, offset, device, inode and, if it is of a file, the path.
func (m *memory) kindOf(fields []string) *int64 {
	path := strings.Join(fields[min(5, len(fields)):], " ")
	switch {
	case strings.HasSuffix(path, ".flight"):
		return &m.flight
	case strings.HasPrefix(path, "/memfd:"):
		return &m.shared
	case path == "" && isHeap(fields[0]):
		return &m.heap
	}
	return nil
}

// isHeap tells Go's heap by its addresses: wherever it begins, there is nothing
// else without a name between the program's own data, the first 4 GiB, and what
// the kernel places, the upper half (on amd64) of all addresses.
func isHeap(addresses string) bool {
	bits := 46
	if runtime.GOARCH != "amd64" {
		bits = 47
	}
	from, _, _ := strings.Cut(addresses, "-")
	at, err := strconv.ParseUint(from, 16, 64)
	return err == nil && at >= 1<<32 && at < 1<<bits
}

// grown compares the medians of the second and of the last fifth of values, and
// reports whether the latter is larger by more than 5 % and the slack.
func grown(values []int64, slackBytes int64) (before, after int64, bad bool) {
	fifth := len(values) / 5
	before, after = median(values[fifth:2*fifth]), median(values[len(values)-fifth:])
	return before, after, after > before+before/20+slackBytes
}

func median(values []int64) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func TestGrowthIsSeen(t *testing.T) {
	const mib = 1 << 20
	series := func(f func(i int) int64) []int64 {
		values := make([]int64, 600)
		for i := range values {
			values[i] = f(i)
		}
		return values
	}
	for _, c := range []struct {
		name string
		of   func(i int) int64
		want bool
	}{
		{"flat", func(int) int64 { return 100 * mib }, false},
		{"a start that takes a while", func(i int) int64 { return int64(min(i, 100)) * mib }, false},
		{"a saw", func(i int) int64 { return int64(100+i%20) * mib }, false},
		{"a peak", func(i int) int64 { return int64(100+i%50/49*1000) * mib }, false},
		{"shrinking", func(i int) int64 { return int64(1000-i) * mib }, false},
		{"within bounds", func(i int) int64 { return 100*mib + int64(i)*18*1024 }, false},
		{"a leak of 30 KiB each time", func(i int) int64 { return 100*mib + int64(i)*30*1024 }, true},
		{"a saw that climbs", func(i int) int64 { return int64(100+i%20+i/20) * mib }, true},
		{"a late step", func(i int) int64 { return int64(100+i/530*10) * mib }, true},
	} {
		if before, after, got := grown(series(c.of), 4*mib); got != c.want {
			t.Errorf("%s: %d, then %d: grown %t, want %t", c.name, before, after, got, c.want)
		}
	}
}

// The test's own memory is where it is looked for.
func TestMemoryOfThisProcess(t *testing.T) {
	before, err := memoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 64 << 20
	block := slices.Repeat([]byte{1}, bytes)
	after, err := memoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if after.heap-before.heap < bytes/2 || after.total-before.total < bytes/2 || after.total <= after.heap {
		t.Errorf("%d more bytes of Go's heap: %+v, then %+v", len(block), before, after)
	}
}
