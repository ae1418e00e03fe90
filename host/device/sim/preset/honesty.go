package preset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Honesty is what a report says about the numbers that it rests on, in lines:
// the preset and what was changed in it, where its numbers are from, how far
// off it was from what others measured, and what nobody checked.
func (p *Preset) Honesty() []string {
	lines := []string{"preset: " + p.title()}
	for _, name := range p.Changed {
		lines = append(lines, "changed: "+name+" "+p.Sources[name])
	}
	lines = append(lines, "sources: "+p.sourceSummary())
	return append(lines, p.bandLines()...)
}

func (p *Preset) title() string {
	title := p.Name
	if p.Base != "" {
		title += ", on top of " + p.Base
	}
	if p.About != "" {
		title += " (" + p.About + ")"
	}
	return title
}

// sourceSummary names those that most numbers are from.
func (p *Preset) sourceSummary() string {
	const namedMax = 6
	type tally struct {
		name    string
		numbers int
	}
	var tallies []tally
	for i := range keys {
		if slices.Contains(p.Changed, keys[i].name) {
			continue // has a line of its own
		}
		source, given := p.Sources[keys[i].name]
		if !given {
			continue
		}
		name, _, _ := strings.Cut(source, ":")
		name = shortened(name)
		at := slices.IndexFunc(tallies, func(t tally) bool { return t.name == name })
		if at < 0 {
			at = len(tallies)
			tallies = append(tallies, tally{name: name})
		}
		tallies[at].numbers++
	}
	slices.SortStableFunc(tallies, func(a, b tally) int { return b.numbers - a.numbers })
	var parts []string
	for _, t := range tallies[:min(len(tallies), namedMax)] {
		parts = append(parts, t.name+" ("+strconv.Itoa(t.numbers)+")")
	}
	text := strings.Join(parts, ", ")
	if more := len(tallies) - len(parts); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// bandLines says what the simulator was compared with, and what is outside.
func (p *Preset) bandLines() []string {
	var lines []string
	switch {
	case len(p.Validation) == 0:
		lines = append(lines, "validation: none; nobody has compared these numbers with a real machine")
	case len(p.Changed) > 0:
		lines = append(lines, "validation: of the preset as it was, before anything was changed")
	}
	if isPath(p.Name) && slices.ContainsFunc(p.Validation, copied) {
		lines = append(lines, "validation: as "+p.Name+" says; ccrun has not checked it")
	}
	for _, band := range p.Validation {
		kind := "fitted"
		if band.HeldOut {
			kind = "held out"
		}
		lines = append(lines, fmt.Sprintf("validation: within %s of %s (%s; %s)", percent(band.Error), band.What, kind, band.Source))
	}
	for _, text := range p.Outside {
		lines = append(lines, "outside: "+text)
	}
	return lines
}

// copied reports whether a user's own file has a band from somewhere else than
// ccrun calibrate, which measures the machine that it writes of.
func copied(b Band) bool { return !strings.HasPrefix(b.Source, "ccrun calibrate") }

// shortened keeps a line readable whatever a file calls its sources.
func shortened(text string) string {
	const runesMax = 60
	if runes := []rune(text); len(runes) > runesMax {
		return string(runes[:runesMax]) + "..."
	}
	return text
}

func percent(relative float64) string {
	return strconv.FormatFloat(relative*100, 'f', 1, 64) + " %"
}
