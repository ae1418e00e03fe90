package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/device"
)

// fileExchange is a [device.Exchange] of the processes that share a directory:
// a file for each key. It is slow, and used before the measurement only.
type fileExchange struct{ dir string }

func (x fileExchange) path(key string) string {
	return filepath.Join(x.dir, "key-"+hex.EncodeToString([]byte(key)))
}

// Set stores a value. Nobody sees half of it.
func (x fileExchange) Set(key string, value []byte) error {
	file, err := os.CreateTemp(x.dir, "new-")
	if err != nil {
		return err
	}
	_, err = file.Write(value)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), x.path(key))
}

// Get waits until the key is set.
func (x fileExchange) Get(key string, timeout time.Duration) ([]byte, error) {
	for deadline := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		value, err := os.ReadFile(x.path(key))
		if !errors.Is(err, fs.ErrNotExist) {
			return value, err
		}
		if timeout >= 0 && time.Now().After(deadline) {
			return nil, fmt.Errorf("get %q: %w", key, device.ErrTimeout)
		}
	}
}

// CompareAndSwap stores value if the key's value is old. A lock file holds off
// other processes that do the same.
func (x fileExchange) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	lock, err := os.OpenFile(filepath.Join(x.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return nil, err
	}
	have, err := os.ReadFile(x.path(key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if (err == nil) != (old != nil) || !bytes.Equal(have, old) {
		return have, nil
	}
	return value, x.Set(key, value)
}
