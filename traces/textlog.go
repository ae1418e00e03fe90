package traces

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// WriteLog writes the records of a run for a person to read, a line each, in
// the order of their starts: when it began and how long it took, on which rank
// and stream, and what it was. Times count from the run's first record. There
// is nothing in it that differs between two runs which do the same at the same
// times.
func WriteLog(w io.Writer, r *Run) error {
	l := textLog{out: bufio.NewWriter(w), places: r.placements(), rankWidth: len(strconv.Itoa(max(r.size-1, 0)))}
	l.base, _ = r.extent()
	lines := logOrder(r)
	l.startWidth, l.timeWidth = logWidths(lines, l.base)
	for _, line := range lines {
		l.line(line)
	}
	if err := l.out.Flush(); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// WriteLogFile is [WriteLog] to a file; see [WriteFile].
func WriteLogFile(path string, r *Run) error {
	return WriteFile(path, func(w io.Writer) error { return WriteLog(w, r) })
}

// logLine is a record in its place among those of all ranks.
type logLine struct {
	log    *flight.Log
	record flight.Record
}

// logOrder sorts the records of all ranks by their starts, those of one instant
// by rank and then as the rank wrote them.
func logOrder(r *Run) []logLine {
	var lines []logLine
	for _, log := range r.logs {
		for record := range log.Records() {
			if believable(&record) {
				lines = append(lines, logLine{log, record})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b logLine) int { return cmp.Compare(a.record.Start, b.record.Start) })
	return lines
}

// logWidths are how wide starts and times are at most.
func logWidths(lines []logLine, base int64) (start, time int) {
	for i := range lines {
		r := &lines[i].record
		start = max(start, len(micros(r.Start-base)))
		time = max(time, len(micros(r.End-r.Start)))
	}
	return start, time
}

// micros writes nanoseconds as microseconds, exactly.
func micros(nanos int64) string {
	return fmt.Sprintf("%d.%03dus", nanos/1000, nanos%1000)
}

// textLog writes lines.
type textLog struct {
	out                              *bufio.Writer
	base                             int64
	places                           []map[uint32]*Collective
	rankWidth, startWidth, timeWidth int
}

func (l *textLog) line(line logLine) {
	e := entry{Record: line.record, log: line.log, kind: op.Kind(line.record.Kind)}
	e.collective = l.places[line.log.Rank][e.Record.Collective]
	lane := "guest"
	if e.Stream > 0 {
		lane = "s" + strconv.Itoa(int(e.Stream))
	}
	fmt.Fprintf(l.out, "%*s %*s r%-*d %-5s %s%s\n", l.startWidth, micros(e.Start-l.base), l.timeWidth+1, "+"+micros(e.End-e.Start),
		l.rankWidth, line.log.Rank, lane, e.kind, e.sentence())
}

// sentence says what the record was of, behind the name of its kind.
func (e *entry) sentence() string {
	text := ""
	add := func(format string, args ...any) { text += " " + fmt.Sprintf(format, args...) }
	switch {
	case e.kind == op.Mark:
		add("%q", markName(e.log, &e.Record))
	case e.isWhole():
		e.describeWhole(add)
	default:
		e.describeOperation(add)
	}
	if e.hasTerm() {
		add("#%d chunk %d step %d slice %d", e.number(), e.Chunk, e.Step, e.Slice)
		if e.Flow != 0 || e.Message != 0 {
			add("flow %d message %d", e.Flow, e.Message)
		}
	}
	if e.Status != flight.StatusOK {
		add("%s", e.status())
	}
	return text
}

// number is that of the record's collective: the same on all ranks, if it is
// known.
func (e *entry) number() uint32 {
	if e.collective != nil {
		return e.collective.Sequence
	}
	return e.Record.Collective
}

func (e *entry) describeWhole(add func(string, ...any)) {
	add("%s", op.CollectiveOp(e.Red))
	if e.collective != nil && e.collective.Algorithm != "" {
		add("%s", e.collective.Algorithm)
	}
	add("%dB %s %s ranks=%d #%d", e.Bytes, op.Dtype(e.Type), e.redOp(), e.Chunk, e.number())
	if e.Group != 0 {
		add("group %d", e.Group)
	}
	if e.collective != nil && e.collective.Warmup {
		add("warm-up")
	}
}

func (e *entry) describeOperation(add func(string, ...any)) {
	if e.hasPeer() {
		arrow := "<-"
		if e.kind == op.Put || e.kind == op.Send || e.kind == op.Signal {
			arrow = "->"
		}
		add("%sr%d", arrow, e.Peer)
	}
	switch {
	case e.hasValue():
		add("slot %d = %d", e.Aux, e.Bytes)
	case e.hasSlot():
		add("channel %d", e.Aux)
	}
	if e.hasRedOp() {
		add("%s", e.redOp())
	}
	if e.hasType() {
		add("%s", op.Dtype(e.Type))
	}
	if e.hasBytes() && e.Bytes > 0 {
		add("%dB", e.Bytes)
	}
}
