package bench

import (
	"encoding/binary"

	"github.com/ccrun/ccrun/host/op"
)

// A record is what the guest needs to know of one placement of one row: a call
// as package abi lays it out, and what to fill and to verify. The guest adds
// handles and, to offsets, its rank times a factor.
type record struct {
	callFields
	outOfPlace bool
	root       int64 // rank for which the next record holds instead, -1 for none
	outFactor  int64

	fillOff, fillFactor, fillBytes int64 // of this rank's input

	check                             checkKind
	checkOff, checkFactor, checkBytes int64 // of the output
	patternFactor                     int64 // where in the pattern the output begins
	iterations, words                 int64 // words: numbers to tell of it
}

// checkKind is what the output must hold.
type checkKind int64

const (
	checkNothing checkKind = iota
	checkRoot              // the root's pattern
	checkEach              // a part of each rank's, one after the other
	checkReduced           // the reduction of all ranks'
	checkParts             // a part of each rank's, as the counts say
	checkLeft              // the pattern of the rank before this one
)

// Fields that the guest reads, behind the call.
const (
	fieldOutOfPlace = 96 + 8*iota
	fieldRoot
	fieldOutFactor
	fieldFillOff
	fieldFillFactor
	fieldFillBytes
	fieldCheck
	fieldCheckOff
	fieldCheckFactor
	fieldCheckBytes
	fieldPatternFactor
	fieldIterations
	fieldWords
	fieldSource
	fieldCountStep // by how much a rank's counts begin before those of the one before it
	fieldElementBytes
	recordBytes
)

// Each placement has two records: for the root, and for others.
const variants = 2

// callFields are those of the structure call that do not come from the guest.
type callFields struct {
	op           op.CollectiveOp
	root         int
	dtype        op.Dtype
	red          op.RedOp
	warmup       bool
	count        int64
	inOff        int64
	outOff       int64
	algorithmAt  int32
	algorithmLen int
	tablesAt     int32 // in memory, of alltoallv's counts; 0 for none
	tableBytes   int   // of one
}

// Offsets in the structure call.
const (
	callType      = 16 // dtype, redop, flags
	callCount     = 24
	callIn        = 32
	callInOff     = 40
	callOut       = 48
	callOutOff    = 56
	callCounts    = 72
	callBytes     = 96
	callWarmupBit = 1 << 16 // of the number at callType
)

func (c *callFields) append(b []byte) []byte {
	e := binary.LittleEndian
	flags := uint16(0)
	if c.warmup {
		flags = 1
	}
	b = e.AppendUint64(b, 0)
	b = e.AppendUint32(b, uint32(c.op))
	b = e.AppendUint32(b, uint32(c.root))
	b = append(b, byte(c.dtype), byte(c.red))
	b = e.AppendUint16(b, flags)
	b = e.AppendUint32(b, 0)
	b = e.AppendUint64(b, uint64(c.count))
	b = e.AppendUint64(b, 0)
	b = e.AppendUint64(b, uint64(c.inOff))
	b = e.AppendUint64(b, 0)
	b = e.AppendUint64(b, uint64(c.outOff))
	b = e.AppendUint32(b, uint32(c.algorithmAt))
	b = e.AppendUint32(b, uint32(c.algorithmLen))
	for table := range countTables {
		at := 0
		if c.tablesAt != 0 {
			at = int(c.tablesAt) + table*c.tableBytes + c.tableBytes/2 // of rank 0
		}
		b = e.AppendUint32(b, uint32(at))
	}
	return e.AppendUint64(b, 0)
}

func (r *record) append(b []byte) []byte {
	b = r.callFields.append(b)
	outOfPlace := int64(0)
	if r.outOfPlace {
		outOfPlace = 1
	}
	for _, v := range []int64{
		outOfPlace, r.root, r.outFactor, r.fillOff, r.fillFactor, r.fillBytes, int64(r.check), r.checkOff, r.checkFactor, r.checkBytes,
		r.patternFactor, r.iterations, r.words, int64(r.callFields.root), r.countStep(), int64(r.dtype.Size()),
	} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// countStep is for two pointers to counts at once.
func (r *record) countStep() int64 {
	if r.tablesAt == 0 {
		return 0
	}
	return 8<<32 | 8
}

// unalignBytes is how far buffers begin off their alignment.
func (o *Options) unalignBytes(row *Row) int64 { return int64(o.Unalign * row.Type.Size()) }

// wordCount is how many numbers a rank tells of a placement of a row.
func (o *Options) wordCount(row *Row) int {
	if o.PerIteration {
		return wordsFixed + row.Iterations
	}
	return wordsFixed
}

// recordsOf are the records of all placements.
func (o *Options) recordsOf(row *Row) []record {
	var all []record
	for _, l := range row.layouts() {
		for _, isRoot := range []bool{false, true} {
			r := o.recordOf(row, l == outOfPlace)
			r.place(row, isRoot)
			r.expect(row, isRoot)
			r.fillOff, r.checkOff = r.fillOff+o.unalignBytes(row), r.checkOff+o.unalignBytes(row)
			all = append(all, r)
		}
	}
	return all
}

func (o *Options) recordOf(row *Row, outOfPlace bool) record {
	start := o.unalignBytes(row)
	r := record{
		callFields: callFields{
			op: row.Collective.Op, root: max(row.Root, 0), dtype: row.Type, red: row.Red, count: row.Count,
			inOff: start, outOff: start, algorithmLen: len(row.Algorithm),
		},
		outOfPlace: outOfPlace, root: int64(row.Root), iterations: int64(row.Iterations), words: int64(o.wordCount(row)),
	}
	if row.Root < 0 {
		r.root = -1
	}
	return r
}

// place says where the input is and the output goes. In place, a rank's share
// lies at its place in the whole array, as nccl-tests has it; a call names the
// array.
func (r *record) place(row *Row, isRoot bool) {
	share, whole := row.shareBytes(), row.Bytes()
	switch row.Collective.Op {
	case op.AllGather:
		r.fillBytes, r.fillFactor = share, share
	case op.Gather:
		r.fillBytes, r.fillFactor = share, share
		if !isRoot {
			r.outFactor = share
		}
	case op.ReduceScatter:
		r.fillBytes, r.checkFactor = whole, share
	case op.Scatter:
		r.fillBytes = whole
		if isRoot {
			r.checkFactor = share
		}
	default:
		r.fillBytes = whole
	}
	if r.outOfPlace {
		r.fillFactor, r.outFactor, r.checkFactor = 0, 0, 0
	}
}

// expect says what the output must be.
func (r *record) expect(row *Row, isRoot bool) {
	share, whole := row.shareBytes(), row.Bytes()
	if !r.outOfPlace && row.Collective.inPlace == unchecked {
		return
	}
	switch row.Collective.Op {
	case op.AllToAllV:
		r.check = checkParts
	case op.SendRecv:
		r.check, r.checkBytes = checkLeft, whole
	case op.AllReduce:
		r.check, r.checkBytes = checkReduced, whole
	case op.ReduceScatter:
		r.check, r.checkBytes, r.patternFactor = checkReduced, share, share
	case op.AllGather:
		r.check, r.checkBytes = checkEach, share
	case op.AllToAll:
		r.check, r.checkBytes, r.patternFactor = checkEach, share, share
	case op.Broadcast:
		r.check, r.checkBytes = checkRoot, whole
	case op.Scatter:
		r.check, r.checkBytes, r.patternFactor = checkRoot, share, share
	case op.ReduceTo:
		r.check, r.checkBytes = checkReduced, whole
	case op.Gather:
		r.check, r.checkBytes = checkEach, share
	}
	if !isRoot && (row.Collective.Op == op.ReduceTo || row.Collective.Op == op.Gather) {
		r.check = checkNothing
	}
}
