package coll

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// RulesMax is how many rules the text of a table may have: it travels to every
// rank.
const RulesMax = 256

// ErrTable is wrapped by what is wrong with the text of a table.
var ErrTable = errors.New("malformed selection table")

// Keys of a table's lines.
const (
	keyRanksMax  = "ranks_max"
	keyBytesMax  = "bytes_max"
	keyAlgorithm = "algorithm"
)

// String is the text of the table, which [ParseTable] reads: a rule a line,
// a collective and its keys.
//
//	all_reduce ranks_max=16 bytes_max=16384 algorithm=oneshot
//	all_reduce algorithm=direct
func (t Table) String() string {
	var b strings.Builder
	for i := range t {
		r := &t[i]
		b.WriteString(r.Collective.String())
		if r.RanksMax > 0 {
			fmt.Fprintf(&b, " %s=%d", keyRanksMax, r.RanksMax)
		}
		if r.BytesMax > 0 {
			fmt.Fprintf(&b, " %s=%d", keyBytesMax, r.BytesMax)
		}
		fmt.Fprintf(&b, " %s=%s\n", keyAlgorithm, r.Algorithm)
	}
	return b.String()
}

// ParseTable reads the text of a table. Empty lines and what follows a # do
// not count. Errors name the line and the key, and wrap [ErrTable].
func ParseTable(text string) (Table, error) {
	var t Table
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		rule, err := parseRule(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(t) == RulesMax {
			return nil, fmt.Errorf("line %d: more than %d rules: %w", number, RulesMax, ErrTable)
		}
		t = append(t, rule)
	}
	return t, nil
}

func parseRule(fields []string) (r Rule, err error) {
	row := collectiveNamed(fields[0])
	if row == nil {
		return Rule{}, fmt.Errorf("%q is no collective: %w", fields[0], ErrTable)
	}
	r.Collective = row.Op
	seen := map[string]bool{}
	for _, field := range fields[1:] {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return Rule{}, fmt.Errorf("%q is not a key and a value: %w", field, ErrTable)
		}
		if seen[key] {
			return Rule{}, fmt.Errorf("%s: given twice: %w", key, ErrTable)
		}
		seen[key] = true
		if err := r.set(row, key, value); err != nil {
			return Rule{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	if !seen[keyAlgorithm] {
		return Rule{}, fmt.Errorf("%s: missing: %w", keyAlgorithm, ErrTable)
	}
	return r, nil
}

func (r *Rule) set(row *Collective, key, value string) (err error) {
	switch key {
	case keyRanksMax:
		r.RanksMax, err = parseLimit[int](value)
	case keyBytesMax:
		r.BytesMax, err = parseLimit[int64](value)
	case keyAlgorithm:
		a, ok := AlgorithmNamed(value)
		if !ok || row.variant(a) == nil {
			return fmt.Errorf("%s has no %q: %w", row.Op, value, ErrTable)
		}
		r.Algorithm = a
	default:
		return fmt.Errorf("unknown key: %w", ErrTable)
	}
	return err
}

func parseLimit[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || int64(T(n)) != n {
		return 0, fmt.Errorf("%q is not a whole number above 0: %w", text, ErrTable)
	}
	return T(n), nil
}

func collectiveNamed(name string) *Collective {
	for i := range All {
		if All[i].Op.String() == name {
			return &All[i]
		}
	}
	return nil
}
