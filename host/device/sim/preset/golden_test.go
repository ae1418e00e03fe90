package preset

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestGolden prints what users see: errors, changed presets, what reports say.
//
//	parse    of a file's text: its error, or what differs from its base
//	find     of names
//	set      machine=M: assignments to testdata/M.yaml, one in each line
//	honesty  machine=M: of testdata/M.yaml with more text, then assignments
//	         after a line of "--"
//	title    of a file's text: the first line of the same
//	target   of what --device says
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return goldenParse(d.Input)
			case "find":
				return eachLine(d.Input, func(line string) string {
					p, err := Find(line)
					if err != nil {
						return err.Error()
					}
					return p.Name + ": " + p.About
				})
			case "set":
				p, err := Parse("fixed.yaml", []byte(fixed(t, d)))
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				return eachLine(d.Input, func(line string) string { return goldenSet(p, line) })
			case "honesty":
				return goldenHonesty(fixed(t, d) + d.Input)
			case "title":
				line, _, _ := strings.Cut(goldenHonesty(d.Input), "\n")
				return line + "\n"
			case "target":
				return eachLine(d.Input, func(line string) string {
					name, nodes, err := ParseTarget(line)
					if err != nil {
						return err.Error()
					}
					return fmt.Sprintf("%s, %d nodes", name, nodes)
				})
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// fixed is the text of a preset that is not tuned, so that goldens stay.
func fixed(t *testing.T, d *datadriven.TestData) string {
	var machine string
	d.ScanArgs(t, "machine", &machine)
	text, err := os.ReadFile("testdata/" + machine + ".yaml")
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return string(text)
}

func eachLine(text string, do func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(do(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// goldenParse prints the keys that the text itself gives.
func goldenParse(text string) string {
	p, err := Parse("my.yaml", []byte(text))
	if err != nil {
		return err.Error() + "\n"
	}
	base := &Preset{}
	if p.Base != "" {
		if base, err = Find(p.Base); err != nil {
			return err.Error()
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ok: %v, base %q\n", p.Machine, p.Base)
	for i := range keys {
		if name := keys[i].name; p.Sources[name] != base.Sources[name] {
			fmt.Fprintf(&b, "%s: %s (%s)\n", name, keys[i].text(p), p.Sources[name])
		}
	}
	for _, band := range p.Validation {
		fmt.Fprintf(&b, "%+v\n", band)
	}
	return b.String()
}

func goldenSet(p *Preset, line string) string {
	if err := p.Set(line); err != nil {
		return err.Error()
	}
	name, _, _ := strings.Cut(line, "=")
	k := find(strings.TrimSpace(name))
	return k.name + " is " + k.text(p) + "; " + p.Sources[k.name]
}

func goldenHonesty(input string) string {
	text, assignments, _ := strings.Cut(input, "\n--\n")
	p, err := Parse("my.yaml", []byte(text))
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(assignments) {
		if err := p.Set(strings.TrimSpace(line)); err != nil {
			return err.Error()
		}
	}
	return strings.Join(p.Honesty(), "\n") + "\n"
}
