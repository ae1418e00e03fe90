package oplog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of a log.
const (
	RanksMax      = 1 << 17
	lineBytesMax  = 1 << 20
	argsMax       = 1 << 30 // of one rank
	namesMax      = 1 << 20 // of one rank
	nameBytesMax  = 1 << 12
	exportMax     = 64
	deviceByteMax = 256
)

// SyntaxError is a line that cannot be read.
type SyntaxError struct {
	Line int // from 1
	Text string
}

// Error names the line.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Parse reads a log. It keeps the programs of the ranks for which keep is true,
// of all if keep is nil; those of others are not looked at. Its errors are
// [*SyntaxError] and those of r.
func Parse(r io.Reader, keep func(rank int) bool) (*Log, error) {
	s := &scanner{lines: bufio.NewScanner(r), keep: keep}
	s.lines.Buffer(nil, lineBytesMax)
	log, err := s.log()
	if readErr := s.lines.Err(); readErr != nil && (err == nil || errors.Is(err, errEnd)) {
		err = readErr
		if errors.Is(readErr, bufio.ErrTooLong) {
			err = &SyntaxError{s.number + 1, fmt.Sprintf("longer than %d bytes", lineBytesMax)}
		}
	}
	if err != nil {
		var syntax *SyntaxError
		if !errors.As(err, &syntax) && s.lines.Err() == nil {
			err = &SyntaxError{max(s.number, 1), err.Error()}
		}
		return nil, err
	}
	return log, nil
}

var errEnd = errors.New("the log ends too early")

// scanner reads a log line by line.
type scanner struct {
	lines  *bufio.Scanner
	number int
	keep   func(rank int) bool
}

// next gives the next line that says something.
func (s *scanner) next() (string, bool) {
	for s.lines.Scan() {
		s.number++
		if text := s.lines.Text(); text != "" && text[0] != '#' {
			return text, true
		}
	}
	return "", false
}

// expect gives what stands behind a word at the beginning of the next line.
func (s *scanner) expect(word string) (string, error) {
	text, ok := s.next()
	if !ok {
		return "", errEnd
	}
	rest, ok := strings.CutPrefix(text, word)
	if !ok {
		return "", fmt.Errorf("%s: not %q", clip(text), strings.TrimSpace(word))
	}
	return rest, nil
}

// clip is text that may be anything, fit for a message.
func clip(text string) string {
	const most = 40
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strconv.Quote(text)
}

func (s *scanner) log() (*Log, error) {
	if rest, err := s.expect(magic); err != nil || rest != "" {
		return nil, fmt.Errorf("not an operation log that this version can read: one begins with %q", magic)
	}
	log, err := s.head()
	if err != nil {
		return nil, err
	}
	last := -1
	text, ok := s.next()
	for ok {
		name, isRank := strings.CutPrefix(text, rankWord)
		if !isRank {
			return nil, fmt.Errorf("%s: not %q", clip(text), strings.TrimSpace(rankWord))
		}
		p := &Program{}
		if name == everyRank {
			if last >= 0 || log.Shared != nil {
				return nil, errors.New("rank *: there are other ranks")
			}
			log.Shared, last = p, log.Ranks
		} else {
			rank, err := strconv.Atoi(name)
			if err != nil || rank <= last || rank >= log.Ranks || name != strconv.Itoa(rank) {
				return nil, fmt.Errorf("%s: not a rank from %d to %d", clip(name), last+1, log.Ranks-1)
			}
			last = rank
			if s.keep == nil || s.keep(rank) {
				log.Programs[rank] = p
			} else {
				p = nil
			}
		}
		if text, ok, err = s.program(p, log.Ranks, log.Shared != nil); err != nil {
			return nil, err
		}
	}
	return log, nil
}

func (s *scanner) head() (*Log, error) {
	quoted, err := s.expect(deviceWord)
	if err != nil {
		return nil, err
	}
	device, err := strconv.Unquote(quoted)
	if err != nil || len(device) > deviceByteMax || quoted != strconv.Quote(device) {
		return nil, fmt.Errorf("%s: not the name of a device", clip(quoted))
	}
	count, err := s.expect(ranksWord)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > RanksMax {
		return nil, fmt.Errorf("%s: not a number of ranks from 1 to %d", clip(count), RanksMax)
	}
	return &Log{Device: device, Ranks: n, Programs: make([]*Program, n)}, nil
}

// program reads the lines of a rank, or passes over them if p is nil, and gives
// the line after them.
func (s *scanner) program(p *Program, size int, shared bool) (next string, ok bool, err error) {
	var reader *parser
	if p != nil {
		reader = newParser(p, size, shared)
	}
	for {
		next, ok = s.next()
		if !ok || strings.HasPrefix(next, rankWord) {
			break
		}
		if reader == nil {
			continue
		}
		if p.Ended {
			return "", false, fmt.Errorf("%s: behind the rank's end", clip(next))
		}
		if next == endWord {
			p.Ended = true
			continue
		}
		if err := reader.line(next); err != nil {
			return "", false, err
		}
	}
	return next, ok, nil
}
