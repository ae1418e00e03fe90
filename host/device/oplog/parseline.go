package oplog

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/host/op"
)

// parser reads the lines of one rank.
type parser struct {
	program  *Program
	size     int
	shared   bool // numbers may depend on the rank
	verbs    map[string]verb
	names    map[string]uint32
	quotes   map[string]uint32 // the same, as they stand in lines
	live     [letterCount][]bool
	text     string // the line
	next     int    // what of it is read next
	args     []int64
	formed   []bool // arguments that are indexes of forms
	varies   uint64
	previous verb
}

func newParser(p *Program, size int, shared bool) *parser {
	r := &parser{program: p, size: size, shared: shared, verbs: make(map[string]verb, verbCount), names: map[string]uint32{"": 0}, quotes: make(map[string]uint32)}
	p.names = []string{""}
	for v := range verbCount {
		r.verbs[phrases[v].name] = v
	}
	for l := range r.live {
		r.live[l] = []bool{false} // names count from 1
	}
	return r
}

// line reads one line.
func (p *parser) line(text string) error {
	name, _, _ := strings.Cut(text, " ")
	v, ok := p.verbs[name]
	if !ok {
		return fmt.Errorf("%s: no such call", clip(name))
	}
	if v == verbAnd && p.previous != verbCall && p.previous != verbAnd {
		return errors.New("and: not behind a call")
	}
	p.previous, p.args, p.formed, p.varies = v, p.args[:0], p.formed[:0], 0
	p.text, p.next = text, len(name)
	for i := range phrases[v].parts {
		if err := p.part(&phrases[v].parts[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	function, err := p.function()
	if err != nil {
		return err
	}
	if p.rest() != "" {
		return fmt.Errorf("%s: %s is too much", name, clip(p.rest()))
	}
	return p.keep(v, function)
}

// keep adds the line that was read to the program.
func (p *parser) keep(v verb, function uint32) error {
	if len(p.program.args)+len(p.args) > argsMax {
		return errors.New("the rank has too many calls")
	}
	if p.varies>>63 != 0 { // all that the bit speaks for
		for i := 63; i < len(p.args); i++ {
			if !p.formed[i] {
				p.args[i] = p.addForm(form{base: p.args[i]})
			}
		}
	}
	p.program.add(v, function, p.args)
	p.program.lines[len(p.program.lines)-1].varies = p.varies
	return nil
}

// rest is what is not read yet.
func (p *parser) rest() string { return p.text[p.next:] }

// function reads the guest's function, which may be left out.
func (p *parser) function() (uint32, error) {
	if !p.accept(" @") {
		return 0, nil
	}
	name, err := p.quoted()
	if err == nil && name == 0 {
		err = errors.New(`@"": no name`)
	}
	return uint32(name), err
}

var errBlank = errors.New("something is missing")

// blank reads the space ahead of a part.
func (p *parser) blank() error {
	if !p.accept(" ") {
		return errBlank
	}
	return nil
}

// accept reads a text, if it is there.
func (p *parser) accept(text string) bool {
	ok := strings.HasPrefix(p.rest(), text)
	if ok {
		p.next += len(text)
	}
	return ok
}

// acceptWord reads a whole word, if it is there.
func (p *parser) acceptWord(text string) bool {
	rest, ok := strings.CutPrefix(p.rest(), text)
	if ok = ok && (rest == "" || rest[0] == ' '); ok {
		p.next += len(text)
	}
	return ok
}

// acceptNext reads the space ahead of a word and the word, if they are there.
func (p *parser) acceptNext(text string) bool {
	at := p.next
	if p.accept(" ") && p.acceptWord(text) {
		return true
	}
	p.next = at
	return false
}

func (p *parser) add(v int64) {
	p.args = append(p.args, v)
	p.formed = append(p.formed, false)
}

func (p *parser) part(part *part) error {
	switch part.kind {
	case flag:
		set := int64(0)
		if p.acceptNext(part.text) {
			set = 1
		}
		p.add(set)
		return nil
	case term:
		return p.term()
	case counts:
		return p.counts()
	}
	if err := p.blank(); err != nil {
		return err
	}
	switch part.kind {
	case word:
		if !p.acceptWord(part.text) {
			return fmt.Errorf("%s where %q should be", clip(p.rest()), part.text)
		}
		return nil
	case makes, uses, ends:
		return p.name(part)
	case view:
		return p.view(false)
	case maybeView:
		return p.view(true)
	case views:
		return p.list(op.MaxSources, func() error { return p.view(false) })
	case number, number32, number16, value:
		return p.number(part.kind.most(0, p.size))
	case peer:
		return p.prefixed("r", part.kind.most(0, p.size))
	case sequence:
		return p.prefixed("c", part.kind.most(0, p.size))
	case text:
		index, err := p.quoted()
		p.add(int64(index))
		return err
	case export:
		return p.export()
	case ranks:
		if p.acceptWord("all") {
			p.add(0)
			return nil
		}
		return p.list(p.size, func() error { return p.number(ranks.most(1, p.size)) })
	}
	return p.enumeration(part.kind)
}

// name reads a name and keeps account of those that mean something.
func (p *parser) name(part *part) error {
	if !p.accept(part.text) {
		return fmt.Errorf("%s where a name like %s1 should be", clip(p.rest()), part.text)
	}
	n, err := p.decimal(uint64(letterMax[part.letter]))
	if err != nil {
		return err
	}
	live := p.live[part.letter]
	switch {
	case part.kind == makes && n == uint64(len(live)):
		p.live[part.letter] = append(live, true)
	case part.kind == makes && (n == 0 || n > uint64(len(live))):
		return fmt.Errorf("%s%d: the next new name is %s%d", part.text, n, part.text, len(live))
	case n == 0 || n >= uint64(len(live)), part.kind != makes && !live[n]:
		return fmt.Errorf("%s%d: nothing has this name", part.text, n)
	case part.kind == makes && live[n]:
		return fmt.Errorf("%s%d: something has this name", part.text, n)
	case part.kind != uses:
		live[n] = part.kind == makes
	}
	p.add(int64(n))
	return nil
}

// view reads a place in a buffer, or none.
func (p *parser) view(none bool) error {
	if none && p.accept("-") {
		p.add(0)
		p.add(0)
		return nil
	}
	buffer := used(bufferLetter)
	if err := p.name(&buffer); err != nil {
		return err
	}
	if !p.accept("+") {
		return fmt.Errorf("%s where an offset should be", clip(p.rest()))
	}
	return p.number(view.most(1, p.size))
}

// list reads things with commas between them.
func (p *parser) list(most int, each func() error) error {
	head := len(p.args)
	p.add(0)
	for n := 0; n == 0 || p.accept(","); n++ {
		if n == most {
			return fmt.Errorf("more than %d in a list", most)
		}
		if err := each(); err != nil {
			return err
		}
		p.args[head]++
	}
	return nil
}

// counts reads the parts of a call that has any.
func (p *parser) counts() error {
	if !p.acceptNext("parts") {
		p.add(0)
		return nil
	}
	if err := p.blank(); err != nil {
		return err
	}
	return p.list(4*p.size, func() error { return p.number(counts.most(1, p.size)) })
}

// term reads what is not 0 of a term.
func (p *parser) term() error {
	for i := range termLetters {
		rest := p.rest()
		if len(rest) < 3 || rest[0] != ' ' || rest[1] != termLetters[i] || rest[2] != '{' && (rest[2] < '0' || rest[2] > '9') {
			p.add(0)
			continue
		}
		p.next += 2
		if err := p.number(term.most(i, p.size)); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) prefixed(prefix string, most uint64) error {
	if !p.accept(prefix) {
		return fmt.Errorf("%s where %s and a number should be", clip(p.rest()), prefix)
	}
	return p.number(most)
}

// decimal reads a number as it is printed.
func (p *parser) decimal(most uint64) (uint64, error) {
	rest, v, n, huge := p.rest(), uint64(0), 0, false
	for ; n < len(rest) && rest[n] >= '0' && rest[n] <= '9'; n++ {
		digit := uint64(rest[n] - '0')
		huge = huge || v > (math.MaxUint64-digit)/10
		v = 10*v + digit
	}
	if n == 0 || huge || v > most || n > 1 && rest[0] == '0' {
		return 0, fmt.Errorf("%s: not a number from 0 to %d", clip(rest[:min(len(rest), max(n, 8))]), most)
	}
	p.next += n
	return v, nil
}

// number reads an argument that may depend on the rank.
func (p *parser) number(most uint64) error {
	if !strings.HasPrefix(p.rest(), "{") {
		v, err := p.decimal(most)
		p.add(int64(v))
		return err
	}
	if !p.shared {
		return fmt.Errorf("%s: depends on the rank, in what one rank did", clip(p.rest()))
	}
	f, err := p.form(most)
	if err != nil {
		return err
	}
	p.varies |= bit(len(p.args))
	p.add(p.addForm(f))
	p.formed[len(p.formed)-1] = true
	return nil
}

func (p *parser) addForm(f form) int64 {
	p.program.forms = append(p.program.forms, f)
	return int64(len(p.program.forms) - 1)
}

// quoted reads a text in quotes and gives its index.
func (p *parser) quoted() (uint32, error) {
	quoted, err := strconv.QuotedPrefix(p.rest())
	if err != nil {
		return 0, fmt.Errorf("%s: not a text in quotes", clip(p.rest()))
	}
	if i, ok := p.quotes[quoted]; ok {
		p.next += len(quoted)
		return i, nil
	}
	name, err := strconv.Unquote(quoted)
	if err != nil || len(name) > nameBytesMax || quoted != strconv.Quote(name) {
		return 0, fmt.Errorf("%s: not a text as it is printed", clip(quoted))
	}
	p.next += len(quoted)
	i, err := p.index(name)
	if err == nil {
		p.quotes[strings.Clone(quoted)] = i
	}
	return i, err
}

// index gives the index of a name.
func (p *parser) index(name string) (uint32, error) {
	if i, ok := p.names[name]; ok {
		return i, nil
	}
	if len(p.names) >= namesMax {
		return 0, errors.New("too many names")
	}
	i := uint32(len(p.names))
	name = strings.Clone(name)
	p.names[name] = i
	p.program.names = append(p.program.names, name)
	return i, nil
}

// export reads what a rank calls what it exports.
func (p *parser) export() error {
	if !p.accept("x") {
		return fmt.Errorf("%s where a name like x1.1+0:64 should be", clip(p.rest()))
	}
	rest, n := p.rest(), 0
	for n < len(rest) && strings.IndexByte("0123456789.+:", rest[n]) >= 0 {
		n++
	}
	if n == 0 || n > exportMax {
		return fmt.Errorf("%s: not a name like x1.1+0:64", clip(rest))
	}
	i, err := p.index(rest[:n])
	p.next += n
	p.add(int64(i))
	return err
}

// enumeration reads the name of a value.
func (p *parser) enumeration(kind partKind) error {
	name, _, _ := strings.Cut(p.rest(), " ")
	v, ok := enumerated(kind, name)
	if !ok {
		return fmt.Errorf("%s: no such %s", clip(name), map[partKind]string{dtype: "type", redOp: "reduction", collective: "collective", algorithm: "algorithm"}[kind])
	}
	p.next += len(name)
	p.add(v)
	return nil
}

func enumerated(kind partKind, name string) (int64, bool) {
	switch kind {
	case dtype:
		for t := op.Dtype(0); t.Valid(); t++ {
			if t.String() == name {
				return int64(t), true
			}
		}
	case redOp:
		for r := op.RedOp(0); r.Valid(); r++ {
			if r.String() == name {
				return int64(r), true
			}
		}
	case collective:
		for c := op.CollectiveOp(0); c.Valid(); c++ {
			if c.String() == name {
				return int64(c), true
			}
		}
	case algorithm:
		a, ok := op.AlgorithmNamed(name)
		return int64(a), ok
	}
	return 0, false
}
