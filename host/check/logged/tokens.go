package logged

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/host/check"
)

// tokens are the words of a line. The first that cannot be read is kept as err,
// and the rest is empty then.
type tokens struct {
	words    []string
	function string // of the guest
	err      error
}

// split takes a line apart. Text in quotes is one word, and keeps its quotes.
func (t *tokens) split(line string) error {
	t.words, t.function, t.err = t.words[:0], "", nil
	for line != "" {
		var word string
		if at, ok := strings.CutPrefix(line, "@"); ok {
			quoted, err := strconv.QuotedPrefix(at)
			if err != nil {
				return fmt.Errorf("function: %w", err)
			}
			t.function, _ = strconv.Unquote(quoted)
			return nil
		}
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return fmt.Errorf("name: %w", err)
			}
			word, line = quoted, strings.TrimPrefix(line[len(quoted):], " ")
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		t.words = append(t.words, word)
	}
	return nil
}

func (t *tokens) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
	t.words = nil
}

// next takes the next word.
func (t *tokens) next() string {
	if len(t.words) == 0 {
		t.fail("the line ends too early")
		return ""
	}
	word := t.words[0]
	t.words = t.words[1:]
	return word
}

// skip takes a word that must be there.
func (t *tokens) skip(word string) {
	if got := t.next(); got != word {
		t.fail("%q where %q should be", got, word)
	}
}

func (t *tokens) parse(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.fail("%q: not a number", text)
	}
	return n
}

func (t *tokens) uint64() uint64 { return t.parse(t.next()) }
func (t *tokens) int64() int64   { return int64(t.uint64() & (1<<63 - 1)) }

// prefixed takes a number behind a letter.
func (t *tokens) prefixed(letter string) int {
	rest, ok := strings.CutPrefix(t.next(), letter)
	if !ok {
		t.fail("no %s and a number", letter)
		return 0
	}
	return int(t.parse(rest))
}

func (t *tokens) stream() int { return t.prefixed("s") }
func (t *tokens) peer() int   { return t.prefixed("r") }

// quoted takes a text in quotes.
func (t *tokens) quoted() string {
	word := t.next()
	text, err := strconv.Unquote(word)
	if err != nil {
		t.fail("%s: not a text in quotes", word)
	}
	return text
}

// view takes a place in a buffer and gives the bytes from there on, none for -.
func (r *reader) view() check.Range { return r.place(r.next()) }

func (r *reader) place(word string) check.Range {
	if word == "-" {
		return check.Range{}
	}
	name, offset, ok := strings.Cut(word, "+")
	v, known := r.buffers[name]
	if !ok {
		r.fail("%q: no place in a buffer", word)
	}
	if !known {
		return check.Range{} // of a peer, while only what is its own matters
	}
	off := int64(r.parse(offset) & (1<<62 - 1))
	v.Off += off
	v.Bytes = max(0, v.Bytes-off)
	return v
}

func commas(list string) []string { return strings.Split(list, ",") }
