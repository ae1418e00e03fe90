package preset

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// dimension is what a number measures, and the units to write it in.
type dimension struct {
	what    string // "a rate", for messages
	example string
	whole   bool
	units   []unit // those that are printed first, largest first
}

// unit is 10^tens * 2^twos of what the program counts in.
type unit struct {
	name  string
	tens  int
	twos  int
	alias bool // is read, but never printed
}

var (
	rate = &dimension{what: "a rate", example: "300 GB/s", units: []unit{
		{name: "TB/s", tens: 12}, {name: "GB/s", tens: 9}, {name: "MB/s", tens: 6}, {name: "kB/s", tens: 3}, {name: "B/s"},
		{name: "TiB/s", twos: 40, alias: true}, {name: "GiB/s", twos: 30, alias: true}, {name: "MiB/s", twos: 20, alias: true}, {name: "KiB/s", twos: 10, alias: true},
	}}
	duration = &dimension{what: "a time", example: "1.5 us", units: []unit{
		{name: "s"}, {name: "ms", tens: -3}, {name: "us", tens: -6}, {name: "ns", tens: -9}, {name: "ps", tens: -12},
		{name: "µs", tens: -6, alias: true},
	}}
	size = &dimension{what: "a size", example: "80 GiB", whole: true, units: []unit{
		{name: "TiB", twos: 40}, {name: "GiB", twos: 30}, {name: "MiB", twos: 20}, {name: "KiB", twos: 10},
		{name: "TB", tens: 12}, {name: "GB", tens: 9}, {name: "MB", tens: 6}, {name: "kB", tens: 3}, {name: "B"},
	}}
	speed = &dimension{what: "a speed of computing", example: "989 TFLOP/s", units: []unit{
		{name: "PFLOP/s", tens: 15}, {name: "TFLOP/s", tens: 12}, {name: "GFLOP/s", tens: 9}, {name: "MFLOP/s", tens: 6}, {name: "FLOP/s"},
	}}
	work = &dimension{what: "a number of operations", example: "2 TFLOP", units: []unit{
		{name: "PFLOP", tens: 15}, {name: "TFLOP", tens: 12}, {name: "GFLOP", tens: 9}, {name: "MFLOP", tens: 6}, {name: "FLOP"},
	}}
	ratio = &dimension{what: "a ratio", example: "0.85", units: []unit{{}, {name: "%", tens: -2, alias: true}}}
	count = &dimension{what: "a whole number", example: "8", whole: true, units: []unit{{}}}
)

// parse reads a number with its unit. Decimal units only move the decimal point,
// so that "1.5 us" is exactly what 1.5e-6 is. The problem is empty if there is
// none.
func (d *dimension) parse(text string) (value float64, problem, hint string) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.+-eE", r) })
	if end < 0 {
		end = len(text)
	}
	digits, name := text[:end], strings.TrimSpace(text[end:])
	mantissa, exponent, ok := cutExponent(digits)
	if !ok {
		return 0, quoted(text) + " is not " + d.what, d.help()
	}
	i := slices.IndexFunc(d.units, func(u unit) bool { return u.name == name })
	switch {
	case i < 0 && name == "":
		return 0, quoted(text) + " has no unit", d.help()
	case i < 0:
		return 0, quoted(name) + " is not a unit of " + d.what, d.help()
	}
	u := d.units[i]
	value, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(exponent+u.tens), 64)
	if value = math.Ldexp(value, u.twos); err != nil || math.IsInf(value, 0) {
		return 0, quoted(text) + " is out of all bounds", d.help()
	}
	if d.whole && value != math.Trunc(value) {
		return 0, quoted(text) + " is not whole", d.help()
	}
	return value, "", ""
}

// cutExponent takes a decimal number apart.
func cutExponent(digits string) (mantissa string, exponent int, ok bool) {
	mantissa = digits
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(digits[i+1:]); err != nil || exponent < -400 || exponent > 400 {
			return "", 0, false
		}
		mantissa = digits[:i]
	}
	_, err := strconv.ParseFloat(mantissa, 64)
	return mantissa, exponent, err == nil
}

// help says how to write such a number.
func (d *dimension) help() string {
	var names []string
	for _, u := range d.units {
		if u.name != "" && !u.alias {
			names = append(names, u.name)
		}
	}
	if len(names) == 0 {
		return "for example " + d.example
	}
	return "for example " + d.example + "; units are " + strings.Join(names, ", ")
}

// quoted is a word of the user's, short and printable.
func quoted(text string) string {
	const runesMax = 40
	if runes := []rune(text); len(runes) > runesMax {
		text = string(runes[:runesMax]) + "..."
	}
	return strconv.Quote(printable(text))
}

// format is a text that parse reads as exactly this value.
func (d *dimension) format(value float64) string {
	if d.whole {
		return d.formatWhole(value)
	}
	digits, exponent := decimal(value)
	chosen, found := unit{}, false
	for _, u := range d.units {
		if u.alias {
			continue
		}
		if u.tens == 0 && !found {
			chosen = u // for zero, and if there is no better one
		}
		if value != 0 && !found {
			chosen, found = u, exponent >= u.tens
		}
	}
	return joined(pointed(digits, exponent-chosen.tens), chosen.name)
}

// formatWhole takes the unit that makes the text short.
func (d *dimension) formatWhole(value float64) string {
	const exactMax = 1 << 53 // beyond it, division by tens can round
	best := ""
	for _, u := range d.units {
		if u.tens != 0 && math.Abs(value) > exactMax {
			continue
		}
		amount := math.Ldexp(value, -u.twos) / math.Pow10(u.tens)
		if amount != math.Trunc(amount) {
			continue
		}
		if text := joined(strconv.FormatFloat(amount, 'f', -1, 64), u.name); best == "" || len(text) < len(best) {
			best = text
		}
	}
	return best
}

func joined(number, unit string) string {
	if unit == "" {
		return number
	}
	return number + " " + unit
}

// decimal is the fewest digits that stand for a value, the point after the first
// of them, and the power of ten.
func decimal(value float64) (digits string, exponent int) {
	text := strconv.FormatFloat(value, 'e', -1, 64)
	i := strings.IndexByte(text, 'e')
	exponent, _ = strconv.Atoi(text[i+1:]) // it was just printed
	return strings.Replace(text[:i], ".", "", 1), exponent
}

// pointed puts the decimal point in, or an exponent where that would take too
// many zeros.
func pointed(digits string, exponent int) string {
	const zerosMax = 6
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	after := exponent + 1 // digits before the point
	switch {
	case after > len(digits)+zerosMax || after < -zerosMax:
		text := digits[:1]
		if len(digits) > 1 {
			text += "." + digits[1:]
		}
		return sign + text + "e" + strconv.Itoa(exponent)
	case after >= len(digits):
		return sign + digits + strings.Repeat("0", after-len(digits))
	case after <= 0:
		return sign + "0." + strings.Repeat("0", -after) + digits
	}
	return sign + digits[:after] + "." + digits[after:]
}
