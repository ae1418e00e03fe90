package preset

import (
	"fmt"
	"strings"
)

// Reference is the table of all keys in Markdown, as README.md has it.
func Reference() string {
	var b strings.Builder
	b.WriteString("| key | unit | range | machine | meaning |\n|---|---|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		unit := k.unit.units[0].name
		for _, u := range k.unit.units {
			if strings.HasSuffix(k.unit.example, " "+u.name) && u.name != "" {
				unit = u.name
			}
		}
		if k.x != nil {
			unit = "[[" + k.x.example + ", " + k.unit.example + "], ...]"
		}
		fmt.Fprintf(&b, "| %s | %s | %s to %s | %s | %s |\n", k.name, unit, k.unit.format(k.least), k.unit.format(k.greatest), k.machineText(), k.doc)
	}
	return b.String()
}

func (k *key) machineText() string {
	var parts []string
	for m, name := range machines {
		switch has, needs := k.on(Machine(m)); {
		case needs:
			parts = append(parts, name)
		case has:
			parts = append(parts, name+" (optional)")
		}
	}
	return strings.Join(parts, ", ")
}
