// Package models knows the parameters of real models, from their public
// configurations: [Load] gives their names, shapes and types, and how each is
// split by who computes with it. A [Scheme] lays a whole model out on a mesh, and
// [Model.Moves] is what takes it from one scheme to another. There are no
// weights here.
package models

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

//go:embed *.json
var files embed.FS

// Names are the models that there are.
func Names() []string { return []string{"llama3-8b", "qwen3-moe-30b"} }

// Split says which dimension of a parameter those who compute with a part of it
// have a part of. Matrices are stored with their outputs first.
type Split string

// The splits.
const (
	Replicated Split = ""       // all of it
	Column     Split = "column" // of its outputs, dimension 0
	Row        Split = "row"    // of its inputs, dimension 1
)

// Tensor is a parameter.
type Tensor struct {
	reshard.Tensor
	Split  Split
	Layer  int // the layer it belongs to; the first for what comes before all layers, the last for what comes after
	Expert int // -1 for a parameter of no expert
}

// Model is a model's parameters.
type Model struct {
	Name       string
	Parameters int64 // elements of all tensors
	Layers     int
	Experts    int // of a layer
	Tensors    []Tensor
}

// file is a model as it is stored.
type file struct {
	Name       string  `json:"name"`
	Parameters int64   `json:"parameters"`
	Dtype      string  `json:"dtype"`
	Groups     []group `json:"groups"`
}

// group is parameters that come once for each layer, or expert, or once only.
type group struct {
	Repeat  int         `json:"repeat"`
	Prefix  string      `json:"prefix"`
	Of      string      `json:"of"`
	Tensors []parameter `json:"tensors"`
	Groups  []group     `json:"groups"`
}

type parameter struct {
	Name  string  `json:"name"`
	Shape []int64 `json:"shape"`
	Split Split   `json:"split"`
}

// Load gives a model by its name.
func Load(name string) (*Model, error) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no model %q; there are %s", name, strings.Join(Names(), ", "))
	}
	m, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	return m, nil
}

// read makes a model of its stored form.
func read(text []byte) (*Model, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	dtype, err := reshard.ParseDtype(f.Dtype)
	if err != nil {
		return nil, err
	}
	m := &Model{Name: f.Name}
	at := Tensor{Tensor: reshard.Tensor{Dtype: dtype}, Expert: -1}
	for i := range f.Groups {
		if err := m.add(&f.Groups[i], at, ""); err != nil {
			return nil, err
		}
		at.Layer = max(m.Layers-1, 0)
	}
	for i := range m.Tensors {
		n := int64(1)
		for _, size := range m.Tensors[i].Shape {
			n *= size
		}
		m.Parameters += n
	}
	if m.Parameters != f.Parameters {
		return nil, fmt.Errorf("its tensors have %d parameters, and it says %d", m.Parameters, f.Parameters)
	}
	return m, nil
}

// add appends the tensors of a group within what at and prefix name.
func (m *Model) add(g *group, at Tensor, prefix string) error {
	for i := range max(g.Repeat, 1) {
		prefix := prefix
		if g.Repeat > 0 {
			prefix += fmt.Sprintf(g.Prefix, i)
		}
		switch g.Of {
		case "":
		case "layers":
			at.Layer, m.Layers = i, g.Repeat
		case "experts":
			at.Expert, m.Experts = i, g.Repeat
		default:
			return fmt.Errorf("group %q is of %q; there are layers and experts", g.Prefix, g.Of)
		}
		for _, p := range g.Tensors {
			if p.Split != Replicated && p.Split != Column && p.Split != Row {
				return fmt.Errorf("%s%s: unknown split %q", prefix, p.Name, p.Split)
			}
			t := at
			t.Name, t.Shape, t.Split = prefix+p.Name, p.Shape, p.Split
			m.Tensors = append(m.Tensors, t)
		}
		for j := range g.Groups {
			if err := m.add(&g.Groups[j], at, prefix); err != nil {
				return err
			}
		}
	}
	return nil
}
