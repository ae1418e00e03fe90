package check

import "fmt"

// explainRace says what is wrong with the first race of a run.
func (r *run) explainRace() Finding {
	race := r.memory.race
	first, second := r.memory.step(race.first), r.memory.step(race.second)
	if race.first.writes && race.second.writes {
		return Finding{
			Cause: CauseTwoWrites,
			Why:   fmt.Sprintf("%s are written by %s, and neither write waits for the other", race.words(), both(first.rank, second.rank)),
			Places: []Place{
				place(first, "writes them"), place(second, "writes them"),
			},
		}
	}
	read, write := race.first, race.second
	if read.writes {
		read, write = write, read
	}
	reader, writer := r.memory.step(read), r.memory.step(write)
	f := Finding{Places: []Place{place(reader, "reads them"), place(writer, "writes them")}}
	if r.memory.wantsNew(read, write, race.Range) {
		f.Cause = CauseReadBeforeWrite
		f.Why = fmt.Sprintf("rank %d does not wait until %s has written %s", reader.rank, otherRank(reader.rank, writer.rank), race.words())
		return f
	}
	f.Cause = CauseOverwritten
	f.Why = fmt.Sprintf("rank %d does not wait until %s has read %s", writer.rank, otherRank(writer.rank, reader.rank), race.words())
	return f
}

// both names two ranks, or two streams of one.
func both(one, other int) string {
	if one == other {
		return fmt.Sprintf("rank %d twice", one)
	}
	return fmt.Sprintf("rank %d and by rank %d", one, other)
}

// otherRank names a rank from the view of one.
func otherRank(one, other int) string {
	if one == other {
		return "it itself"
	}
	return fmt.Sprintf("rank %d", other)
}

func (m *memory) step(t touched) *step { return m.accesses[t.access].step }

// wantsNew tells which order of a read and a write that nothing orders is the
// one that was meant, by what else is done to the bytes: true if the read is to
// get what the write writes. That is so if nobody has certainly written them
// before the read; if the same piece of the guest has read them already since
// they were last written; or if nobody else certainly reads what is written.
func (m *memory) wantsNew(read, write touched, where Range) bool {
	reader, writer := &m.accesses[read.access], &m.accesses[write.access]
	written, again := false, false
	for i := range m.touches {
		t := &m.touches[i]
		a := &m.accesses[t.access]
		if _, ok := t.overlap(where); !ok || a.step == reader.step || a.step == writer.step || !reader.after(a) {
			continue
		}
		switch {
		case t.writes:
			written, again = true, false
		case sameSite(a.step, reader.step):
			again = true
		}
	}
	return !written || again || !m.isRead(writer, reader, where)
}

// sameSite reports whether two operations were asked for by the same piece of
// the guest, as far as the record tells.
func sameSite(one, other *step) bool {
	return one.rank == other.rank && one.Kind == other.Kind && one.Name == other.Name &&
		one.Function == other.Function && one.Stream == other.Stream && one.Bytes == other.Bytes && one.Peer == other.Peer
}

// isRead reports whether somebody other than the reader certainly reads what
// the writer has written.
func (m *memory) isRead(writer, reader *access, where Range) bool {
	var others []*access // certain writes behind it
	for i := range m.touches {
		t := &m.touches[i]
		a := &m.accesses[t.access]
		if _, ok := t.overlap(where); !ok || a.step == writer.step || a.step == reader.step || !a.after(writer) {
			continue
		}
		if t.writes {
			others = append(others, a)
			continue
		}
		replaced := false
		for _, other := range others {
			replaced = replaced || a.after(other)
		}
		if !replaced {
			return true
		}
	}
	return false
}
