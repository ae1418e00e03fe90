package flight

import (
	"math"

	"golang.org/x/sys/unix"
)

// fileLimitRecords is how many records a file may hold by the process's limit
// of file sizes. Growing past that limit would be a deadly signal.
func fileLimitRecords() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil || limit.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	return (int64(limit.Cur) - headerBytes) / RecordBytes
}

// reserve gives n bytes of the file from at on their disk blocks, zeroed if
// they are new, so that storing to them through a mapping cannot fail.
func reserve(fd int, at, n int64) error {
	for {
		err := unix.Fallocate(fd, 0, at, n)
		switch err {
		case unix.EINTR: // a signal, the Go scheduler's for example
			continue
		case unix.EOPNOTSUPP, unix.ENOSYS:
			return writeZeros(fd, at, n)
		}
		return err
	}
}

// writeZeros is for file systems that cannot allocate without writing. The
// range holds nothing yet.
func writeZeros(fd int, at, n int64) error {
	zeros := make([]byte, min(n, 64<<10))
	for n > 0 {
		written, err := unix.Pwrite(fd, zeros[:min(n, int64(len(zeros)))], at)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		at, n = at+int64(written), n-int64(written)
	}
	return nil
}
