package module

import (
	"bytes"
	"sync"
	"time"

	"github.com/ccrun/ccrun/host/device"
)

// memoryExchange is the control plane of ranks in one process; it counts the
// messages that a real one would send.
type memoryExchange struct {
	mu       sync.Mutex
	set      *sync.Cond
	values   map[string][]byte
	messages int
	noWait   bool // a Get of what is not there times out at once
}

func newMemoryExchange() *memoryExchange {
	e := &memoryExchange{values: make(map[string][]byte)}
	e.set = sync.NewCond(&e.mu)
	return e
}

func (e *memoryExchange) Set(key string, value []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages++
	e.values[key] = bytes.Clone(value)
	e.set.Broadcast()
	return nil
}

func (e *memoryExchange) Get(key string, timeout time.Duration) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages++
	expired := timeout == 0 || e.noWait
	if !expired && timeout > 0 {
		defer time.AfterFunc(timeout, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			expired = true
			e.set.Broadcast()
		}).Stop()
	}
	for {
		if value, ok := e.values[key]; ok {
			return bytes.Clone(value), nil
		}
		if expired {
			return nil, device.ErrTimeout
		}
		e.set.Wait()
	}
}

func (e *memoryExchange) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages++
	if bytes.Equal(e.values[key], old) {
		e.values[key] = bytes.Clone(value)
		e.set.Broadcast()
	}
	return bytes.Clone(e.values[key]), nil
}

func (e *memoryExchange) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.messages
}
