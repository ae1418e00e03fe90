package guest

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/tetratelabs/wazero"
)

// OpenCache opens the directory in which compiled modules are kept, and makes
// it if need be. What lies there is executed as machine code, so the directory
// must be ours and closed to everybody else.
func OpenCache(dir string) (wazero.CompilationCache, error) {
	if err := MakePrivate(dir); err != nil {
		return nil, fmt.Errorf("compile cache: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("compile cache: %w", err)
	}
	return cache, nil
}

// MakePrivate makes a directory that only this user can enter, or checks that
// the one that is there is such.
func MakePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return CheckPrivate(dir)
}

// CheckPrivate says why a directory is not one that only this user can enter.
func CheckPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s: not a directory", dir)
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s: %w", dir, ErrForeignOwner)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s: %w", dir, ErrOpenMode)
	}
	return nil
}

// What makes a directory unfit to be private.
var (
	ErrForeignOwner = errors.New("belongs to another user")
	ErrOpenMode     = errors.New("is open to other users")
)
