package traces

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// scale is a unit and how many of the base unit it holds.
type scale struct {
	unit string
	size float64
}

// The units, largest first: those of tables, and with the same names those of
// thresholds.
var (
	timeScales = []scale{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}
	byteScales = []scale{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
	rateScales = []scale{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}}
)

// format writes a value in the largest unit that leaves at least 1, with three
// significant digits.
func format(value float64, scales []scale) string {
	s := scales[len(scales)-1]
	for _, candidate := range scales {
		if math.Abs(value) >= candidate.size*0.9995 {
			s = candidate
			break
		}
	}
	return significant(value/s.size) + " " + s.unit
}

// significant writes three significant digits, and all those before the point.
func significant(v float64) string {
	decimals := 2
	switch abs := math.Abs(v); {
	case abs >= 99.95:
		decimals = 0
	case abs >= 9.995:
		decimals = 1
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if v == math.Trunc(v) {
		text, _, _ = strings.Cut(text, ".")
	}
	return text
}

func formatSeconds(s float64) string { return format(s, timeScales) }
func formatBytes(n float64) string   { return format(n, byteScales) }
func formatRate(n float64) string    { return format(n, rateScales) }

// printable replaces what a guest may have put into a name to disturb a
// terminal or a protocol that wants valid UTF-8.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
}
