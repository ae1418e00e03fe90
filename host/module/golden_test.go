package module

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/abi"
)

// TestCalls runs the call logs. A file is one rank's life; its directives are
//
//	rank size=2     a fresh rank 0
//	calls           one call a line
//	close           the guest has ended
//	records         the flight records so far
//
// An argument is a number, a $name that an earlier call wrote, "text" for a
// pointer and its length, {field:value ...} for a structure, @name for a
// result, @name[n] for n bytes of room, or any number for a pointer gone
// wrong. A structure in an array is written [{...} {...}].
func TestCalls(t *testing.T) {
	e := newEngine(t, proxyModule())
	datadriven.Walk(t, "testdata/calls", func(t *testing.T, path string) {
		var l *callLog
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "rank":
				size := 1
				d.MaybeScanArgs(t, "size", &size)
				l = &callLog{rank: newLoneRank(t, e, size), names: make(map[string]uint64)}
				return ""
			case "calls":
				return l.run(d.Input)
			case "close":
				if err := l.rank.Instance.Close(); err != nil {
					t.Fatal(err)
				}
				return ""
			case "records":
				return l.records(t)
			}
			t.Fatalf("%s: no directive %s", path, d.Cmd)
			return ""
		})
	})
}

// callLog runs calls written as text.
type callLog struct {
	rank  *testRank
	names map[string]uint64
	next  uint32 // free guest memory
	outs  []logOut
}

type logOut struct {
	name, typ string
	at, bytes uint32
}

func (l *callLog) run(input string) string {
	var out strings.Builder
	for line := range strings.Lines(input) {
		words := splitCall(line)
		if len(words) > 0 {
			fmt.Fprintf(&out, "%s: %s\n", words[0], l.call(words[0], words[1:]))
		}
	}
	return out.String()
}

// splitCall splits at spaces outside brackets and quotes.
func splitCall(line string) []string {
	depth, quoted := 0, false
	return strings.FieldsFunc(line, func(r rune) bool {
		switch r {
		case '"':
			quoted = !quoted
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		return (r == ' ' || r == '\n') && depth == 0 && !quoted
	})
}

func (l *callLog) call(name string, words []string) string {
	row, ok := abi.Lookup(name)
	if !ok {
		return "no such row"
	}
	l.next, l.outs = outAt, nil
	var args []uint64
	for n := 0; n < len(row.Params); n++ {
		if len(words) == 0 {
			return "too few arguments"
		}
		p, word := &row.Params[n], words[0]
		words = words[1:]
		hasLength := n+1 < len(row.Params) && row.Params[n+1].Role == abi.Len
		value, length, withLength := l.argument(p, word)
		args = append(args, value)
		if hasLength && withLength {
			args = append(args, length)
			n++
		}
	}
	if len(words) > 0 {
		return "too many arguments"
	}
	return l.result(l.rank.call(name, args...))
}

func (l *callLog) result(errno abi.Errno, err error) string {
	var abort *AbortError
	switch {
	case errors.As(err, &abort):
		return "unwound: " + abort.Error()
	case err != nil:
		return "unwound: " + strings.SplitN(err.Error(), "\n", 2)[0]
	case errno != abi.OK:
		return fmt.Sprintf("%v (%s)", errno, strings.TrimPrefix(l.rank.LastError(), l.rank.failure.call+": "))
	}
	text := "ok"
	for _, o := range l.outs {
		text += " " + l.show(o)
	}
	return text
}

// argument gives the value of a word and, if it brings its own, the length.
func (l *callLog) argument(p *abi.Param, word string) (value, length uint64, withLength bool) {
	switch word[0] {
	case '"':
		text := []byte(word[1 : len(word)-1])
		return uint64(l.place(text)), uint64(len(text)), true
	case '{':
		return uint64(l.place(l.structure(p.Type, word))), 1, false
	case '[':
		var all []byte
		parts := splitCall(word[1 : len(word)-1])
		for _, part := range parts {
			all = append(all, l.structure(p.Type, part)...)
		}
		return uint64(l.place(all)), uint64(len(parts)), true
	case '@':
		name, room, found := strings.Cut(strings.TrimSuffix(word[1:], "]"), "[")
		count := uint64(1)
		if found {
			count = l.number(room)
		}
		at := l.place(make([]byte, count*uint64(p.Bytes)))
		l.outs = append(l.outs, logOut{name, p.Type, at, uint32(count) * uint32(p.Bytes)})
		return uint64(at), count, found
	}
	return l.number(word), 0, false
}

// place puts bytes into free memory, aligned.
func (l *callLog) place(b []byte) uint32 {
	at := l.next
	l.next += (uint32(len(b)) + 15) &^ 7
	l.rank.memory.Write(at, b)
	return at
}

func (l *callLog) structure(name, text string) []byte {
	s, _ := abi.StructNamed(name)
	b := make([]byte, s.Bytes)
	for _, pair := range splitCall(text[1 : len(text)-1]) {
		field, word, _ := strings.Cut(pair, ":")
		at := slices.IndexFunc(s.Fields, func(f abi.Field) bool { return f.Name == field })
		if at < 0 {
			panic("no field " + field)
		}
		l.setField(b, &s.Fields[at], word)
		if field == "algorithm" && word[0] == '"' {
			put32(b[s.Fields[at+1].Offset:], uint32(len(word)-2))
		}
	}
	return b
}

func (l *callLog) setField(b []byte, f *abi.Field, word string) {
	p := abi.Param{Type: "view", Bytes: abi.ViewBytes}
	v, _, _ := l.argument(&p, word)
	b = b[f.Offset:]
	switch f.Type {
	case "u8":
		b[0] = byte(v)
	case "u16":
		b[0], b[1] = byte(v), byte(v>>8)
	case "u32":
		put32(b, uint32(v))
	default:
		put64(b, v)
	}
}

func (l *callLog) number(word string) uint64 {
	if name, ok := strings.CutPrefix(word, "$"); ok {
		v, known := l.names[name]
		if !known {
			panic("no value " + name)
		}
		return v
	}
	if v, err := strconv.ParseInt(word, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(word, 0, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// show prints a result and remembers it.
func (l *callLog) show(o logOut) string {
	b, _ := l.rank.memory.Read(o.at, o.bytes)
	switch o.typ {
	case "u8":
		if isPrintable(b) {
			return fmt.Sprintf("%s=%q", o.name, b)
		}
		return o.name + "=" + hex.EncodeToString(b)
	case "u32":
		l.names[o.name] = uint64(get32(b))
		return fmt.Sprintf("%s=%d", o.name, get32(b))
	case "u64", "i64":
		v := get64(b)
		l.names[o.name] = v
		if v>>56 != 0 {
			return fmt.Sprintf("%s=%#016x", o.name, v)
		}
		return fmt.Sprintf("%s=%d", o.name, v)
	}
	return o.name + "=" + showStruct(o.typ, b)
}

func isPrintable(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

func showStruct(name string, b []byte) string {
	s, _ := abi.StructNamed(name)
	var fields []string
	for _, f := range s.Fields {
		var v int64
		switch f.Type {
		case "u32":
			v = int64(get32(b[f.Offset:]))
		default:
			v = int64(get64(b[f.Offset:]))
		}
		if name == "digest" {
			fields = append(fields, fmt.Sprintf("%s:%016x", f.Name, uint64(v)))
			continue
		}
		fields = append(fields, fmt.Sprintf("%s:%d", f.Name, v))
	}
	return "{" + strings.Join(fields, " ") + "}"
}
