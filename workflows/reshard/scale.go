package main

import (
	"math"
	"strconv"
	"strings"
)

// unit is what the numbers of an axis are.
type unit int

const (
	plainUnit unit = iota
	byteUnit
	rateUnit // 10^9 bytes per second
)

// format is a number with its unit, as short as it can be said.
func (u unit) format(v float64) string {
	switch u {
	case byteUnit:
		return shortBytes(int64(math.Round(v)))
	case rateUnit:
		return trimmed(short(v))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// tick is the label of a number on an axis.
func (u unit) tick(v float64) string {
	if v == 0 {
		return "0"
	}
	return u.format(v)
}

// short is a number with three digits that count.
func short(v float64) string {
	switch size := math.Abs(v); {
	case v == 0:
		return "0"
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// shortBytes is a size with three digits that count, without zeros behind them:
// what was measured. ccrun.ByteSize has all digits, for what was given.
func shortBytes(n int64) string {
	v, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for math.Abs(v) >= 1024 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	return trimmed(short(v)) + units[0]
}

// trimmed is a number without zeros behind its point.
func trimmed(text string) string {
	if !strings.Contains(text, ".") || strings.Contains(text, "e") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// scale maps numbers to 0 to 1.
type scale struct {
	low, high float64
	log       bool
	nothing   bool // low stands for 0, which a logarithmic scale does not have
}

// scaleOf is a scale that holds values. One that is not logarithmic begins at
// 0 if it is grounded; a logarithmic one begins and ends at a power of two, and
// has one more at the bottom for what is nothing.
func scaleOf(values []float64, log, grounded bool) scale {
	low, high, nothing := math.Inf(1), math.Inf(-1), false
	for _, v := range values {
		if log && v <= 0 {
			nothing = grounded
			continue // it has no place there
		}
		low, high = min(low, v), max(high, v)
	}
	switch {
	case low > high:
		return scale{low: 0, high: 1}
	case log && grounded:
		low, high = math.Exp2(math.Floor(math.Log2(low/1.05))), math.Exp2(math.Ceil(math.Log2(high*1.05)))
		if nothing {
			low /= 2
		}
	case grounded && high > 0:
		low = min(0, low)
		step := stepOf((high - low) * 1.05)
		high = math.Ceil(high*1.05/step) * step
	}
	switch {
	case low == high && log:
		low, high = low/2, high*2
	case low == high:
		low, high = low-0.5, high+0.5
	}
	return scale{low: low, high: high, log: log, nothing: nothing}
}

// at is where a number lies, from 0 to 1.
func (s scale) at(v float64) float64 {
	if !s.log {
		return (v - s.low) / (s.high - s.low)
	}
	v = max(v, s.low) // what is not positive lies at the bottom
	return math.Log2(v/s.low) / math.Log2(s.high/s.low)
}

// ticks are five to ten round numbers of the scale.
func (s scale) ticks(u unit) []float64 {
	var ticks []float64
	if s.log {
		first, last := int(math.Ceil(math.Log2(s.low)-1e-9)), int(math.Floor(math.Log2(s.high)+1e-9))
		if s.nothing {
			first, ticks = first+1, append(ticks, 0)
		}
		if u == byteUnit {
			first = max(first, 0) // there is no half of a byte
		}
		for e := first; e <= last; e += 1 + (last-first)/9 {
			ticks = append(ticks, math.Exp2(float64(e)))
		}
		return ticks
	}
	step := stepOf(s.high - s.low)
	if u == byteUnit {
		step = max(1, math.Exp2(math.Ceil(math.Log2((s.high-s.low)/8))))
	}
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high+step*1e-9; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// stepOf is 1, 2 or 5 times a power of ten, so that a range has four to ten
// such steps.
func stepOf(span float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, m := range [...]float64{5, 2} {
		if span/(m*power) >= 4 {
			return m * power
		}
	}
	return power
}
