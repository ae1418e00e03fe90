package runner

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/runner/guest"
)

// Names in a run directory.
const (
	lockName   = "lock"
	socketName = "rendezvous"
	tokenName  = "token"
	cacheName  = "cache"
	gonePrefix = "gone-" // of a directory that is being removed
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
	d, err := makeAndLock(base, filepath.Join(base, runID), cmp.Or(c.lockLimit, lockTimeout))
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, refuse("run it again, or name a directory with --run-dir", "run directory %s: other runs keep taking it for one that a killed run left", filepath.Join(base, runID))
	}
	return d, err
}

// makeAndLock makes path below base. Other runs get in its way: one that ends
// may remove base, and one that starts may hold path's lock, or sweep it,
// before it is locked here. The error is a refusal, or [unix.EWOULDBLOCK] if
// another run has had the lock for as long as limit.
func makeAndLock(base, path string, limit time.Duration) (*runDir, error) {
	deadline := time.Now().Add(limit)
	for attempts := 0; ; {
		err := makeIn(base, path)
		if err == nil {
			var d *runDir
			if d, err = lockRunDir(path); err == nil {
				d.owned, d.base = true, base
				return d, nil
			}
		}
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			if time.Now().After(deadline) {
				return nil, err
			}
			time.Sleep(lockPoll)
		case isRace(err):
			if attempts++; attempts == raceAttempts {
				return nil, unwritable(path, err)
			}
			runtime.Gosched()
		default:
			return nil, unwritable(path, err)
		}
	}
}

// isRace reports whether making a directory may have failed because another
// run removed the one above, or made it again, between two looks at it.
func isRace(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)
}

// Limits of what [makeAndLock] tries.
const (
	lockTimeout  = 10 * time.Second // for the previous run in the same directory to end
	lockPoll     = 5 * time.Millisecond
	raceAttempts = 1000
)

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
// the directory is taken away meanwhile, and with [unix.EWOULDBLOCK] if it is
// in use.
func lockRunDir(path string) (*runDir, error) {
	lock, err := takeLock(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return &runDir{path: path, lock: lock}, nil
}

// takeLock opens a lock and takes it, if the name still stands for what was
// opened: otherwise the lock is that of a directory that has been disposed of.
func takeLock(name string, flags int) (*os.File, error) {
	lock, err := os.OpenFile(name, flags, 0o600)
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
	return lock, nil
}

// remove deletes what the run made: the directory, or its files in one that
// was there before.
func (d *runDir) remove() error {
	defer d.lock.Close()
	if d.owned {
		err := dispose(d.path)
		if d.base != "" {
			os.Remove(d.base) // fails, as it should, while other runs are in it
		}
		return err
	}
	err := d.clear()
	return errors.Join(err, os.Remove(filepath.Join(d.path, lockName)))
}

// dispose deletes a directory whose lock the caller holds. It takes the name
// away first: in a directory that is being emptied the lock would be gone
// before the rest, and the next run of that name would move in.
func dispose(path string) error {
	gone := filepath.Join(filepath.Dir(path), gonePrefix+randomID(8))
	if os.Rename(path, gone) != nil { // nobody may write beside a directory that the user named
		gone = path
	}
	for range raceAttempts {
		// Who was about to lock the directory may put a new lock in it.
		if err := os.RemoveAll(gone); !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
	}
	return os.RemoveAll(gone)
}

// clear deletes the files of a run, but for the lock.
func (d *runDir) clear() error {
	var errs []error
	for _, pattern := range []string{"rank-*.flight", "rank-*.json", "rank-*.json.part", "rank-*.oplog", socketName, tokenName} {
		files, _ := filepath.Glob(filepath.Join(d.path, pattern))
		for _, f := range files {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(d.path, cacheName)))...)
}

// settle gives a directory that is to be kept the name of its run, if it has
// one that the next run may come to use.
func (d *runDir) settle(runID string) error {
	path := filepath.Join(d.base, runID)
	if d.base == "" || path == d.path {
		return nil
	}
	if err := os.Rename(d.path, path); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	d.path = path
	return nil
}

// keep lets go of the directory and leaves it.
func (d *runDir) keep() error {
	os.Remove(filepath.Join(d.path, tokenName))
	os.Remove(filepath.Join(d.path, lockName))
	return d.lock.Close()
}

// preserve keeps a directory that was to be removed, and says where it is.
func (d *runDir) preserve(runID string) (path string, err error) {
	err = d.settle(runID)
	return d.path, errors.Join(err, d.keep())
}

// locklessAge is how old a directory without a lock must be before it counts
// as abandoned: a run that starts makes the directory first.
const locklessAge = time.Minute

// sweep removes what launchers left behind that were killed: run directories
// whose lock nobody holds, and those that a launcher was about to fill or to
// empty when it died.
func sweep(base string) {
	entries, _ := os.ReadDir(base)
	for _, entry := range entries {
		path := filepath.Join(base, entry.Name())
		lock, err := takeLock(filepath.Join(path, lockName), os.O_RDWR)
		switch {
		case err == nil:
			_ = dispose(path) // the next run will try again
			lock.Close()
		case errors.Is(err, fs.ErrNotExist) && isAbandoned(path, entry):
			os.RemoveAll(path)
		}
	}
}

// isAbandoned reports whether a directory without a lock is one that somebody
// died over. One that was kept has no lock either, but holds a run.
func isAbandoned(path string, entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) < locklessAge {
		return false
	}
	if strings.HasPrefix(entry.Name(), gonePrefix) {
		return true
	}
	for _, pattern := range []string{"*.json", "*.flight"} {
		if files, _ := filepath.Glob(filepath.Join(path, pattern)); len(files) > 0 {
			return false
		}
	}
	return true
}
