package preset

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is what [Find] returns of a name that no preset has.
var ErrUnknown = errors.New("no such preset")

// Problem is something wrong in a preset's file or in an assignment, in one
// line.
type Problem struct {
	Path string // of the file, or empty
	Line int    // of the file, from 1, or 0
	Key  string // that it is about, or empty
	Text string // what is wrong
	Hint string // what to do about it, or empty
}

// Error is FILE:LINE: KEY: what is wrong; and a hint.
func (p *Problem) Error() string {
	var b strings.Builder
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d: ", p.Path, p.Line)
	case p.Path != "":
		fmt.Fprintf(&b, "%s: ", p.Path)
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return b.String()
}

// guess asks whether another name was meant.
func guess(name string, names []string) string {
	if close := nearest(name, names); close != "" {
		return "did you mean " + close + "?"
	}
	return ""
}
