package traces

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// WriteCSV writes the records of a run as a table in the format of RFC 4180: a
// line of column names, then one of each record, by rank and in the order of
// its file. traces/README.md says what the columns mean. Times count from the
// run's first record, so that they are exact in programs which know numbers
// only as floating point.
func WriteCSV(w io.Writer, r *Run) error {
	t := csvTable{out: w, text: make([]byte, 0, csvFlushBytes+csvRowBytes)}
	t.base, _ = r.extent()
	t.header()
	places := r.placements()
	for _, log := range r.logs {
		if err := t.rank(log, places[log.Rank]); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	if err := t.flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// WriteCSVFile is [WriteCSV] to a file; see [WriteFile].
func WriteCSVFile(path string, r *Run) error {
	return WriteFile(path, func(w io.Writer) error { return WriteCSV(w, r) })
}

// csvFlushBytes is how much is written at once, csvRowBytes what a row takes
// at most if its name is short.
const (
	csvFlushBytes = 1 << 20
	csvRowBytes   = 1 << 10
)

// csvTable writes rows by appending: encoding/csv wants a string of every
// field.
type csvTable struct {
	out  io.Writer
	text []byte
	base int64 // what times count from
}

// csvColumns are the columns in their order. Each appends its field, or nothing
// where a record has none. New ones come last.
var csvColumns = []struct {
	name   string
	append func(t *csvTable, r *entry)
}{
	{"start_ns", func(t *csvTable, r *entry) { t.number(r.Start - t.base) }},
	{"end_ns", func(t *csvTable, r *entry) { t.number(r.End - t.base) }},
	{"rank", func(t *csvTable, r *entry) { t.number(int64(r.log.Rank)) }},
	{"stream", func(t *csvTable, r *entry) { t.number(int64(r.Stream)) }},
	{"kind", func(t *csvTable, r *entry) { t.word(r.kind.String()) }},
	{"status", func(t *csvTable, r *entry) { t.word(r.status()) }},
	{"operation", of(func(t *csvTable, c *Collective) { t.word(c.Op.String()) })},
	{"algorithm", of(func(t *csvTable, c *Collective) { t.string(c.Algorithm) })},
	{"group", of(func(t *csvTable, c *Collective) { t.number(int64(c.Group)) })},
	{"collective", of(func(t *csvTable, c *Collective) { t.number(int64(c.Sequence)) })},
	{"warmup", of(func(t *csvTable, c *Collective) { t.flag(c.Warmup) })},
	{"chunk", when((*entry).hasTerm, func(t *csvTable, r *entry) { t.number(int64(r.Chunk)) })},
	{"step", when((*entry).hasTerm, func(t *csvTable, r *entry) { t.number(int64(r.Step)) })},
	{"flow", when((*entry).hasTerm, func(t *csvTable, r *entry) { t.number(int64(r.Flow)) })},
	{"slice", when((*entry).hasTerm, func(t *csvTable, r *entry) { t.number(int64(r.Slice)) })},
	{"message", when((*entry).hasTerm, func(t *csvTable, r *entry) { t.number(int64(r.Message)) })},
	{"peer", when((*entry).hasPeer, func(t *csvTable, r *entry) { t.number(int64(r.Peer)) })},
	{"bytes", when((*entry).hasBytes, func(t *csvTable, r *entry) { t.unsigned(r.Bytes) })},
	{"slot", when((*entry).hasSlot, func(t *csvTable, r *entry) { t.unsigned(uint64(r.Aux)) })},
	{"value", when((*entry).hasValue, func(t *csvTable, r *entry) { t.unsigned(r.Bytes) })},
	{"ranks", when((*entry).isWhole, func(t *csvTable, r *entry) { t.number(int64(r.Chunk)) })},
	{"slice_bytes", when((*entry).isWhole, func(t *csvTable, r *entry) { t.number(int64(r.Slice)) })},
	{"dtype", when((*entry).hasType, func(t *csvTable, r *entry) { t.word(op.Dtype(r.Type).String()) })},
	{"redop", when((*entry).hasRedOp, func(t *csvTable, r *entry) { t.word(r.redOp().String()) })},
	{"name", func(t *csvTable, r *entry) {
		if r.kind == op.Mark {
			t.string(markName(r.log, &r.Record))
		}
	}},
}

// of makes a column of what a record's collective says.
func of(value func(*csvTable, *Collective)) func(*csvTable, *entry) {
	return func(t *csvTable, r *entry) {
		if r.collective != nil {
			value(t, r.collective)
		}
	}
}

// when makes a column that only some records have.
func when(has func(*entry) bool, value func(*csvTable, *entry)) func(*csvTable, *entry) {
	return func(t *csvTable, r *entry) {
		if has(r) {
			value(t, r)
		}
	}
}

func (t *csvTable) header() {
	names := make([]string, len(csvColumns))
	for i := range csvColumns {
		names[i] = csvColumns[i].name
	}
	t.text = append(t.text, strings.Join(names, ",")+"\r\n"...)
}

// rank writes the records of a rank. Those that no recorder can have written
// are left out, as they are everywhere.
func (t *csvTable) rank(log *flight.Log, places map[uint32]*Collective) error {
	row := entry{log: log}
	for row.Record = range log.Records() {
		if !believable(&row.Record) {
			continue
		}
		row.kind, row.collective = op.Kind(row.Kind), places[row.Record.Collective]
		for i := range csvColumns {
			if i > 0 {
				t.text = append(t.text, ',')
			}
			csvColumns[i].append(t, &row)
		}
		t.text = append(t.text, '\r', '\n')
		if len(t.text) >= csvFlushBytes {
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *csvTable) flush() error {
	_, err := t.out.Write(t.text)
	t.text = t.text[:0]
	return err
}

func (t *csvTable) number(v int64)    { t.text = strconv.AppendInt(t.text, v, 10) }
func (t *csvTable) unsigned(v uint64) { t.text = strconv.AppendUint(t.text, v, 10) }

func (t *csvTable) flag(v bool) {
	digit := byte('0')
	if v {
		digit = '1'
	}
	t.text = append(t.text, digit)
}

// word appends what is known to need no quotes.
func (t *csvTable) word(v string) { t.text = append(t.text, v...) }

// string appends what a guest has named, in quotes if it needs them.
func (t *csvTable) string(v string) {
	if !strings.ContainsAny(v, "\",\r\n") {
		t.word(v)
		return
	}
	t.word(`"`)
	t.word(strings.ReplaceAll(v, `"`, `""`))
	t.word(`"`)
}
