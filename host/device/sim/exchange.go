package sim

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// store is the key-value store of a cluster's ranks.
type store struct {
	values  map[string][]byte
	waiting map[string][]*Device // for keys that are not set
}

func (s *store) init() {
	s.values, s.waiting = make(map[string][]byte), make(map[string][]*Device)
}

// leave takes a rank that waits no longer from those that wait for a key.
func (s *store) leave(key string, d *Device) {
	left := slices.DeleteFunc(s.waiting[key], func(other *Device) bool { return other == d })
	if len(left) > 0 {
		s.waiting[key] = left
		return
	}
	delete(s.waiting, key)
}

func (s *store) has(key string) bool {
	_, ok := s.values[key]
	return ok
}

// Exchange is the control plane as a rank sees it: Get waits in virtual time.
// It is for bodies of [Cluster.Run], whose rank has a device.
func (c *Cluster) Exchange(rank int) device.Exchange { return exchange{c, rank} }

type exchange struct {
	cluster *Cluster
	rank    int
}

// Set stores a value.
func (x exchange) Set(key string, value []byte) error {
	d := x.cluster.devices[x.rank]
	defer d.leave(d.enter())
	d.charge()
	d.catchUp()
	x.set(key, value)
	return nil
}

func (x exchange) set(key string, value []byte) {
	store := &x.cluster.store
	store.values[key] = bytes.Clone(value)
	waiting := store.waiting[key]
	delete(store.waiting, key) // it is set from now on
	slices.SortFunc(waiting, func(a, b *Device) int { return a.rank - b.rank })
	for _, d := range waiting {
		if d.waiting && d.wait.key == key {
			d.poke()
		}
	}
}

// Get waits until the key is set.
func (x exchange) Get(key string, timeout time.Duration) ([]byte, error) {
	d := x.cluster.devices[x.rank]
	defer d.leave(d.enter())
	d.charge()
	d.catchUp()
	d.wait = guestWait{kind: op.ShareLookup, key: key, peer: -1}
	if store := &x.cluster.store; !store.has(key) {
		store.waiting[key] = append(store.waiting[key], d)
		defer store.leave(key, d)
	}
	if err := d.await(timeout); err != nil {
		return nil, fmt.Errorf("get %q: %w", key, err)
	}
	return bytes.Clone(x.cluster.store.values[key]), nil
}

// CompareAndSwap stores value if the key's value is old.
func (x exchange) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	d := x.cluster.devices[x.rank]
	defer d.leave(d.enter())
	d.charge()
	d.catchUp()
	have, ok := x.cluster.store.values[key]
	if ok == (old != nil) && bytes.Equal(have, old) {
		x.set(key, value)
		return bytes.Clone(value), nil
	}
	d.looked() // it may have to try again
	return bytes.Clone(have), nil
}
