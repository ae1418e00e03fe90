package preset

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Limits of a preset's file.
const (
	fileBytesMax = 1 << 20
	textRunesMax = 1000 // of a source, or of what the preset says about itself
	bandsMax     = 100
)

// words are the keys of a file that are no numbers.
var words = []string{"about", "machine", "base", "validation", "outside"}

// file is a preset's file while it is read.
type file struct {
	path   string
	preset *Preset
	lines  map[string]int // where keys were given
	depth  int            // files that are read for the sake of another's base
}

// Parse reads a preset's file. What is wrong with it is a [*Problem]; the path
// is for messages only.
func Parse(path string, text []byte) (*Preset, error) {
	return parse(path, text, 0)
}

func parse(path string, text []byte, depth int) (*Preset, error) {
	f := &file{path: path, preset: &Preset{Name: path, Sources: make(map[string]string)}, lines: make(map[string]int), depth: depth}
	root, err := f.read(text)
	if err != nil {
		return nil, err
	}
	if err := f.begin(root); err != nil {
		return nil, err
	}
	for key, value := range pairs(root) {
		if err := f.entry(key, value); err != nil {
			return nil, err
		}
	}
	if err := f.complete(); err != nil {
		return nil, err
	}
	return f.preset, nil
}

// problem is an error at a place of the file.
func (f *file) problem(at *yaml.Node, key, text, hint string) error {
	return &Problem{Path: f.path, Line: max(at.Line, 1), Key: printable(key), Text: text, Hint: hint}
}

// read takes the text apart.
func (f *file) read(text []byte) (*yaml.Node, error) {
	start := &yaml.Node{Line: 1}
	if len(text) > fileBytesMax {
		return nil, f.problem(start, "", "the file is too large", "a preset has at most "+size.format(fileBytesMax))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, f.problem(start, "", "the file is empty", "ccrun's own presets show what it needs")
	case err != nil:
		return nil, f.malformed(err, 1+bytes.Count(text, []byte("\n")))
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, f.problem(start, "", "there is more than one document", "a file is one preset")
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, f.problem(start, "", "a preset is a list of KEY: VALUE", "ccrun's own presets show how")
	}
	return document.Content[0], nil
}

// yamlLine is how the library begins its messages, yamlParser those of them
// that count lines from 0.
var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	yamlParser = regexp.MustCompile(`^did not find expected (',' or|key|'-'|node content|<)|^found undefined tag handle|^found duplicate`)
)

// malformed is the library's error in our form, of a file with so many lines.
func (f *file) malformed(err error, lines int) error {
	text, at := err.Error(), &yaml.Node{Line: 1}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		at.Line, _ = strconv.Atoi(m[1]) // 0 if there is no line
		if text = text[len(m[0]):]; m[1] != "" && yamlParser.MatchString(text) {
			at.Line = min(at.Line+1, lines)
		}
	}
	return f.problem(at, "", "not YAML: "+printable(text), "")
}

// pairs yields a mapping's keys and values in order.
func pairs(mapping *yaml.Node) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if !yield(mapping.Content[i], mapping.Content[i+1]) {
				return
			}
		}
	}
}

// begin looks for what all else depends on: another preset to begin with, or
// the machine.
func (f *file) begin(root *yaml.Node) error {
	base, machine := lookup(root, "base"), lookup(root, "machine")
	switch {
	case base != nil && machine != nil:
		return f.problem(machine, "machine", "the base says what machine it is", "leave one of them out")
	case base != nil:
		return f.begun(base)
	case machine == nil:
		return f.problem(root, "machine", "missing", "it is gpu or cores; or begin with another preset: base: h100")
	}
	text, err := f.scalar(machine, "machine")
	if err != nil {
		return err
	}
	m, ok := parseMachine(text)
	if !ok {
		return f.problem(machine, "machine", quoted(text)+" is no kind of machine", "it is gpu or cores")
	}
	f.preset.Machine = m
	return nil
}

// begun takes over the numbers of a preset of ours.
func (f *file) begun(node *yaml.Node) error {
	const depthMax = 4
	name, err := f.scalar(node, "base")
	if err != nil {
		return err
	}
	if f.depth >= depthMax {
		return f.problem(node, "base", "too many presets begin with another one", "")
	}
	p, err := findOwn(name, f.depth+1)
	if err != nil {
		return f.problem(node, "base", "no preset is called "+quoted(name), unknownHint(name))
	}
	p.Name, p.Base, p.Validation = f.preset.Name, name, nil // other numbers, other errors
	f.preset = p
	return nil
}

func lookup(mapping *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(mapping) {
		if key.Kind == yaml.ScalarNode && key.Value == name {
			return value
		}
	}
	return nil
}

// entry reads one key of the file.
func (f *file) entry(node, value *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return f.problem(node, "", "a key is a word", "")
	}
	name := node.Value
	if line, twice := f.lines[name]; twice {
		return f.problem(node, name, "given twice", "first in line "+strconv.Itoa(line))
	}
	f.lines[name] = node.Line
	switch name {
	case "machine", "base":
		return nil
	case "about":
		text, err := f.text(value, name)
		f.preset.About = text
		return err
	case "validation":
		return f.bands(value)
	case "outside":
		return f.outside(value)
	}
	k := find(name)
	if k == nil {
		return f.problem(node, name, "unknown key", guess(name, append(keyNames(), words...)))
	}
	if has, _ := k.on(f.preset.Machine); !has {
		return f.problem(node, name, "a preset of machine "+f.preset.Machine.String()+" has no such number", "")
	}
	return f.number(k, node, value)
}

// complete looks for what is missing.
func (f *file) complete() error {
	var missing []string
	for i := range keys {
		_, needs := keys[i].on(f.preset.Machine)
		if _, given := f.preset.Sources[keys[i].name]; needs && !given {
			missing = append(missing, keys[i].name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	text := "missing"
	if more := len(missing) - 1; more > 0 {
		text += ", and " + strconv.Itoa(more) + " more"
	}
	at := &yaml.Node{Line: f.lines["machine"]}
	return f.problem(at, missing[0], text, "give all, or begin with another preset instead of machine: base: h100")
}
