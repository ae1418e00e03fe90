package traces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// WriteFile writes a file, which appears when it is whole: on an error, such as
// a full disk, what was there before is still there. Links are followed. What
// is no regular file, or lies below /dev or /proc as /dev/stdout does, is
// written to as it is.
func WriteFile(path string, write func(io.Writer) error) error {
	target, whole, err := fileTarget(path)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if !whole {
		return writeTo(target, write)
	}
	part := partOf(target)
	if err = writeTo(part, write); err == nil {
		err = os.Rename(part, target)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}

func partOf(target string) string {
	return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".part")
}

// RemovePart removes what [WriteFile] has written of a file so far. It is for a
// process that ends in the middle of that.
func RemovePart(path string) {
	if target, whole, err := fileTarget(path); err == nil && whole {
		os.Remove(partOf(target))
	}
}

func writeTo(path string, write func(io.Writer) error) error {
	file, err := openTarget(path)
	if err != nil {
		return err
	}
	err = write(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// maxLinks is how many symbolic links in a row are followed, as in the kernel.
const maxLinks = 40

// fileTarget says where what is written to path goes. whole means that the file may
// be replaced by renaming another over it; otherwise it is to be opened and
// written as it is. Links are resolved first, because renaming over one would
// put a file where a device's name was. What lies below /dev and /proc is not
// replaced, even if it shows itself as a regular file: /dev/stdout does so when
// the shell has redirected it.
func fileTarget(path string) (target string, whole bool, err error) {
	given := path
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return "", false, err
		}
		path = filepath.Join(dir, filepath.Base(path))
		if strings.HasPrefix(path, "/proc/") {
			return path, false, nil // a link there leads to what is open, whatever its text says
		}
		info, err := os.Lstat(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", false, err
		case err == nil && info.Mode().Type() == fs.ModeSymlink:
			link, err := os.Readlink(path)
			if err != nil {
				return "", false, err
			}
			if !filepath.IsAbs(link) {
				link = filepath.Join(dir, link)
			}
			path = link
		default:
			replaceable := err != nil || info.Mode().IsRegular()
			return path, replaceable && !strings.HasPrefix(path, "/dev/"), nil
		}
	}
	return "", false, fmt.Errorf("%s: %w", given, unix.ELOOP)
}

// openTarget opens what fileTarget found, to be written from its beginning. A
// file that this process has open is written on where it stands, so that
// what is written follows what was written to it before and what comes later follows them.
func openTarget(path string) (*os.File, error) {
	own := fmt.Sprintf("/proc/%d", os.Getpid())
	dir, name := filepath.Split(path)
	ofThread, _ := filepath.Match(own+"/task/*/fd/", dir) // the pattern is well formed
	if number, err := strconv.Atoi(name); err == nil && (ofThread || dir == own+"/fd/") {
		return duplicate(number, path)
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}

func duplicate(number int, path string) (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
