package module

import (
	"iter"
	"math"

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
	pipelineHandle
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
	handle     uint64 // of the present use, 0 if there is none
	generation uint32 // of the present or the last use, from 1
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
	s.generation++
	s.value, s.handle = v, uint64(t.kind)<<56|uint64(s.generation)<<32|uint64(index)
	t.live++
	return s.handle
}

// find gives the slot of a live handle, nil if it is none.
func (t *table[T]) find(handle uint64) *slot[T] {
	if index := handle & math.MaxUint32; index < uint64(len(t.slots)) && t.slots[index].handle == handle && handle != 0 {
		return &t.slots[index]
	}
	return nil
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
	if s := t.find(handle); s != nil {
		return s, nil
	}
	return nil, t.refusal(handle)
}

// refusal is what is wrong with a handle that is not live.
func (t *table[T]) refusal(handle uint64) error {
	index, generation := uint32(handle), uint32(handle>>32)&maxGeneration
	switch {
	case handleKind(handle>>56) != t.kind, uint64(index) >= uint64(len(t.slots)):
		return errBadHandle
	case generation == 0, generation > t.slots[index].generation:
		return errBadHandle
	}
	return errStale
}

// remove makes a handle stale. A slot whose generations are used up is not
// used again.
func (t *table[T]) remove(handle uint64) error {
	s, err := t.slot(handle)
	if err != nil {
		return err
	}
	var none T
	s.value, s.handle = none, 0
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
			if s := &t.slots[index]; s.handle != 0 && !yield(s.handle, s.value) {
				return
			}
		}
	}
}
