package rendezvous

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// socketPathMax is what a Unix socket's address holds.
const socketPathMax = 107

// shorten gives a path to the same file that fits a socket's address: path
// itself, or one through a descriptor of its directory, which is good until
// done is called.
func shorten(path string) (short string, done func(), err error) {
	if len(path) <= socketPathMax {
		return path, func() {}, nil
	}
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("open %s: %w", filepath.Dir(path), err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir, filepath.Base(path)), func() { unix.Close(dir) }, nil
}
