package analysis

import (
	"cmp"
	"slices"
)

// Interval is a time from Start up to End.
type Interval struct{ Start, End int64 }

// Union gives the same times as disjoint intervals in order of time. It uses
// the list's memory. Intervals that do not end after they start are left out.
func Union(list []Interval) []Interval {
	inOrder := func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(list, inOrder) {
		slices.SortFunc(list, inOrder)
	}
	out := list[:0]
	for _, v := range list {
		switch {
		case v.End <= v.Start:
		case len(out) > 0 && v.Start <= out[len(out)-1].End:
			out[len(out)-1].End = max(out[len(out)-1].End, v.End)
		default:
			out = append(out, v)
		}
	}
	return out
}

// Length is the time that disjoint intervals cover.
func Length(union []Interval) int64 {
	sum := int64(0)
	for _, v := range union {
		sum += v.End - v.Start
	}
	return sum
}

// Common is the time that two unions both cover.
func Common(a, b []Interval) int64 {
	sum := int64(0)
	for len(a) > 0 && len(b) > 0 {
		sum += max(0, min(a[0].End, b[0].End)-max(a[0].Start, b[0].Start))
		if a[0].End < b[0].End {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return sum
}

// Within is the part of a union that may touch the window. Its first and last
// intervals may reach beyond it.
func Within(union []Interval, window Interval) []Interval {
	from, _ := slices.BinarySearchFunc(union, window.Start, func(v Interval, t int64) int {
		return cmp.Compare(v.End, t+1) // the first that ends behind the window's start
	})
	to, _ := slices.BinarySearchFunc(union, window.End, func(v Interval, t int64) int { return cmp.Compare(v.Start, t) })
	return union[from:max(from, to)]
}

// Overlap is how much of the time that a rank communicates it computes too.
type Overlap struct {
	Communication int64
	Compute       int64
	Both          int64
}

// OverlapOf compares two unions.
func OverlapOf(communication, compute []Interval) Overlap {
	return Overlap{Length(communication), Length(compute), Common(communication, compute)}
}

// Add adds the times of another rank or collective.
func (o *Overlap) Add(other Overlap) {
	o.Communication += other.Communication
	o.Compute += other.Compute
	o.Both += other.Both
}

// Exposed is the communication that no computation hides.
func (o Overlap) Exposed() int64 { return o.Communication - o.Both }

// ExposedShare is the part of the communication that no computation hides, 0
// if there is no communication.
func (o Overlap) ExposedShare() float64 { return share(o.Exposed(), o.Communication) }

// Fraction is how much of what could overlap does: the time of both over the
// shorter of the two, 0 if one of them is nothing.
func (o Overlap) Fraction() float64 { return share(o.Both, min(o.Communication, o.Compute)) }

func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
