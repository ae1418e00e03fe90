package preset

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// number reads {value: ..., source: ...}, or the value alone.
func (f *file) number(k *key, node, given *yaml.Node) error {
	value, source := given, "given without a source by "+filepath.Base(printable(f.path))
	if given.Kind == yaml.MappingNode {
		parts, err := f.fields(given, k.name, "value", "source")
		if err != nil {
			return err
		}
		if parts[0] == nil {
			return f.problem(given, k.name, "no value", "for example "+k.name+": {value: "+k.example()+", source: \"measured by me\"}")
		}
		if parts[1] == nil || parts[1].Tag == "!!null" {
			return f.problem(given, k.name, "no source", "say where the number is from, or give it alone: "+k.name+": "+k.example())
		}
		if source, err = f.text(parts[1], k.name); err != nil {
			return err
		}
		value = parts[0]
	}
	f.preset.Sources[k.name] = source
	if k.x != nil {
		return f.table(k, value)
	}
	v, err := f.quantity(k.unit, value, k.name)
	if err != nil {
		return err
	}
	if problem, hint := k.bounds(v); problem != "" {
		return f.problem(value, k.name, problem, hint)
	}
	k.put(f.preset, v)
	return nil
}

// fields are the values of a mapping that has no others, nil for absent ones.
func (f *file) fields(mapping *yaml.Node, key string, names ...string) ([]*yaml.Node, error) {
	values := make([]*yaml.Node, len(names))
	for node, value := range pairs(mapping) {
		place := -1
		for i, name := range names {
			if node.Kind == yaml.ScalarNode && node.Value == name {
				place = i
			}
		}
		switch {
		case place < 0:
			return nil, f.problem(node, key, quoted(node.Value)+" is not known here", "known are "+strings.Join(names, ", "))
		case values[place] != nil:
			return nil, f.problem(node, key, names[place]+" is given twice", "")
		}
		values[place] = value
	}
	return values, nil
}

// table reads [[X, Y], ...], X ascending.
func (f *file) table(k *key, value *yaml.Node) error {
	if value.Kind != yaml.SequenceNode {
		return f.problem(value, k.name, "this is a table", "for example "+k.example())
	}
	if n := len(value.Content); n == 0 || n > pointsMax {
		return f.problem(value, k.name, strconv.Itoa(n)+" points", "a table has 1 to "+strconv.Itoa(pointsMax))
	}
	points := make([]Point, len(value.Content))
	for i, pair := range value.Content {
		if pair.Kind != yaml.SequenceNode || len(pair.Content) != 2 {
			return f.problem(pair, k.name, "a point of a table is [X, Y]", "for example "+k.example())
		}
		var err error
		if points[i].X, err = f.quantity(k.x, pair.Content[0], k.name); err != nil {
			return err
		}
		if points[i].Y, err = f.quantity(k.unit, pair.Content[1], k.name); err != nil {
			return err
		}
		if x := points[i].X; x < 1 || x > 1e24 || i > 0 && x <= points[i-1].X {
			return f.problem(pair, k.name, k.x.format(x)+" is out of order or range", "points ascend, from "+k.x.format(1))
		}
		if problem, hint := k.bounds(points[i].Y); problem != "" {
			return f.problem(pair, k.name, problem, hint)
		}
	}
	*k.points(f.preset) = points
	return nil
}

// example is a value of the key, as messages show it.
func (k *key) example() string {
	if k.x == nil {
		return k.unit.example
	}
	return "[[" + k.x.example + ", " + k.unit.example + "]]"
}

// quantity reads a number with its unit.
func (f *file) quantity(d *dimension, node *yaml.Node, key string) (float64, error) {
	text, err := f.scalar(node, key)
	if err != nil {
		return 0, err
	}
	value, problem, hint := d.parse(text)
	if problem != "" {
		return 0, f.problem(node, key, problem, hint)
	}
	return value, nil
}

// scalar is one word or number as it is written.
func (f *file) scalar(node *yaml.Node, key string) (string, error) {
	switch {
	case node.Kind != yaml.ScalarNode:
		return "", f.problem(node, key, "a single value belongs here", "")
	case node.Tag == "!!null" || strings.TrimSpace(node.Value) == "":
		return "", f.problem(node, key, "no value", "")
	}
	return node.Value, nil
}

// text is a sentence that reports can print.
func (f *file) text(node *yaml.Node, key string) (string, error) {
	text, err := f.scalar(node, key)
	if err != nil {
		return "", err
	}
	text = strings.Join(strings.Fields(text), " ") // files fold long lines
	if len([]rune(text)) > textRunesMax {
		return "", f.problem(node, key, "the text is too long", "at most "+strconv.Itoa(textRunesMax)+" characters")
	}
	if printable(text) != text {
		return "", f.problem(node, key, "the text has characters that cannot be printed", "")
	}
	return text, nil
}

// printable leaves out what would disturb a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
