package main

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// script sets the hooks by which a guest has its own order and its own policy.
func (how *setting) script(o *ccrun.PipelineOptions) {
	switch how.order {
	case "formed":
		o.Order = formed
	case "largest":
		o.Order = largest
	case "matched":
		o.Order = matched
	}
	if how.policy == "scripted" {
		o.Admit = inRounds(how.window)
	}
}

// formed is the order in which the buckets were formed: all of the first
// tensors', then those of the next ones. It is what a loader wants that can
// begin with the first layers; but the first source is everybody's first.
func formed(buckets []ccrun.Bucket) []int {
	order := make([]int, len(buckets))
	for i := range order {
		order[i] = i
	}
	return order
}

// largest is the largest buckets first, so that a small one is what all wait
// for at the end.
func largest(buckets []ccrun.Bucket) []int {
	order := formed(buckets)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(buckets[b].Bytes, buckets[a].Bytes) })
	return order
}

// inRounds is a policy that none of the host's is: the buckets of the order in
// rounds that all ranks go through together, the next one when the buckets of
// the one before have arrived on all ranks, not on this one only.
func inRounds(window int) func(ccrun.PipelineStatus) int {
	return func(s ccrun.PipelineStatus) int { return (s.Published/window + 1) * window }
}

// matched is rounds in which each rank gives to one other at most, and gets from
// one: within a small budget no rank waits for one that is busy with others.
func matched(buckets []ccrun.Bucket) []int {
	ranks := 0
	for _, b := range buckets {
		ranks = max(ranks, b.Source+1, b.Destination+1)
	}
	gives, gets := make([]rounds, ranks), make([]rounds, ranks)
	at := make([]int, len(buckets))
	for i, b := range buckets {
		at[i] = gives[b.Source].firstFree(gets[b.Destination])
		gives[b.Source].take(at[i])
		gets[b.Destination].take(at[i])
	}
	order := formed(buckets)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	return order
}

// rounds are those that a rank has something to do in, a bit each.
type rounds []uint64

// firstFree is the first round that neither a nor b has.
func (a rounds) firstFree(b rounds) int {
	for i := 0; ; i++ {
		word := uint64(0)
		if i < len(a) {
			word = a[i]
		}
		if i < len(b) {
			word |= b[i]
		}
		if word != math.MaxUint64 {
			return 64*i + bits.TrailingZeros64(^word)
		}
	}
}

func (a *rounds) take(round int) {
	for len(*a) <= round/64 {
		*a = append(*a, 0)
	}
	(*a)[round/64] |= 1 << (round % 64)
}
