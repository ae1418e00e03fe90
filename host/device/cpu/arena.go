package cpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/device"
)

const (
	arenaMagic   = "ccrunmem"
	arenaVersion = 1
	arenaSeals   = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
)

// arena is all the memory of one rank that others may reach: a memfd, sparse,
// mapped once and whole. The owner's is at fd, a peer's has none.
type arena struct {
	layout
	rank int
	pid  int // of the owner
	mem  []byte
	fd   int
}

// createArena makes the memory of this rank. It is sealed against changes of
// its size, so that a peer that has it mapped never faults.
func createArena(rank, ranks int, heapBytes int64) (*arena, error) {
	l := layoutOf(ranks)
	fd, err := unix.MemfdCreate("ccrun-rank-"+strconv.Itoa(rank), unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("create shared memory: %w", err)
	}
	a := &arena{layout: l, rank: rank, fd: fd}
	if err := a.size(l.heap + roundUp(heapBytes, hugePageBytes)); err != nil {
		unix.Close(fd)
		return nil, err
	}
	h := a.header()
	h.version, h.rank, h.ranks = arenaVersion, uint32(rank), uint32(ranks)
	copy(h.magic[:], arenaMagic)
	return a, nil
}

func (a *arena) size(bytes int64) error {
	if err := unix.Ftruncate(a.fd, bytes); err != nil {
		return fmt.Errorf("size shared memory: %w", err)
	}
	if _, err := unix.FcntlInt(uintptr(a.fd), unix.F_ADD_SEALS, arenaSeals); err != nil {
		return fmt.Errorf("seal shared memory: %w", err)
	}
	return a.mapAll(a.fd, bytes)
}

func (a *arena) mapAll(fd int, bytes int64) error {
	mem, err := unix.Mmap(fd, 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("map %d bytes of shared memory: %w", bytes, err)
	}
	a.mem = mem
	_ = unix.Madvise(mem[a.heap:], unix.MADV_HUGEPAGE) // best effort: many kernels refuse it for shared memory
	return nil
}

// close unmaps the arena. The memory goes when the last rank has.
func (a *arena) close() error {
	err := unix.Munmap(a.mem)
	if a.fd >= 0 {
		err = errors.Join(err, unix.Close(a.fd))
	}
	return err
}

// name is what a peer needs to find the arena: process and descriptor.
func (a *arena) name() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(os.Getpid()))
	return binary.LittleEndian.AppendUint32(b, uint32(a.fd))
}

// attachArena maps the arena that rank published under name. Nothing that the
// peer says is believed: the file must be sealed memory of a plausible size
// that says the same rank and number of ranks.
func attachArena(rank, ranks int, name []byte) (*arena, error) {
	if len(name) != 8 {
		return nil, fmt.Errorf("rank %d published a malformed address: %w", rank, device.ErrPeer)
	}
	pid, fd := binary.LittleEndian.Uint32(name), binary.LittleEndian.Uint32(name[4:])
	file, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("memory of rank %d (process %d): %w: %w", rank, pid, device.ErrPeer, err)
	}
	defer file.Close()
	a := &arena{layout: layoutOf(ranks), rank: rank, pid: int(pid), fd: -1}
	if err := a.adopt(int(file.Fd())); err != nil {
		return nil, fmt.Errorf("memory of rank %d (process %d): %w: %w", rank, pid, device.ErrPeer, err)
	}
	return a, nil
}

var errNotArena = errors.New("not the shared memory of a rank of this run")

func (a *arena) adopt(fd int) error {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&arenaSeals != arenaSeals {
		return errNotArena
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Size < a.heap || stat.Size%hugePageBytes != 0 {
		return errNotArena
	}
	if err := a.mapAll(fd, stat.Size); err != nil {
		return err
	}
	h := a.header()
	if string(h.magic[:]) != arenaMagic || h.version != arenaVersion || int(h.rank) != a.rank || int(h.ranks) != a.ranks {
		_ = unix.Munmap(a.mem)
		return errNotArena
	}
	return nil
}

// heapBytes is the size of what lies behind the control region.
func (a *arena) heapBytes() int64 { return int64(len(a.mem)) - a.heap }

// holds reports whether n bytes at offset lie in the heap.
func (a *arena) holds(offset, n int64) bool {
	return n >= 0 && n <= a.heapBytes() && offset >= a.heap && offset <= int64(len(a.mem))-n
}

// Values of linux/mman.h from 5.14 on; older kernels refuse them, and pages are
// then made present by their first use.
const (
	populateRead  = 22
	populateWrite = 23
)

// populate makes the pages present. An error means that there is no memory.
func (a *arena) populate(offset, n int64, advice int) error {
	from := offset / pageBytes * pageBytes
	err := unix.Madvise(a.mem[from:roundUp(offset+n, pageBytes)], advice)
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

// punch gives whole pages back to the system; they read as zero afterwards.
func (a *arena) punch(offset, n int64) error {
	return unix.Fallocate(a.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, n)
}
