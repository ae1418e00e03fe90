package oplog

import (
	"bufio"
	"io"
	"strconv"

	"github.com/ccrun/ccrun/host/op"
)

// The first line of a log, and how those after it begin.
const (
	magic      = "ccrun oplog 1"
	deviceWord = "device "
	ranksWord  = "ranks "
	rankWord   = "rank "
	endWord    = "end"
	everyRank  = "*"
)

// Write writes a log as text.
func (l *Log) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.Write(AppendHead(nil, l.Device, l.Ranks)) // Flush has the error
	if l.Shared != nil {
		l.Shared.write(out, everyRank)
	}
	for rank, p := range l.Programs {
		if p != nil {
			p.write(out, strconv.Itoa(rank))
		}
	}
	return out.Flush()
}

// AppendHead appends the lines that a log begins with. What ranks have recorded
// comes after it, in the order of the ranks.
func AppendHead(b []byte, device string, ranks int) []byte {
	b = append(b, magic+"\n"+deviceWord...)
	b = strconv.AppendQuote(b, device)
	b = append(b, "\n"+ranksWord...)
	b = strconv.AppendInt(b, int64(ranks), 10)
	return append(b, '\n')
}

func (p *Program) write(out *bufio.Writer, rank string) {
	_, _ = out.WriteString(rankWord + rank + "\n")
	var b []byte
	for i := range p.lines {
		b = p.appendLine(b[:0], &p.lines[i])
		_, _ = out.Write(b)
	}
	if p.Ended {
		_, _ = out.WriteString(endWord + "\n")
	}
}

// Line is the text of a line as a rank carries it out, -1 for all ranks.
func (p *Program) Line(number, rank, ranks int) string {
	l := &p.lines[number]
	if rank < 0 {
		return string(trimEnd(p.appendLine(nil, l)))
	}
	plain := *l
	plain.varies = 0
	var scratch []int64
	args := p.argsOf(l, rank, ranks, &scratch)
	return string(trimEnd(appendLine(nil, &plain, args, nil, p.names)))
}

func trimEnd(b []byte) []byte { return b[:len(b)-1] }

func (p *Program) appendLine(b []byte, l *line) []byte {
	return appendLine(b, l, p.args[l.at:l.at+l.count], p.forms, p.names)
}

// printer appends the parts of a line to b.
type printer struct {
	b     []byte
	line  *line
	args  []int64
	at    int // next argument
	forms []form
	names []string
}

func appendLine(b []byte, l *line, args []int64, forms []form, names []string) []byte {
	p := printer{b: append(b, phrases[l.verb].name...), line: l, args: args, forms: forms, names: names}
	for i := range phrases[l.verb].parts {
		p.part(&phrases[l.verb].parts[i])
	}
	if l.function != 0 {
		p.b = append(p.b, " @"...)
		p.b = strconv.AppendQuote(p.b, names[l.function])
	}
	return append(p.b, '\n')
}

// next takes an argument that is the same for all ranks.
func (p *printer) next() int64 {
	v := p.args[p.at]
	p.at++
	return v
}

// number appends an argument that may depend on the rank.
func (p *printer) number() {
	varies := p.line.varies&bit(p.at) != 0
	v := p.next()
	if varies {
		p.b = p.forms[v].append(p.b)
		return
	}
	p.b = strconv.AppendUint(p.b, uint64(v), 10)
}

func (p *printer) part(part *part) {
	switch part.kind {
	case flag:
		if p.next() != 0 {
			p.word(part.text)
		}
		return
	case counts:
		if p.args[p.at] == 0 {
			p.at++
			return
		}
		p.word("parts")
	case term:
		p.term()
		return
	}
	p.b = append(p.b, ' ')
	switch part.kind {
	case word:
		p.b = append(p.b, part.text...)
	case makes, uses, ends:
		p.b = append(p.b, part.text...)
		p.number()
	case view, maybeView:
		p.view()
	case views:
		p.list(p.view)
	case number, number32, number16, value:
		p.number()
	case peer:
		p.b = append(p.b, 'r')
		p.number()
	case sequence:
		p.b = append(p.b, 'c')
		p.number()
	case dtype:
		p.b = append(p.b, op.Dtype(p.next()).String()...)
	case redOp:
		p.b = append(p.b, op.RedOp(p.next()).String()...)
	case collective:
		p.b = append(p.b, op.CollectiveOp(p.next()).String()...)
	case algorithm:
		p.b = append(p.b, op.Algorithm(p.next()).String()...)
	case text:
		p.b = strconv.AppendQuote(p.b, p.names[p.next()])
	case export:
		p.b = append(append(p.b, 'x'), p.names[p.next()]...)
	case ranks, counts:
		if p.args[p.at] == 0 {
			p.at++
			p.b = append(p.b, "all"...)
			return
		}
		p.list(p.number)
	}
}

func (p *printer) word(text string) { p.b = append(append(p.b, ' '), text...) }

// list appends as many things as the next argument says.
func (p *printer) list(each func()) {
	for i := range p.next() {
		if i > 0 {
			p.b = append(p.b, ',')
		}
		each()
	}
}

func (p *printer) view() {
	if p.args[p.at] == 0 {
		p.at += 2
		p.b = append(p.b, '-')
		return
	}
	p.b = append(p.b, 'b')
	p.number()
	p.b = append(p.b, '+')
	p.number()
}

// term leaves out what is 0.
func (p *printer) term() {
	for i := range termLetters {
		if p.args[p.at] == 0 && p.line.varies&bit(p.at) == 0 {
			p.at++
			continue
		}
		p.b = append(p.b, ' ', termLetters[i])
		p.number()
	}
}
