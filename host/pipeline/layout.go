package pipeline

import "slices"

// Layout says where in a rank's staging memory the bytes of a task lie. An
// offset of -1 is of bytes that are not staged: read from, or received, where
// they belong, or not there at all.
type Layout struct {
	Own    int64 // this rank's bytes, packed, to be sent or added
	Sum    int64 // what comes along the chain of parts, to which its own are added
	Result int64 // the whole bucket as it comes, to be unpacked
	Bytes  int64 // of staging memory, not rounded
}

// layoutAlign is what the parts of staging memory are aligned to.
const layoutAlign = 256

// Contiguous reports whether an entry's bytes lie without gaps at this rank, as
// they are written if dst, else as they are read.
type Contiguous func(entry int32, dst bool) bool

// Layout lays a task's staging memory out. If staged, what comes may not be
// received where it belongs, as it is to be looked at, or held back, first.
func (p *Plan) Layout(t *Task, contiguous Contiguous, staged bool) Layout {
	l := Layout{Own: -1, Sum: -1, Result: -1}
	if !t.Wired() || p.Direct(t) {
		return l
	}
	place := func(bytes int64) int64 {
		if bytes == 0 {
			return -1
		}
		at := (l.Bytes + layoutAlign - 1) / layoutAlign * layoutAlign
		l.Bytes = at + bytes
		return at
	}
	if t.Source || t.Part {
		l.Own = place(p.staged(t, func(entry int32) bool { return contiguous(entry, false) }))
	}
	if t.AddFrom.Rank >= 0 {
		l.Sum = place(t.Bytes)
	}
	if t.From.Rank < 0 {
		return l
	}
	need := p.staged(t, func(entry int32) bool { return t.Lands && !staged && contiguous(entry, true) })
	switch {
	case need == 0:
	case l.Sum >= 0: // sent on by the time that the result comes
		l.Result = l.Sum
	case l.Own >= 0: // its part, likewise
		l.Result = l.Own
	default:
		l.Result = place(need)
	}
	return l
}

// staged is how many bytes of a task need staging memory on one side: those of
// the entries that are not in place, or all if they travel as one piece.
func (p *Plan) staged(t *Task, inPlace func(entry int32) bool) int64 {
	entries := p.Buckets[t.Bucket].Entries
	if p.Scattered(t) {
		n := int64(0)
		for _, entry := range entries {
			if !inPlace(entry) {
				n += p.Entries[entry].Bytes()
			}
		}
		return n
	}
	if len(entries) == 1 && inPlace(entries[0]) {
		return 0
	}
	return t.Bytes
}

// Scattered reports whether a task's entries travel one by one. Those with parts
// do not: they are added up in one piece.
func (p *Plan) Scattered(t *Task) bool {
	c := &p.Channels[t.Channel]
	return c.Transport == Scattered && len(c.Parts) < 2
}

// Direct reports whether a task's destinations copy from the source's memory.
func (p *Plan) Direct(t *Task) bool { return p.Channels[t.Channel].Transport == Direct }

// HasDirect reports whether any bucket's do.
func (p *Plan) HasDirect() bool {
	return slices.ContainsFunc(p.Channels, func(c Channel) bool { return c.Transport == Direct })
}
