package rendezvous

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ccrun/ccrun/host/device"
)

// Store holds the keys. It implements [device.Exchange], so that the launcher
// itself, and tests, use it without a socket.
type Store struct {
	closed chan struct{}

	mu         sync.Mutex
	values     map[string][]byte
	waiters    map[string]chan struct{} // closed when the key is set
	totalBytes int
	isClosed   bool
}

var _ device.Exchange = (*Store)(nil)

// NewStore makes an empty store.
func NewStore() *Store {
	return &Store{
		closed:  make(chan struct{}),
		values:  make(map[string][]byte),
		waiters: make(map[string]chan struct{}),
	}
}

// Close ends every wait, present and future, with [device.ErrAborted].
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isClosed {
		s.isClosed = true
		close(s.closed)
	}
}

// Set implements [device.Exchange].
func (s *Store) Set(key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(key, value)
}

// set is called with mu held.
func (s *Store) set(key string, value []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) > ValueBytesMax {
		return fmt.Errorf("value of %d bytes, at most %d: %w", len(value), ValueBytesMax, device.ErrTooMany)
	}
	old, replaces := s.values[key]
	grown := s.totalBytes + len(value) - len(old)
	if !replaces {
		grown += len(key)
	}
	if !replaces && len(s.values) >= KeysMax || grown > TotalBytesMax {
		return fmt.Errorf("rendezvous holds %d keys and %d bytes: %w", len(s.values), s.totalBytes, device.ErrTooMany)
	}
	s.totalBytes = grown
	s.values[key] = append([]byte{}, value...) // never nil, which means "not set"
	if waiter, ok := s.waiters[key]; ok {
		close(waiter)
		delete(s.waiters, key)
	}
	return nil
}

func checkKey(key string) error {
	if key == "" || len(key) > KeyBytesMax {
		return fmt.Errorf("key of %d bytes, at most %d: %w", len(key), KeyBytesMax, device.ErrTooMany)
	}
	return nil
}

// Get implements [device.Exchange].
func (s *Store) Get(key string, timeout time.Duration) ([]byte, error) {
	return s.GetContext(context.Background(), key, timeout)
}

// Peek is the value of a key, if it is set.
func (s *Store) Peek(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	return bytes.Clone(value), ok
}

// GetContext is Get that also ends with ctx, whose error it then returns.
func (s *Store) GetContext(ctx context.Context, key string, timeout time.Duration) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	var expired <-chan time.Time
	if timeout >= 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	for {
		value, set := s.lookup(key)
		if set == nil {
			return value, nil
		}
		select {
		case <-set:
		case <-expired:
			return nil, fmt.Errorf("key %q: %w", key, device.ErrTimeout)
		case <-s.closed:
			return nil, fmt.Errorf("key %q: rendezvous closed: %w", key, device.ErrAborted)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// lookup gives the value of a key or a channel that is closed when the key is
// set.
func (s *Store) lookup(key string) ([]byte, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value, ok := s.values[key]; ok {
		return bytes.Clone(value), nil
	}
	waiter, ok := s.waiters[key]
	if !ok {
		waiter = make(chan struct{})
		s.waiters[key] = waiter
	}
	return nil, waiter
}

// CompareAndSwap implements [device.Exchange].
func (s *Store) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	return s.compareAndSwap(key, old, old == nil, value)
}

func (s *Store) compareAndSwap(key string, old []byte, unset bool, value []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, set := s.values[key]
	if set == unset || set && !bytes.Equal(now, old) {
		return bytes.Clone(now), nil
	}
	if err := s.set(key, value); err != nil {
		return nil, err
	}
	return bytes.Clone(s.values[key]), nil
}
