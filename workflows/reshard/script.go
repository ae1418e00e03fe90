package main

import (
	"cmp"
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
