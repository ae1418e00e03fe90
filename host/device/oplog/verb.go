package oplog

import (
	"math"

	"github.com/ccrun/ccrun/host/op"
)

// verb is what a line says.
type verb uint8

const (
	verbAlloc verb = iota
	verbFree
	verbRead
	verbWrite
	verbExport
	verbImport
	verbStream
	verbSync
	verbClose
	verbEvent
	verbEventSync
	verbEventClose
	verbEventRecord
	verbEventWait
	verbBarrier
	verbBarrierLate
	verbSeen
	verbCopy
	verbCopyBox
	verbGetBox
	verbPut
	verbGet
	verbSignal
	verbWait
	verbSend
	verbRecv
	verbReduce
	verbFill
	verbVerify
	verbDigest
	verbGemm
	verbComm
	verbCommClose
	verbCall
	verbAnd
	verbCollective
	verbCollectiveEnd
	verbMark
	verbMarkEnd
	verbCount
)

// part is one piece of a line: a fixed word, or an operand that takes as many
// arguments as its kind says.
type part struct {
	kind   partKind
	text   string // of word and flag; the letter of a name, as in b3
	letter letter // of the names that are made, used or ended
}

type partKind uint8

const (
	word       partKind = iota // the text itself; no argument
	makes                      // a name that is given here, as b3
	uses                       // a name given before
	ends                       // a name that means nothing from here on
	view                       // b3+4096: name and offset
	maybeView                  // a view, or - for none
	views                      // views with commas between them: how many, then the views
	number                     // from 0 to 2^62
	number32                   // from 0 to 2^32-1
	number16                   // from 0 to 2^16-1
	value                      // any 64 bits
	peer                       // r2: a rank
	dtype                      // f32
	redOp                      // sum
	collective                 // all_reduce
	algorithm                  // ring
	text                       // "in quotes"
	export                     // x3.1+0:4096: what a rank calls what it exports
	ranks                      // all, or ranks with commas between them: how many, then the ranks
	counts                     // nothing, or parts and numbers: how many, then the numbers
	flag                       // the text or nothing: 1 or 0
	term                       // c1 k2 l3 f4 t5 m6, those that are 0 left out: six arguments
	sequence                   // c7: number of a collective
)

// letter is a kind of name.
type letter uint8

const (
	noLetter letter = iota
	bufferLetter
	streamLetter
	eventLetter
	commLetter
	markLetter
	letterCount
)

var letters = [letterCount]string{"", "b", "s", "e", "g", "m"}

// Most names that a rank has at a time.
var letterMax = [letterCount]int64{0, 1 << 20, 1 << 16, 1 << 16, 1 << 16, 1 << 16}

func lit(text string) part      { return part{kind: word, text: text} }
func is(k partKind) part        { return part{kind: k} }
func optional(text string) part { return part{kind: flag, text: text} }
func made(l letter) part        { return part{kind: makes, text: letters[l], letter: l} }
func used(l letter) part        { return part{kind: uses, text: letters[l], letter: l} }
func ended(l letter) part       { return part{kind: ends, text: letters[l], letter: l} }

// phrase is how a line of a verb reads.
type phrase struct {
	name  string
	kind  op.Kind // of the operation that it submits, None for other calls
	parts []part
}

var phrases = [verbCount]phrase{
	verbAlloc:         {name: "alloc", parts: []part{made(bufferLetter), is(number)}},
	verbFree:          {name: "free", parts: []part{ended(bufferLetter)}},
	verbRead:          {name: "read", parts: []part{is(view), is(number)}},
	verbWrite:         {name: "write", parts: []part{is(view), is(number)}},
	verbExport:        {name: "export", parts: []part{is(export), lit("<-"), is(view), is(number)}},
	verbImport:        {name: "import", parts: []part{made(bufferLetter), lit("<-"), is(peer), is(export)}},
	verbStream:        {name: "stream", parts: []part{made(streamLetter)}},
	verbSync:          {name: "sync", parts: []part{used(streamLetter)}},
	verbClose:         {name: "close", parts: []part{ended(streamLetter)}},
	verbEvent:         {name: "event", parts: []part{made(eventLetter)}},
	verbEventSync:     {name: "event_sync", parts: []part{used(eventLetter)}},
	verbEventClose:    {name: "event_close", parts: []part{ended(eventLetter)}},
	verbEventRecord:   {"event_record", op.EventRecord, []part{used(streamLetter), used(eventLetter), is(term)}},
	verbEventWait:     {"event_wait", op.EventWait, []part{used(streamLetter), used(eventLetter), is(term)}},
	verbBarrier:       {name: "barrier"},
	verbBarrierLate:   {name: "barrier_late"},
	verbSeen:          {name: "seen", parts: []part{is(peer), lit("slot"), is(number32), lit(">="), is(value)}},
	verbCopy:          {"copy", op.Copy, transfer},
	verbCopyBox:       {"copy_box", op.CopyBox, box},
	verbGetBox:        {"get_box", op.GetBox, box},
	verbPut:           {"put", op.Put, transfer},
	verbGet:           {"get", op.Get, transfer},
	verbSignal:        {"signal", op.Signal, []part{used(streamLetter), is(peer), lit("slot"), is(number32), lit("="), is(value), is(term)}},
	verbWait:          {"wait", op.Wait, []part{used(streamLetter), is(peer), lit("slot"), is(number32), lit(">="), is(value), is(term)}},
	verbSend:          {"send", op.Send, message},
	verbRecv:          {"recv", op.Recv, message},
	verbReduce:        {"reduce", op.Reduce, []part{used(streamLetter), is(view), lit("<-"), is(views), is(number), is(dtype), is(redOp), is(term)}},
	verbFill:          {"fill", op.Fill, pattern},
	verbVerify:        {"verify", op.Verify, pattern},
	verbDigest:        {"digest", op.Digest, []part{used(streamLetter), is(view), is(number), is(term)}},
	verbGemm:          {"gemm", op.Gemm, []part{used(streamLetter), is(view), lit("<-"), is(view), is(view), is(dtype), is(number), is(number), is(number), optional("add"), is(term)}},
	verbComm:          {name: "comm", parts: []part{made(commLetter), is(text), is(ranks)}},
	verbCommClose:     {name: "comm_close", parts: []part{ended(commLetter)}},
	verbCall:          {"call", op.CollectiveCall, append([]part{used(streamLetter), used(commLetter), is(term)}, callParts...)},
	verbAnd:           {name: "and", parts: callParts},
	verbCollective:    {name: "collective", parts: []part{is(sequence), is(collective), is(dtype), is(redOp), is(number), lit("slice"), is(number32), lit("ranks"), is(number32), lit("group"), is(number16), is(text), optional("warmup")}},
	verbCollectiveEnd: {name: "collective_end", parts: []part{is(sequence)}},
	verbMark:          {name: "mark", parts: []part{made(markLetter), is(text)}},
	verbMarkEnd:       {name: "mark_end", parts: []part{ended(markLetter)}},
}

// What several verbs have in common.
var (
	transfer  = []part{used(streamLetter), is(view), lit("<-"), is(view), is(number), is(term)}
	box       = []part{used(streamLetter), is(view), lit("by"), is(number), is(number), lit("<-"), is(view), lit("by"), is(number), is(number), lit("of"), is(number), is(number), is(number), is(term)}
	message   = []part{used(streamLetter), is(peer), is(view), is(number), lit("channel"), is(number32), is(term)}
	pattern   = []part{used(streamLetter), is(view), is(number), is(dtype), lit("seed"), is(value), lit("at"), is(number), is(term)}
	callParts = []part{is(collective), is(dtype), is(redOp), lit("root"), is(number32), lit("count"), is(number),
		lit("in"), is(maybeView), lit("out"), is(maybeView), is(algorithm), lit("slice"), is(number), lit("group"), is(number16), optional("warmup"), is(counts)}
)

// Where the arguments of calls lie, after those of the stream, the communicator
// and the term.
const (
	callCollective = iota
	callType
	callRed
	callRoot
	callCount
	callIn
	callInOff
	callOut
	callOutOff
	callAlgorithm
	callSlice
	callGroup
	callWarmup
	callParted
)

const (
	termFlow  = 3
	termStep  = 4
	termArgs  = 6
	callAfter = 2 + termArgs // arguments before those of the call in a line of verbCall
)

// termLetters name the fields of a term, in the order of its arguments.
const termLetters = "cklftm"

// most is the largest number that an argument of a part may be, in a world of so
// many ranks.
func (k partKind) most(argument, size int) uint64 {
	switch k {
	case number32, sequence:
		return math.MaxUint32
	case number16:
		return math.MaxUint16
	case value:
		return math.MaxUint64
	case peer, ranks:
		return uint64(size - 1)
	case counts:
		return 1 << 50
	case term:
		if argument == termFlow || argument == termStep {
			return math.MaxUint16
		}
		return math.MaxUint32
	}
	return 1 << 62
}
