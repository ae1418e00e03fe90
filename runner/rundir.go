package runner

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/runner/guest"
)

// Names in a run directory.
const (
	lockName   = "lock"
	socketName = "rendezvous"
	tokenName  = "token"
	cacheName  = "cache"
)

func flightPath(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("rank-%04d.flight", rank))
}

func reportPath(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("rank-%04d.json", rank))
}

// runDir is the directory of one run. Its lock is held for as long as the
// launcher lives, so that a later run can tell one that a killed launcher left
// behind.
type runDir struct {
	path  string
	lock  *os.File
	owned bool   // made by this run
	base  string // directory to remove with the last run in it, "" for none
}

// randomID is n random bytes in hexadecimal.
func randomID(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// openRunDir makes the directory that the user asked for, or a new one.
func openRunDir(c *Config, runID string) (*runDir, error) {
	if c.RunDir != "" {
		return useRunDir(c.RunDir)
	}
	base := runsDir(c.TempDir)
	sweep(base)
	path := filepath.Join(base, runID)
	var err error
	for range 1000 { // another run's end may remove base, and its start sweep path, in between
		if err = makeIn(base, path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			break
		}
		var d *runDir
		if d, err = lockRunDir(path); err == nil {
			d.owned, d.base = true, base
			return d, nil
		}
		runtime.Gosched()
	}
	return nil, unwritable(path, err)
}

func makeIn(base, path string) error {
	if err := guest.MakePrivate(base); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// runsDir is the directory under which this user's runs live.
func runsDir(temp string) string {
	return filepath.Join(temp, fmt.Sprintf("ccrun-%d", os.Geteuid()))
}

func unwritable(path string, err error) *Error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return refuse("name a directory that can be written with --run-dir, or set TMPDIR", "run directory %s: %v", path, err)
}

func useRunDir(path string) (*runDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, unwritable(path, err)
	}
	_, err = os.Stat(path)
	owned := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, unwritable(path, err)
	}
	if old, _ := filepath.Glob(filepath.Join(path, "rank-*.flight")); len(old) > 0 {
		return nil, refuse("name another, or remove it first", "run directory %s holds a run already", path)
	}
	d, err := lockRunDir(path)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, refuse("wait for it to end, or name another with --run-dir", "run directory %s is in use by another run", path)
	case err != nil && owned:
		os.Remove(path)
		return nil, unwritable(path, err)
	case err != nil:
		return nil, unwritable(path, err)
	}
	d.owned = owned
	return d, nil
}

// lockRunDir takes the lock of a directory. It fails with [fs.ErrNotExist] if
// the directory is swept away meanwhile.
func lockRunDir(path string) (*runDir, error) {
	name := filepath.Join(path, lockName)
	lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, err
	}
	held, heldErr := lock.Stat()
	there, err := os.Stat(name)
	if err != nil || heldErr != nil || !os.SameFile(held, there) {
		lock.Close()
		return nil, fs.ErrNotExist
	}
	return &runDir{path: path, lock: lock}, nil
}

// remove deletes what the run made: the directory, or its files in one that
// was there before.
func (d *runDir) remove() error {
	defer d.lock.Close()
	if d.owned {
		err := os.RemoveAll(d.path)
		if d.base != "" {
			os.Remove(d.base) // fails, as it should, while other runs are in it
		}
		return err
	}
	err := d.clear()
	return errors.Join(err, os.Remove(filepath.Join(d.path, lockName)))
}

// clear deletes the files of a run, but for the lock.
func (d *runDir) clear() error {
	var errs []error
	for _, pattern := range []string{"rank-*.flight", "rank-*.json", "rank-*.json.part", socketName, tokenName} {
		files, _ := filepath.Glob(filepath.Join(d.path, pattern))
		for _, f := range files {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(d.path, cacheName)))...)
}

// keep lets go of the directory and leaves it.
func (d *runDir) keep() error {
	os.Remove(filepath.Join(d.path, tokenName))
	os.Remove(filepath.Join(d.path, lockName))
	return d.lock.Close()
}

// sweep removes what launchers left behind that were killed: run directories
// whose lock nobody holds.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, "*", lockName))
	for _, path := range locks {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(filepath.Dir(path))
		}
		lock.Close()
	}
}
