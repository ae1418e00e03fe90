package oplog

import (
	"math/bits"

	"github.com/ccrun/ccrun/host/op"
)

// Log is the operation streams of a run.
type Log struct {
	Device string // that the run was on
	Ranks  int
	// Programs are what the ranks did; nil for those that the log does not tell
	// of, or that were not read.
	Programs []*Program
	// Shared is what all ranks did, with numbers that depend on the rank; nil if
	// each has a program of its own.
	Shared *Program
}

// Program gives what a rank did, nil if the log does not tell.
func (l *Log) Program(rank int) *Program {
	if l.Shared != nil {
		return l.Shared
	}
	if rank < 0 || rank >= len(l.Programs) {
		return nil
	}
	return l.Programs[rank]
}

// KeepsData reports whether a replay has the same bytes in its buffers as the
// run had: whether all that was in them was made by operations.
func (l *Log) KeepsData() bool {
	if l.Shared != nil {
		return false
	}
	for _, p := range l.Programs {
		if p == nil || p.writes {
			return false
		}
	}
	return true
}

// Program is what one rank asked of its device, a line for each call, in
// compact form.
type Program struct {
	// Ended says that the rank came to its end: that the program was not cut off.
	Ended bool

	lines  []line
	args   []int64 // of all lines
	forms  []form  // arguments that depend on the rank
	names  []string
	high   [letterCount]uint32 // the largest number of each kind of name
	writes bool                // the guest wrote bytes of its own
}

// line is one call. Its arguments are those of its parts, in their order.
type line struct {
	varies   uint64 // bit i: argument i is an index of forms; bit 63 speaks for all from 63 on
	at       uint32 // first argument
	count    uint32 // of arguments
	function uint32 // index of the guest function's name, 0 for unknown
	verb     verb
}

// Lines is how many lines there are.
func (p *Program) Lines() int { return len(p.lines) }

// bit is the bit of varies that speaks for an argument.
func bit(argument int) uint64 { return 1 << min(argument, 63) }

// argsOf gives the arguments of a line for a rank, in scratch if they depend on
// it. They are not to be changed.
func (p *Program) argsOf(l *line, rank, ranks int, scratch *[]int64) []int64 {
	args := p.args[l.at : l.at+l.count : l.at+l.count]
	if l.varies == 0 {
		return args
	}
	own := append((*scratch)[:0], args...)
	*scratch = own
	for varies := l.varies &^ (1 << 63); varies != 0; varies &= varies - 1 {
		i := bits.TrailingZeros64(varies)
		own[i] = p.forms[args[i]].at(rank, ranks)
	}
	if l.varies>>63 != 0 {
		for i := 63; i < len(own); i++ {
			own[i] = p.forms[args[i]].at(rank, ranks)
		}
	}
	return own
}

// add appends a line whose arguments depend on no rank.
func (p *Program) add(v verb, function uint32, args []int64) {
	p.lines = append(p.lines, line{verb: v, function: function, at: uint32(len(p.args)), count: uint32(len(args))})
	p.args = append(p.args, args...)
	p.note(v, args)
}

// note keeps what is known of all lines.
func (p *Program) note(v verb, args []int64) {
	if v == verbWrite && args[2] > 0 {
		p.writes = true
	}
	at := 0
	for i := range phrases[v].parts {
		part := &phrases[v].parts[i]
		if part.kind == makes {
			p.high[part.letter] = max(p.high[part.letter], uint32(args[at]))
		}
		at += part.size(args[at:])
	}
}

// size is how many arguments a part takes, of those from its first on.
func (p *part) size(args []int64) int {
	switch p.kind {
	case word:
		return 0
	case view, maybeView:
		return 2
	case views:
		return 1 + 2*int(args[0])
	case ranks, counts:
		return 1 + int(args[0])
	case term:
		return termArgs
	}
	return 1
}

// submits reports whether a line is an operation of a stream.
func (v verb) submits() bool { return phrases[v].kind != op.None }
