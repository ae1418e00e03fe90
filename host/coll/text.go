package coll

import (
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/op"
)

// Text is the deterministic form of a program for tests and for people: a
// headline and one step a line, lengths and offsets in bytes.
func Text(p *op.Program) string {
	var b strings.Builder
	b.WriteString(p.Name)
	if p.SlotBytes > 0 {
		fmt.Fprintf(&b, " slot=%d", p.SlotBytes)
	}
	if p.SliceBytes > 0 {
		fmt.Fprintf(&b, " slice=%d", p.SliceBytes)
	}
	if p.Met {
		b.WriteString(" met")
	}
	b.WriteByte('\n')
	for i := range p.Steps {
		writeStep(&b, &p.Steps[i])
	}
	if p.Back != nil {
		b.WriteString("back\n")
	}
	for i := range p.Back {
		writeStep(&b, &p.Back[i])
	}
	return b.String()
}

func writeStep(b *strings.Builder, s *op.Step) {
	switch s.Kind {
	case op.StepMove:
		writeMove(b, s)
	case op.StepEnter:
		b.WriteString("enter")
	case op.StepMeet:
		b.WriteString("meet   " + peerText(s.Peer))
	case op.StepLeave:
		b.WriteString("leave")
	case op.StepPart:
		b.WriteString("part   " + peerText(s.Peer))
	case op.StepSignal:
		fmt.Fprintf(b, "signal ->r%d flag%d=%d", s.Peer, s.Flag, s.Value)
	case op.StepWait:
		fmt.Fprintf(b, "wait   <-r%d flag%d>=%d", s.Peer, s.Flag, s.Value)
	case op.StepTake:
		fmt.Fprintf(b, "take   <-r%d%s", s.Peer, termText(s.Term))
	default:
		fmt.Fprintf(b, "step %d", s.Kind)
	}
	b.WriteByte('\n')
}

func writeMove(b *strings.Builder, s *op.Step) {
	b.WriteString("move   ")
	writePlaces(b, s.Sources, " + ")
	b.WriteString(" -> ")
	writePlaces(b, s.Dests, ", ")
	fmt.Fprintf(b, " %dB", s.Bytes)
	if s.Last {
		b.WriteString(" last")
	}
	b.WriteString(termText(s.Term))
}

func writePlaces(b *strings.Builder, places []op.Place, between string) {
	for i, place := range places {
		if i > 0 {
			b.WriteString(between)
		}
		fmt.Fprintf(b, "r%d.%s[%d]", place.Rank, areaText(place.Area), place.Off)
	}
}

func areaText(a op.Area) string {
	switch a {
	case op.AreaIn:
		return "in"
	case op.AreaOut:
		return "out"
	case op.AreaSlot:
		return "slot"
	}
	return fmt.Sprintf("area%d", a)
}

func peerText(peer int32) string {
	if peer < 0 {
		return "all"
	}
	return fmt.Sprintf("r%d", peer)
}

// termText is what the term says beside zeros.
func termText(t op.Term) string {
	text := ""
	for _, part := range []struct {
		name  string
		value uint32
	}{{"chunk", t.Chunk}, {"step", uint32(t.Step)}, {"slice", t.Slice}, {"flow", uint32(t.Flow)}, {"message", t.Message}} {
		if part.value != 0 {
			text += fmt.Sprintf(" %s=%d", part.name, part.value)
		}
	}
	return text
}
