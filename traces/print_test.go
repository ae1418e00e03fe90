package traces

import (
	"fmt"
	"strings"
)

// describe writes a collective as text, one line per term, for goldens.
func describe(c *Collective) string {
	var b strings.Builder
	fmt.Fprintf(&b, "collective %d %s %s bytes=%d ranks=%d", c.Sequence, c.Op, c.Algorithm, c.Bytes, c.Ranks)
	if c.Group != 0 {
		fmt.Fprintf(&b, " group=%d", c.Group)
	}
	if c.Warmup {
		b.WriteString(" warm-up")
	}
	if !c.Complete {
		b.WriteString(" incomplete")
	}
	fmt.Fprintf(&b, " %d..%d cct=%d straggler=%d\n", c.Start(), c.End(), c.CCT(), c.Straggler())
	for _, p := range c.Parts {
		fmt.Fprintf(&b, "  rank %d %d..%d wait=%d status=%d marked=%v\n", p.Rank, p.Start, p.Finish, p.Wait, p.Status, p.Marked)
	}
	for i := range c.Transfers {
		describeTransfer(&b, &c.Transfers[i])
	}
	for _, m := range c.Local {
		fmt.Fprintf(&b, "  local rank %d %s %d..%d %dB\n", m.Source, m.Kind, m.Start, m.End, m.Bytes)
	}
	if err := c.Check(); err != nil {
		fmt.Fprintf(&b, "  broken: %v\n", err)
	}
	if c.Disagreement != "" {
		fmt.Fprintf(&b, "  disagreement: %s\n", c.Disagreement)
	}
	return b.String()
}

func describeTransfer(b *strings.Builder, t *Transfer) {
	fmt.Fprintf(b, "  chunk %d step %d %d->%d %dB %d..%d rcct=%d pushed=%v pulled=%v\n",
		t.Chunk, t.Step, t.Source, t.Dest, t.Bytes, t.Start, t.End, t.RCCT(), t.Pushed, t.Pulled)
	for _, f := range t.Flows {
		fmt.Fprintf(b, "    flow %d %dB fct=%d", f.ID, f.Bytes, f.FCT())
		for _, m := range f.Messages {
			fmt.Fprintf(b, " %s[%d]%d..%d", m.Kind, m.ID, m.Start, m.End)
		}
		b.WriteString("\n")
	}
	for _, s := range t.Slices {
		fmt.Fprintf(b, "    slice %d %dB %d..%d messages=%d\n", s.ID, s.Bytes, s.Start, s.End, s.Messages)
	}
	for _, s := range t.Sends {
		fmt.Fprintf(b, "    sent slice %d %dB %d..%d\n", s.ID, s.Bytes, s.Start, s.End)
	}
}

// describeSpans writes spans as text: times from the first record on, parents
// and links by name, so that no identifier is in a golden.
func describeSpans(spans []*Span) string {
	names := map[SpanID]string{}
	for _, s := range spans {
		names[s.ID] = s.Name
	}
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, "%s %s %d..%d %s", s.Resource.Service, s.Kind, s.Start-wallOffset, s.End-wallOffset, strings.ReplaceAll(s.Name, " ", "_"))
		if s.Parent != (SpanID{}) {
			name := names[s.Parent]
			if name == "" {
				name = "remote"
			}
			fmt.Fprintf(&b, " <%s>", name)
		}
		for _, link := range s.Links {
			fmt.Fprintf(&b, " ->%s", names[link.Span])
		}
		for _, a := range s.allAttributes() {
			fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(a.Key, "ccl."), attributeText(&a))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func attributeText(a *Attribute) string {
	switch a.Kind {
	case AttributeInt:
		return fmt.Sprint(a.Int)
	case AttributeFloat:
		return fmt.Sprintf("%.4g", a.Float)
	case AttributeBool:
		return fmt.Sprint(a.Bool)
	default:
		return a.Text
	}
}
