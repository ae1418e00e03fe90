package preset

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed data/*.yaml
var data embed.FS

// Names lists the presets that ccrun comes with.
func Names() []string {
	entries, _ := data.ReadDir("data") // it is compiled in
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Find is the preset of a name, or the one in the user's own file: a name with
// a slash or that ends in .yaml is a path. An unknown name is [ErrUnknown], a
// bad file a [*Problem].
func Find(name string) (*Preset, error) {
	if isPath(name) {
		return findFile(name)
	}
	p, err := findOwn(name, 0)
	if errors.Is(err, ErrUnknown) {
		return nil, fmt.Errorf("%w: %s; %s, and the paths of your own files", ErrUnknown, quoted(name), unknownHint(name))
	}
	return p, err
}

func isPath(name string) bool {
	return strings.Contains(name, "/") || strings.HasSuffix(name, ".yaml")
}

// findOwn reads a file that is compiled in.
func findOwn(name string, depth int) (*Preset, error) {
	if !slices.Contains(Names(), name) {
		return nil, ErrUnknown
	}
	file := path.Join("data", name+".yaml")
	text, err := data.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := parse(file, text, depth)
	if err != nil {
		return nil, err
	}
	p.Name = name
	return p, nil
}

func findFile(name string) (*Preset, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("preset: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fileBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("preset: %w", err)
	}
	return Parse(name, text)
}

// unknownHint says which presets there are.
func unknownHint(name string) string {
	names := Names()
	hint := "there are " + strings.Join(names, ", ")
	if g := guess(name, names); g != "" {
		return g + " " + hint
	}
	return hint
}

// Default is the preset of a plain --device sim.
const Default = "h100"

// ErrTarget is what [ParseTarget] returns of a text that is no simulator.
var ErrTarget = errors.New("not a simulated device")

// nodesMax bounds how many nodes a target may ask for.
const nodesMax = 1 << 20

// ParseTarget reads what --device asks for: "sim", "sim:h100", "sim:h100x16"
// for 16 nodes, "sim:./my.yaml" or "sim:./my.yamlx16". Nodes are 0 if the text
// does not say how many; the preset need not exist.
func ParseTarget(text string) (preset string, nodes int, err error) {
	if text == "sim" {
		return Default, 0, nil
	}
	preset, ok := strings.CutPrefix(text, "sim:")
	if !ok || preset == "" {
		return "", 0, fmt.Errorf("%w: %s; for example sim:h100 or sim:h100x16", ErrTarget, quoted(text))
	}
	if i := strings.LastIndexByte(preset, 'x'); i > 0 && isDigits(preset[i+1:]) {
		nodes, err = strconv.Atoi(preset[i+1:])
		if err != nil || nodes < 1 || nodes > nodesMax {
			return "", 0, fmt.Errorf("%w: %s nodes; from 1 to %d", ErrTarget, quoted(preset[i+1:]), nodesMax)
		}
		preset = preset[:i]
	}
	return preset, nodes, nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
