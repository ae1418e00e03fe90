package preset

import (
	"fmt"
	"io"
	"strings"
)

// Write writes a file that [Parse] reads as this preset, every number with its
// source. Base is not written: the file stands for itself.
func (p *Preset) Write(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

// String is the text of the preset's file.
func (p *Preset) String() string {
	var b strings.Builder
	if p.About != "" {
		fmt.Fprintf(&b, "about: %s\n", yamlText(p.About))
	}
	fmt.Fprintf(&b, "machine: %v\n", p.Machine)
	group := ""
	for i := range keys {
		k := &keys[i]
		source, given := p.Sources[k.name]
		if _, needs := k.on(p.Machine); !given && !needs {
			continue
		}
		if first, _, _ := strings.Cut(k.name, "."); first != group {
			b.WriteString("\n")
			group = first
		}
		if source == "" {
			source = "not said"
		}
		k.write(&b, p, source)
	}
	p.writeBands(&b)
	return b.String()
}

// write is the key's own line, or lines if it is a table.
func (k *key) write(b *strings.Builder, p *Preset, source string) {
	if k.x == nil {
		fmt.Fprintf(b, "%s: {value: %s, source: %s}\n", k.name, k.text(p), yamlText(source))
		return
	}
	fmt.Fprintf(b, "%s:\n  value: %s\n  source: %s\n", k.name, k.text(p), yamlText(source))
}

func (p *Preset) writeBands(b *strings.Builder) {
	if len(p.Validation) > 0 {
		b.WriteString("\nvalidation:\n")
	}
	for _, band := range p.Validation {
		fmt.Fprintf(b, "  - {what: %s, error: %s, held_out: %t, source: %s}\n", yamlText(band.What), ratio.format(band.Error), band.HeldOut, yamlText(band.Source))
	}
	if len(p.Outside) > 0 {
		b.WriteString("\noutside:\n")
	}
	for _, text := range p.Outside {
		fmt.Fprintf(b, "  - %s\n", yamlText(text))
	}
}

// yamlText is a text in quotes. Files have printable text only.
func yamlText(text string) string {
	text = printable(strings.Join(strings.Fields(text), " "))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
