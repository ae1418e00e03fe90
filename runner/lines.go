package runner

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// lineBytesMax is the longest line that is kept whole; a longer one is broken.
const lineBytesMax = 64 << 10

// console is where all ranks' output and the progress line come together, so
// that no line is torn.
type console struct {
	mu       sync.Mutex
	progress io.Writer // nil for none
	drawn    bool      // a progress line is on the terminal
}

const eraseLine = "\r\x1b[K"

// write puts whole lines out, as far as they can be.
func (c *console) write(w io.Writer, lines []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	_, _ = w.Write(lines)
}

// draw replaces the progress line, unless somebody is writing: the caller has a
// run to watch over, and writing may take for ever. Who writes has erased the
// line.
func (c *console) draw(line string) {
	if c.progress == nil || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	c.erase()
	fmt.Fprint(c.progress, line)
	c.drawn = line != ""
}

// erase is called with mu held.
func (c *console) erase() {
	if c.drawn {
		fmt.Fprint(c.progress, eraseLine)
		c.drawn = false
	}
}

// note prints a line of the runner's own.
func (c *console) note(w io.Writer, format string, args ...any) {
	c.write(w, fmt.Appendf(nil, "ccrun: "+format+"\n", args...))
}

// lines is a writer for one of a rank's two outputs.
func (c *console) lines(config *Config, rank int, out io.Writer) *lineWriter {
	w := &lineWriter{console: c, out: out}
	if config.Prefix {
		w.prefix = fmt.Sprintf("[%d] ", rank)
	}
	return w
}

// lineWriter turns what one rank writes into whole lines with a prefix. It is
// for one goroutine; flush when the rank has ended.
type lineWriter struct {
	console *console
	out     io.Writer
	prefix  string
	pending []byte // a line that has not ended, without its prefix
	lines   []byte // scratch
}

// Write implements io.Writer. It reports no failure of the output below: a rank
// must not die because nobody reads what it prints.
func (l *lineWriter) Write(p []byte) (int, error) {
	written := len(p)
	l.lines = l.lines[:0]
	for len(p) > 0 {
		room := lineBytesMax - len(l.pending)
		end := bytes.IndexByte(p[:min(len(p), room)], '\n')
		switch {
		case end >= 0:
			l.take(p[:end])
			p = p[end+1:]
		case len(p) >= room:
			l.take(p[:room])
			p = p[room:]
		default:
			l.pending = append(l.pending, p...)
			p = nil
		}
	}
	l.put()
	return written, nil
}

// take appends a line that p completes.
func (l *lineWriter) take(p []byte) {
	l.lines = append(l.lines, l.prefix...)
	l.lines = append(l.lines, l.pending...)
	l.lines = append(l.lines, p...)
	l.lines = append(l.lines, '\n')
	l.pending = l.pending[:0]
}

func (l *lineWriter) put() {
	if len(l.lines) > 0 {
		l.console.write(l.out, l.lines)
	}
}

// flush puts out a last line that did not end.
func (l *lineWriter) flush() {
	if len(l.pending) == 0 {
		return
	}
	l.lines = l.lines[:0]
	l.take(nil)
	l.put()
}

// lastWords keeps the first bytes of what is written to it: the Go runtime's last
// words begin with the reason.
type lastWords struct {
	mu    sync.Mutex
	bytes []byte
}

// Write implements io.Writer.
func (t *lastWords) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p[:min(len(p), lineBytesMax-len(t.bytes))]...)
	return len(p), nil
}

// firstLine is the first line written, "" if there is none.
func (t *lastWords) firstLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := bytes.Cut(t.bytes, []byte("\n"))
	return string(line)
}
