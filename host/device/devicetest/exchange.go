package devicetest

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/ccrun/ccrun/host/device"
)

// Exchange is a [device.Exchange] in memory, for ranks that are goroutines.
// The zero value is ready for use.
type Exchange struct {
	mu      sync.Mutex
	values  map[string][]byte
	changed chan struct{} // closed and replaced at each change
}

// Set stores a value.
func (x *Exchange) Set(key string, value []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.store(key, value)
	return nil
}

func (x *Exchange) store(key string, value []byte) {
	if x.values == nil {
		x.values = make(map[string][]byte)
	}
	x.values[key] = bytes.Clone(value)
	if x.changed != nil {
		close(x.changed)
		x.changed = nil
	}
}

// Get waits until the key is set.
func (x *Exchange) Get(key string, timeout time.Duration) ([]byte, error) {
	var expired <-chan time.Time
	if timeout >= 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	for {
		value, ok, changed := x.look(key)
		if ok {
			return value, nil
		}
		select {
		case <-changed:
		case <-expired:
			return nil, fmt.Errorf("get %q: %w", key, device.ErrTimeout)
		}
	}
}

// look gives the value of key, or else a channel that tells of a change.
func (x *Exchange) look(key string) (value []byte, ok bool, changed <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if value, ok = x.values[key]; ok {
		return bytes.Clone(value), true, nil
	}
	if x.changed == nil {
		x.changed = make(chan struct{})
	}
	return nil, false, x.changed
}

// CompareAndSwap stores value if the key's value is old.
func (x *Exchange) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	have, ok := x.values[key]
	if ok == (old != nil) && bytes.Equal(have, old) {
		x.store(key, value)
		return bytes.Clone(value), nil
	}
	return bytes.Clone(have), nil
}
