package preset

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// factor is how a number is multiplied.
var factor = regexp.MustCompile(`^(\d+\.?\d*|\.\d+)x$`)

// Set changes a number, as --set asks for it: "link.nvlink.bandwidth=2x" for
// twice of what it is, "link.nvlink.bandwidth=300GB/s" for another value. A
// table takes a factor for all its values, or one value for all sizes. What is
// wrong with an assignment is a [*Problem], and nothing is changed then.
func (p *Preset) Set(assignment string) error {
	name, text, ok := strings.Cut(assignment, "=")
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	if !ok {
		return &Problem{Key: printable(name), Text: "no value", Hint: "for example link.nvlink.bandwidth=2x"}
	}
	k := find(name)
	if k == nil {
		return &Problem{Key: printable(name), Text: "unknown key", Hint: guess(name, keyNames())}
	}
	if has, _ := k.on(p.Machine); !has {
		return &Problem{Key: name, Text: "preset " + p.Name + " has no such number", Hint: "its machine is " + p.Machine.String()}
	}
	change, problem := k.changer(text)
	if problem != nil {
		return problem
	}
	was := p.before(k)
	if problem := k.change(p, change); problem != nil {
		return problem
	}
	p.Sources[name] = "set to " + text + was
	if !slices.Contains(p.Changed, name) {
		p.Changed = append(p.Changed, name)
	}
	return nil
}

// before says what a number was before it was changed for the first time. Of
// tables that would be too long.
func (p *Preset) before(k *key) string {
	const was = ", was "
	switch _, first, again := strings.Cut(p.Sources[k.name], was); {
	case k.x != nil:
		return ""
	case again && slices.Contains(p.Changed, k.name):
		return was + first
	}
	return was + k.text(p)
}

// changer is what an assignment's right side does with a value.
func (k *key) changer(text string) (func(float64) float64, *Problem) {
	if m := factor.FindStringSubmatch(text); m != nil {
		by, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, &Problem{Key: k.name, Text: quoted(text) + " is out of all bounds", Hint: "for example " + k.name + "=2x"}
		}
		return func(value float64) float64 { return k.rounded(value * by) }, nil
	}
	if strings.HasSuffix(text, "x") {
		return nil, &Problem{Key: k.name, Text: quoted(text) + " is no factor", Hint: "for example 2x or 0.5x"}
	}
	value, problem, hint := k.unit.parse(text)
	if problem != "" {
		return nil, &Problem{Key: k.name, Text: problem, Hint: hint + "; or a factor: 2x"}
	}
	return func(float64) float64 { return value }, nil
}

// rounded is a product as the key can have it: nobody minds half a byte.
func (k *key) rounded(value float64) float64 {
	if k.unit == size {
		return math.Round(value)
	}
	return value
}

// change applies it to the number or to all of a table.
func (k *key) change(p *Preset, to func(float64) float64) *Problem {
	points := k.points(p)
	if points == nil {
		value := to(k.number(p))
		if problem, hint := k.bounds(value); problem != "" {
			return &Problem{Key: k.name, Text: problem, Hint: hint}
		}
		k.put(p, value)
		return nil
	}
	changed := slices.Clone(*points)
	for i := range changed {
		changed[i].Y = to(changed[i].Y)
		if problem, hint := k.bounds(changed[i].Y); problem != "" {
			return &Problem{Key: k.name, Text: problem, Hint: hint}
		}
	}
	*points = changed
	return nil
}
