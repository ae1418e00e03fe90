package pipeline

// watermarks are how far all ranks have come: of each, the place before which
// all its buckets have arrived, as far as it has told. Only a rank whose buckets
// are all finished, and so written, tells the number of all buckets.
type watermarks struct {
	total    uint32
	heard    []uint32 // by rank; this one's too, as it has told
	low      uint32   // the least of them
	lows     int      // so many ranks have that
	complete int      // so many ranks have told the number of all buckets
	own      int      // this rank's first task that has not arrived, or been written if they are OneByOne
	turn     int      // this rank's first task that lands and is not to be written yet
}

func (w *watermarks) reset(total int) {
	clear(w.heard)
	w.total, w.low, w.lows, w.complete, w.own, w.turn = uint32(total), 0, len(w.heard), 0, 0, 0
	if total == 0 {
		w.complete = len(w.heard)
	}
}

// hear notes how far a rank has come.
func (w *watermarks) hear(rank int32, value uint64) {
	if rank < 0 || int(rank) >= len(w.heard) {
		return
	}
	old, mark := w.heard[rank], uint32(min(value, uint64(w.total)))
	if mark <= old {
		return
	}
	w.heard[rank] = mark
	if mark == w.total {
		w.complete++
	}
	if old > w.low {
		return
	}
	if w.lows--; w.lows > 0 {
		return
	}
	w.low = w.total
	for _, mark := range w.heard {
		w.low = min(w.low, mark)
	}
	for _, mark := range w.heard {
		if mark == w.low {
			w.lows++
		}
	}
}

// tell lets all others know how far this rank has come, if they wait for that:
// in order, and for scripts, each place counts, otherwise only that all is done.
func (m *Machine) tell(to []Action) []Action {
	w := &m.marks
	mark := uint32(0)
	if m.finished == len(m.tasks) {
		mark = w.total
	} else if m.limits.TellsPlaces() {
		past := flying
		if m.limits.Publish == OneByOne {
			past = finishing
		}
		for w.own < len(m.tasks) && m.phases[w.own] > past {
			w.own++
		}
		mark = w.total - 1
		if w.own < len(m.tasks) {
			mark = uint32(m.tasks[w.own].Place)
		}
	}
	if mark <= w.heard[m.rank] {
		return to
	}
	w.hear(int32(m.rank), uint64(mark))
	return append(to, Action{Kind: Tell, Value: uint64(mark)})
}

// TellsPlaces reports whether ranks tell each other of each place that they have
// come to, and not only that all is done.
func (l *Limits) TellsPlaces() bool { return l.Publish != AtOnce || l.Policy == Scripted }

// publish has written what has arrived and whose turn it is: all buckets before
// it have arrived, or been written, on all ranks. Then all that this rank has
// before it have arrived here, so tasks come in place order.
func (m *Machine) publish(to []Action) []Action {
	if m.limits.Publish == AtOnce {
		return to
	}
	for w := &m.marks; w.turn < len(m.tasks); w.turn++ {
		i := w.turn
		if !m.tasks[i].Lands {
			continue
		}
		if m.phases[i] != landed || uint32(m.tasks[i].Place) > w.low {
			break
		}
		m.phases[i] = finishing
		m.idle.take(m.staging[i])
		m.idling[m.channel[i]]--
		to = append(to, m.action(Finalize, i))
	}
	return to
}
