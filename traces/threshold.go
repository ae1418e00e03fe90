package traces

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/host/op"
)

// Threshold is a condition that the summary of a run must meet.
type Threshold struct {
	text       string
	collective string // "" for every collective
	metric     *metric
	stat       string // of the metric, if it comes in several
	comparison string
	limit      float64 // in base units: seconds, bytes per second, or a plain number
}

// comparisons, the longer ones first, since the shorter ones begin them.
var comparisons = []string{"<=", ">=", "==", "!=", "<", ">"}

// ParseThreshold reads a condition such as "cct.p99<5ms" or
// "all_gather.busbw>=1GB/s". Spaces may stand anywhere between its parts. The
// error says what is wrong; [ThresholdHint] says how to write it.
func ParseThreshold(s string) (Threshold, error) {
	t := Threshold{text: strings.TrimSpace(s)}
	at := strings.IndexAny(s, "<>=!")
	if at < 0 {
		return t, fmt.Errorf("threshold %q: no comparison (<, <=, >, >=, ==, !=)", s)
	}
	for _, c := range comparisons {
		if strings.HasPrefix(s[at:], c) {
			t.comparison = c
			break
		}
	}
	if t.comparison == "" {
		return t, fmt.Errorf("threshold %q: unknown comparison", s)
	}
	if err := t.parseName(strings.TrimSpace(s[:at])); err != nil {
		return t, fmt.Errorf("threshold %q: %w", s, err)
	}
	if err := t.parseLimit(strings.TrimSpace(s[at+len(t.comparison):])); err != nil {
		return t, fmt.Errorf("threshold %q: %w", s, err)
	}
	return t, nil
}

func (t *Threshold) parseName(name string) error {
	parts := strings.Split(name, ".")
	if findMetric(parts[0]) == nil && len(parts) > 1 {
		if !collectiveNamed(parts[0]) {
			return fmt.Errorf("unknown metric or collective %q", parts[0])
		}
		t.collective, parts = parts[0], parts[1:]
	}
	t.metric = findMetric(parts[0])
	switch {
	case t.metric == nil:
		return fmt.Errorf("unknown metric %q", parts[0])
	case t.metric.value == nil && t.collective != "":
		return fmt.Errorf("%s belongs to the run, not to a collective", t.metric.name)
	case len(t.metric.stats) == 0 && len(parts) > 1 || len(parts) > 2:
		return fmt.Errorf("too many parts in %q", name)
	case len(t.metric.stats) == 0:
		return nil
	case len(parts) < 2 || !slices.Contains(t.metric.stats, parts[1]):
		return fmt.Errorf("%s needs one of %s", t.metric.name, strings.Join(t.metric.stats, ", "))
	}
	t.stat = parts[1]
	return nil
}

func (t *Threshold) parseLimit(value string) error {
	if words := t.metric.words; words != nil {
		return t.parseWord(value, words)
	}
	number, unit, err := parseNumber(value)
	if err != nil {
		return err
	}
	factor, err := t.metric.unit(unit)
	if err != nil {
		return err
	}
	t.limit = number * factor
	return nil
}

// parseNumber splits a value into its number and its unit.
func parseNumber(value string) (number float64, unit string, err error) {
	end := len(value)
	for end > 0 && (value[end-1] < '0' || value[end-1] > '9') && value[end-1] != '.' {
		end--
	}
	number, err = strconv.ParseFloat(value[:end], 64)
	if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		return 0, "", fmt.Errorf("%q is not a number with a unit", value)
	}
	return number, strings.TrimSpace(value[end:]), nil
}

// parseWord reads a value that is a word or, where the metric allows it, a
// rank.
func (t *Threshold) parseWord(value string, words *words) error {
	if t.comparison != "==" && t.comparison != "!=" {
		return fmt.Errorf("%s can be compared with == and != only", t.metric.name)
	}
	number, ok := words.parse(value)
	if !ok {
		return fmt.Errorf("%s is %s, not %q", t.metric.name, words.choice, value)
	}
	t.limit = number
	return nil
}

// unit is how many base units the named unit holds.
func (m *metric) unit(unit string) (float64, error) {
	if m.scales == nil {
		if unit != "" {
			return 0, fmt.Errorf("%s has no unit %q", m.name, unit)
		}
		return 1, nil
	}
	if unit == "" && m.scales[0] == shareScales[0] {
		return 1, nil // a share is a plain number too
	}
	if unit == "us" || unit == "μs" { // the second has a Greek letter, our own tables the micro sign
		unit = "µs"
	}
	var names []string
	for _, s := range m.scales {
		if s.unit == unit {
			return s.size, nil
		}
		names = append(names, s.unit)
	}
	return 0, fmt.Errorf("%s needs a unit: %s", m.name, strings.Join(names, ", "))
}

func collectiveNamed(name string) bool {
	for c := op.CollectiveOp(0); c.Valid(); c++ {
		if c.String() == name {
			return true
		}
	}
	return false
}

// String is the condition as it was written.
func (t Threshold) String() string { return t.text }

// Check reports whether the run crossed the threshold, that is, does not meet
// its condition, and says in one line what was measured. Every collective that
// the threshold covers must meet it; one that covers nothing that was measured
// is crossed, so that a typing error in a script does not pass for a success.
func (t Threshold) Check(s *Summary) (crossed bool, text string) {
	if t.metric == nil {
		return true, "no condition"
	}
	if t.metric.total != nil && t.collective == "" {
		v, measured := t.metric.total(s)
		if !measured {
			return true, t.nothing()
		}
		return !t.holds(v), fmt.Sprintf("%s: %s", t.text, t.print(v))
	}
	worst, found := t.worst(s)
	if !found {
		return true, t.nothing()
	}
	value, _ := t.measure(worst)
	return !t.holds(value), fmt.Sprintf("%s: %s %s on %s has %s", t.text,
		worst.title(), formatBytes(float64(worst.Bytes)), plural(int64(worst.Ranks), "rank"), t.print(value))
}

func (t Threshold) nothing() string {
	return fmt.Sprintf("%s: nothing was measured that it covers", t.text)
}

// worst is the first collective that does not meet the condition, or else the
// first that it covers.
func (t Threshold) worst(s *Summary) (worst *CollectiveStats, found bool) {
	for i := range s.Collectives {
		c := &s.Collectives[i]
		value, ok := t.measure(c)
		if !ok {
			continue
		}
		if !t.holds(value) {
			return c, true
		}
		if worst == nil {
			worst = c
		}
	}
	return worst, worst != nil
}

// measure is the value of the metric, if it was measured.
func (t Threshold) measure(c *CollectiveStats) (float64, bool) {
	if t.collective != "" && t.collective != c.Op || c.Count == 0 {
		return 0, false
	}
	return t.metric.value(c, t.stat)
}

func (t Threshold) holds(v float64) bool {
	switch t.comparison {
	case "<":
		return v < t.limit
	case "<=":
		return v <= t.limit
	case ">":
		return v > t.limit
	case ">=":
		return v >= t.limit
	case "==":
		return v == t.limit
	default:
		return v != t.limit
	}
}

func (t Threshold) print(v float64) string {
	switch {
	case t.metric.words != nil:
		return t.metric.words.print(v)
	case t.metric.scales == nil && v != math.Trunc(v):
		return strconv.FormatFloat(v, 'g', 4, 64)
	case t.metric.scales == nil:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return format(v, t.metric.scales)
	}
}
