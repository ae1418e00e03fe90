package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// sweep is the flag that says which number to vary, and over which values.
type sweep struct {
	name   string
	values []budget // sizes, plain numbers, or parts of the peak
}

// pointsMax is how many values a sweep may have.
const pointsMax = 64

// sweeps are what can be varied. Without a range it is their own; that of
// channels ends with the ranks.
var sweeps = [...]struct {
	name, usual string
	sizes       bool // they are bytes
	doubles     bool // the next value is twice this one, else one more
}{
	{"channels", "1..64", false, true},
	{"max-bytes", "1/16..1", true, true},
	{"bucket", "64KiB..16MiB", true, true},
	{"in-flight", "1..4", false, false},
}

// kind is the number in sweeps of what is varied, -1 if it is none of them.
func (s *sweep) kind() int {
	for i := range sweeps {
		if sweeps[i].name == s.name {
			return i
		}
	}
	return -1
}

// String is the sweep as it is given.
func (s *sweep) String() string {
	texts := make([]string, len(s.values))
	for i := range s.values {
		texts[i] = s.text(i)
	}
	return strings.Trim(s.name+"="+strings.Join(texts, ","), "=")
}

// text is value i.
func (s *sweep) text(i int) string {
	v := &s.values[i]
	if kind := s.kind(); v.all != 0 || kind >= 0 && sweeps[kind].sizes {
		return v.String()
	}
	return strconv.FormatInt(v.bytes, 10)
}

// Set reads "in-flight=1..4", "bucket=1MiB,8MiB" or a name alone.
func (s *sweep) Set(text string) error {
	name, values, given := strings.Cut(text, "=")
	*s = sweep{name: name}
	kind := s.kind()
	switch {
	case kind < 0:
		return fmt.Errorf("want channels, max-bytes, bucket or in-flight, not %q", name)
	case given && values == "":
		return fmt.Errorf("%s has no values; write %s=%s, or %s alone", name, name, sweeps[kind].usual, name)
	case !given && name == "channels":
		return nil // check gives it its range
	case !given:
		values = sweeps[kind].usual
	}
	if low, high, isRange := strings.Cut(values, ".."); isRange {
		return s.span(low, high, sweeps[kind].doubles)
	}
	for _, text := range strings.Split(values, ",") {
		v, err := s.value(text)
		if err != nil {
			return err
		}
		s.values = append(s.values, v)
	}
	return nil
}

// value reads a number, or a part of the peak where that is what is varied.
func (s *sweep) value(text string) (budget, error) {
	var v budget
	err := v.Set(text)
	if kind := s.kind(); !sweeps[kind].sizes && v.all == 0 {
		v.bytes, err = strconv.ParseInt(text, 10, 32)
	}
	if err != nil && v.all != 0 && s.name == "max-bytes" {
		return v, err
	}
	if err != nil {
		return v, fmt.Errorf("%q is not a number", text)
	}
	if v.all != 0 && s.name != "max-bytes" {
		return v, fmt.Errorf("%q: a part of the peak is for max-bytes", text)
	}
	if v.all == 0 && v.bytes < 1 {
		return v, fmt.Errorf("%q: want at least 1", text)
	}
	return v, nil
}

// span appends the values from low to high, both included.
func (s *sweep) span(low, high string, doubles bool) error {
	from, err := s.value(low)
	if err != nil {
		return err
	}
	if from.all != 0 && !strings.ContainsAny(high, "/%") {
		high += "/1"
	}
	to, err := s.value(high)
	switch {
	case err != nil:
		return err
	case (from.all == 0) != (to.all == 0) || from.size() > to.size():
		return fmt.Errorf("%s..%s is no range", low, high)
	}
	for v := from; v.size() < to.size(); v = v.next(doubles) {
		if s.values = append(s.values, v); len(s.values) >= pointsMax {
			return fmt.Errorf("%s..%s has more than %d values", low, high, pointsMax)
		}
	}
	s.values = append(s.values, to)
	return nil
}

// size is a number to compare values by.
func (b *budget) size() float64 {
	if b.all == 0 {
		return float64(b.bytes)
	}
	return float64(b.part) / float64(b.all)
}

// next is twice the value, or one more.
func (b *budget) next(doubles bool) budget {
	n := *b
	switch {
	case !doubles:
		n.bytes++
	case n.all == 0:
		n.bytes *= 2
	case n.all%2 == 0 && !n.percent:
		n.all /= 2
	default:
		n.part *= 2
	}
	return n
}

// check gives channels their range and refuses what ranks do not suffice for.
func (s *sweep) check(ranks int) error {
	if s.name != "channels" {
		return nil
	}
	if len(s.values) == 0 {
		if err := s.span("1", strconv.Itoa(min(ranks, 64)), true); err != nil {
			return err
		}
	}
	for i := range s.values {
		if s.values[i].bytes > int64(ranks) {
			return fmt.Errorf("-sweep channels=%s: each channel goes to a rank of its own, and there are %d; start more with ccrun -n", s.text(i), ranks)
		}
	}
	return nil
}

// with is o with value i of its sweep.
func (o *options) with(i int) *options {
	varied, v := *o, o.sweep.values[i]
	switch o.sweep.name {
	case "max-bytes":
		varied.budget = v
	case "bucket":
		varied.bucket = ccrun.ByteSize(v.bytes)
	case "in-flight":
		varied.inFlight = int(v.bytes)
	}
	return &varied
}
