package module

import (
	"iter"

	"github.com/ccrun/ccrun/host/abi"
)

// handleKind says what a handle names. A handle is, from the top, 8 bits kind,
// 24 bits generation, 32 bits index. No kind is 0, so 0 is never a handle.
type handleKind uint8

const (
	bufferHandle handleKind = iota + 1
	streamHandle
	eventHandle
	markHandle
	commHandle
)

const maxGeneration = 1<<24 - 1

var (
	errBadHandle  = &refusal{abi.BadHandle, "not a handle, or one of another kind"}
	errStale      = &refusal{abi.Stale, "the handle's object was given back"}
	errHandlesOut = &refusal{abi.Limit, "too many live handles of this kind"}
)

// table holds the objects of one kind that a guest has handles to. Every use
// of a slot has a generation of its own, so a handle kept too long is told
// from one that never was.
type table[T any] struct {
	kind  handleKind
	limit int // live handles
	live  int

	removed uint64 // how many handles have become stale
	slots   []slot[T]
	free    []uint32 // slots to use again
}

type slot[T any] struct {
	value      T
	generation uint32 // of the present or the last use, from 1
	live       bool
}

// full is the refusal to make another object, nil if there is room.
func (t *table[T]) full() error {
	if t.live >= t.limit {
		return errHandlesOut
	}
	return nil
}

// add gives v a handle. The caller has asked full.
func (t *table[T]) add(v T) uint64 {
	var index uint32
	if n := len(t.free); n > 0 {
		index, t.free = t.free[n-1], t.free[:n-1]
	} else {
		index = uint32(len(t.slots))
		t.slots = append(t.slots, slot[T]{})
	}
	s := &t.slots[index]
	s.value, s.live = v, true
	s.generation++
	t.live++
	return t.handle(index)
}

func (t *table[T]) handle(index uint32) uint64 {
	return uint64(t.kind)<<56 | uint64(t.slots[index].generation)<<32 | uint64(index)
}

func (t *table[T]) get(handle uint64) (T, error) {
	s, err := t.slot(handle)
	if err != nil {
		var none T
		return none, err
	}
	return s.value, nil
}

func (t *table[T]) slot(handle uint64) (*slot[T], error) {
	index, generation := uint32(handle), uint32(handle>>32)&maxGeneration
	if handleKind(handle>>56) != t.kind || uint64(index) >= uint64(len(t.slots)) {
		return nil, errBadHandle
	}
	s := &t.slots[index]
	switch {
	case generation == 0 || generation > s.generation:
		return nil, errBadHandle
	case !s.live || generation < s.generation:
		return nil, errStale
	}
	return s, nil
}

// remove makes a handle stale. A slot whose generations are used up is not
// used again.
func (t *table[T]) remove(handle uint64) error {
	s, err := t.slot(handle)
	if err != nil {
		return err
	}
	var none T
	s.value, s.live = none, false
	t.live--
	t.removed++
	if s.generation < maxGeneration {
		t.free = append(t.free, uint32(handle))
	}
	return nil
}

// all yields the live handles in the order of their indices.
func (t *table[T]) all() iter.Seq2[uint64, T] {
	return func(yield func(uint64, T) bool) {
		for index := range t.slots {
			if t.slots[index].live && !yield(t.handle(uint32(index)), t.slots[index].value) {
				return
			}
		}
	}
}
