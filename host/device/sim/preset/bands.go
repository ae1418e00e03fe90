package preset

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// bands reads what the numbers were checked against.
func (f *file) bands(list *yaml.Node) error {
	const key = "validation"
	if err := f.list(list, key); err != nil {
		return err
	}
	for _, node := range list.Content {
		if node.Kind != yaml.MappingNode {
			return f.problem(node, key, "each is {what, error, held_out, source}", "")
		}
		fields, err := f.fields(node, key, "what", "error", "held_out", "source")
		if err != nil {
			return err
		}
		for i, name := range []string{"what", "error", "held_out", "source"} {
			if fields[i] == nil {
				return f.problem(node, key, "no "+name, "each is {what, error, held_out, source}")
			}
		}
		band, err := f.band(fields[0], fields[1], fields[2], fields[3])
		if err != nil {
			return err
		}
		f.preset.Validation = append(f.preset.Validation, band)
	}
	return nil
}

func (f *file) band(what, relative, heldOut, source *yaml.Node) (b Band, err error) {
	const key, errorMax = "validation", 100
	if b.What, err = f.text(what, key); err != nil {
		return b, err
	}
	if b.Source, err = f.text(source, key); err != nil {
		return b, err
	}
	if b.Error, err = f.quantity(ratio, relative, key); err != nil {
		return b, err
	}
	if b.Error < 0 || b.Error > errorMax {
		return b, f.problem(relative, key, "error "+ratio.format(b.Error)+" is out of range", "0.1 is 10 %")
	}
	text, err := f.scalar(heldOut, key)
	switch {
	case err != nil:
		return b, err
	case text != "true" && text != "false":
		return b, f.problem(heldOut, key, "held_out is true or false", "true if nothing was fitted to it")
	}
	b.HeldOut = text == "true"
	return b, nil
}

// outside reads what nothing was checked for.
func (f *file) outside(list *yaml.Node) error {
	const key = "outside"
	if err := f.list(list, key); err != nil {
		return err
	}
	f.preset.Outside = nil // not the base's
	for _, node := range list.Content {
		text, err := f.text(node, key)
		if err != nil {
			return err
		}
		f.preset.Outside = append(f.preset.Outside, text)
	}
	return nil
}

func (f *file) list(node *yaml.Node, key string) error {
	if node.Kind != yaml.SequenceNode {
		return f.problem(node, key, "this is a list", "")
	}
	if n := len(node.Content); n > bandsMax {
		return f.problem(node, key, strconv.Itoa(n)+" entries", "at most "+strconv.Itoa(bandsMax))
	}
	return nil
}
