package bench

import (
	"math"

	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/wasm"
)

// wordsFixed is how many numbers a rank tells of a placement before the times
// of iterations: issued, total, wrong.
const wordsFixed = 3

// field pushes a field of the record that the cursor points to.
func (g *assembly) field(offset uint32) []byte { return wasm.LoadI64At(at(cursor), offset) }

// byRank is an offset of the record plus this rank's part.
func (g *assembly) byRank(offset, factor uint32) []byte {
	return wasm.Add(g.field(offset), wasm.Mul(get(rank), g.field(factor)))
}

func (g *assembly) dtype() []byte {
	return wasm.Wrap(wasm.And(g.field(callType), constant(0xff)))
}

func (g *assembly) redOp() []byte {
	return wasm.Wrap(wasm.And(wasm.ShiftRight(g.field(callType), constant(8)), constant(0xff)))
}

func (g *assembly) sync() []byte    { return g.host("stream_sync", get(stream), forever()) }
func (g *assembly) barrier() []byte { return g.host("barrier", forever()) }

// collect makes the call that is measured.
func (g *assembly) collect() []byte {
	if g.Collective.Op != op.SendRecv {
		return g.host("collective", get(stream), at(cursor))
	}
	bytes, channel := g.field(fieldFillBytes), pointer(0)
	return wasm.Code(
		g.host("send", get(stream), at(right), g.pick(), g.field(callInOff), bytes, channel),
		g.host("recv", get(stream), at(left), get(output), g.field(callOutOff), bytes, channel),
	)
}

func (g *assembly) now(to cell) []byte { return g.host("clock_now", address(to)) }

// pick pushes the handle of the buffer that holds the input.
func (g *assembly) pick() []byte {
	// One of both, by a number that is 0 or 1.
	return wasm.Add(wasm.Mul(get(input), g.field(fieldOutOfPlace)),
		wasm.Mul(get(output), wasm.Sub(constant(1), g.field(fieldOutOfPlace))))
}

// fill writes this rank's pattern to its input.
func (g *assembly) fill() []byte {
	return g.host("buffer_fill", get(stream), g.pick(), g.byRank(fieldFillOff, fieldFillFactor), g.field(fieldFillBytes),
		g.dtype(), wasm.Add(get(salt), get(rank)))
}

// warmup adds a number to the bits of the call that leave it out of statistics.
func (g *assembly) warmup(v int64) []byte {
	return wasm.StoreI64(at(cursor), callType, wasm.Add(g.field(callType), constant(v)))
}

// measure times one placement.
func (g *assembly) measure() []byte {
	prepare := wasm.Code(
		wasm.StoreI64(at(cursor), 0, get(comm)),
		wasm.StoreI64(at(cursor), callIn, wasm.Mul(get(input), g.field(fieldOutOfPlace))),
		wasm.StoreI64(at(cursor), callOut, get(output)),
		wasm.StoreI64(at(cursor), callOutOff, g.byRank(callOutOff, fieldOutFactor)),
		wasm.StoreI64(at(cursor), callCounts, wasm.Sub(g.field(callCounts), wasm.Mul(get(rank), g.field(fieldCountStep)))),
		wasm.StoreI64(at(cursor), callCounts+8, wasm.Sub(g.field(callCounts+8), wasm.Mul(get(rank), g.field(fieldCountStep)))),
		g.fill(), g.warmup(callWarmupBit),
		g.sync(), g.barrier(),
		times(counter, constant(int64(g.Warmup)), g.collect()),
		g.warmup(-callWarmupBit),
		g.sync(), g.barrier(),
	)
	return wasm.Code(
		prepare,
		set(place, constant(int64(g.wordsAt())+wordsFixed*8)),
		g.now(started),
		times(counter, g.field(fieldIterations), g.iteration()),
		g.now(issued), g.sync(), g.now(ended), g.barrier(),
		set(wrong, constant(0)),
		g.warmup(callWarmupBit),
		times(counter, constant(int64(g.Checks)), g.call(checkFunction)),
		g.result(0, wasm.Sub(get(issued), get(started))),
		g.result(1, wasm.Sub(get(ended), get(started))),
		g.result(2, get(wrong)),
		g.gather(),
		wasm.If(wasm.Equal(get(rank), constant(0)), g.call(printFunction)),
	)
}

// iteration is one call, or several issued together.
func (g *assembly) iteration() []byte {
	code := g.collect()
	if g.Aggregated > 1 {
		code = times(inner, constant(int64(g.Aggregated)), g.collect())
	}
	if g.Blocking > 0 || g.PerIteration {
		code = wasm.Code(code, g.sync())
	}
	if g.Blocking == 1 {
		code = wasm.Code(code, g.barrier())
	}
	if g.PerIteration {
		code = wasm.Code(code, g.host("clock_now", at(place)), add(place, constant(8)))
	}
	return code
}

// result stores a number that is told.
func (g *assembly) result(n uint32, value []byte) []byte {
	return wasm.StoreI64(pointer(g.wordsAt()), n*8, value)
}

// gather brings all ranks' numbers to rank 0. Times of iterations count from
// the start.
func (g *assembly) gather() []byte {
	code := []byte{}
	if g.PerIteration {
		code = wasm.Code(
			set(place, constant(int64(g.wordsAt())+wordsFixed*8)),
			times(counter, g.field(fieldIterations),
				wasm.StoreI64(at(place), 0, wasm.Sub(wasm.LoadI64At(at(place), 0), get(started))),
				add(place, constant(8))),
		)
	}
	return wasm.Code(code,
		wasm.StoreI64(pointer(gatherAt), callCount, g.field(fieldWords)),
		g.host("buffer_write", get(sent), constant(0), pointer(g.wordsAt()), wasm.Wrap(wasm.Mul(g.field(fieldWords), constant(8)))),
		g.host("collective", get(stream), pointer(gatherAt)),
		g.sync(),
	)
}

// check calls once more, with patterns of its own, and counts elements that
// are wrong.
func (g *assembly) check() []byte {
	ranks := constant(int64(g.Ranks()))
	return wasm.Code(
		add(salt, ranks),
		g.fill(), g.collect(), g.sync(),
		wasm.If(g.checks(checkRoot), g.verifyAll(wasm.Add(get(salt), g.field(fieldSource)))),
		wasm.If(g.checks(checkLeft), g.verifyAll(wasm.Add(get(salt), get(left)))),
		wasm.If(g.checks(checkEach), g.eachRank(g.verify(wasm.Mul(get(inner), g.field(fieldCheckBytes)), g.field(fieldCheckBytes),
			wasm.Add(get(salt), get(inner)), g.pattern()))),
		wasm.If(g.checks(checkParts), g.eachRank(g.verify(g.part(receivedOffsets), g.part(receivedCounts),
			wasm.Add(get(salt), get(inner)), g.part(receivedOffsets)))),
		wasm.If(g.checks(checkReduced), g.verifyReduced()),
		g.barrier(),
	)
}

func (g *assembly) checks(kind checkKind) []byte {
	return wasm.Equal(g.field(fieldCheck), constant(int64(kind)))
}

func (g *assembly) pattern() []byte { return wasm.Mul(get(rank), g.field(fieldPatternFactor)) }

func countWrong() []byte { return add(wrong, wasm.LoadI64(resultAt)) }

// eachRank repeats for ranks from 0 on, which inner counts.
func (g *assembly) eachRank(body []byte) []byte {
	return wasm.Code(
		set(inner, constant(0)),
		wasm.While(wasm.Sub(get(inner), constant(int64(g.Ranks()))), body, add(inner, constant(1))),
	)
}

// Bits at which the pointers to what is received begin.
const (
	receivedCounts  = 0
	receivedOffsets = 32
)

// part pushes the size of what comes from rank inner, or where it goes, in
// bytes. It lies as far into what that rank sends.
func (g *assembly) part(pointers int64) []byte {
	table := wasm.And(wasm.ShiftRight(g.field(callCounts+8), constant(pointers)), constant(math.MaxUint32))
	entry := wasm.Wrap(wasm.Add(table, wasm.Mul(get(inner), constant(8))))
	return wasm.Mul(wasm.LoadI64At(entry, 0), g.field(fieldElementBytes))
}

// verifyAll compares the output with a seed's pattern.
func (g *assembly) verifyAll(seed []byte) []byte {
	return g.verify(constant(0), g.field(fieldCheckBytes), seed, g.pattern())
}

// verify compares a part of the output with a part of a seed's pattern.
func (g *assembly) verify(further, bytes, seed, pattern []byte) []byte {
	return wasm.Code(
		g.host("buffer_verify", get(stream), get(output), wasm.Add(g.byRank(fieldCheckOff, fieldCheckFactor), further),
			bytes, g.dtype(), seed, pattern, pointer(resultAt)),
		countWrong(),
	)
}

// verifyReduced compares the output with the reduction of all ranks' patterns.
func (g *assembly) verifyReduced() []byte {
	ranks := constant(int64(g.Ranks()))
	return wasm.Code(
		g.eachRank(wasm.StoreI64(wasm.Wrap(wasm.Mul(get(inner), constant(8))), seedsAt, wasm.Add(get(salt), get(inner)))),
		g.host("buffer_verify_reduced", get(stream), get(output), g.byRank(fieldCheckOff, fieldCheckFactor), g.field(fieldCheckBytes),
			g.dtype(), g.redOp(), pointer(seedsAt), wasm.Wrap(ranks), g.pattern(), pointer(resultAt)),
		countWrong(),
	)
}

// print writes all ranks' numbers in hexadecimal, a space after each, as many
// to a line as the runner keeps whole.
func (g *assembly) print() []byte {
	perRank := wasm.Mul(g.field(fieldWords), constant(8))
	return wasm.Code(
		set(source, constant(0)),
		wasm.While(wasm.Sub(constant(int64(g.Ranks())), get(source)),
			g.host("buffer_read", get(gathered), wasm.Mul(get(source), perRank), pointer(g.wordsAt()), wasm.Wrap(perRank)),
			set(place, constant(int64(g.wordsAt()))),
			set(first, g.field(fieldWords)), // that are left
			wasm.While(get(first),
				set(number, get(first)),
				wasm.If(wasm.Above(get(number), constant(lineWords)), set(number, constant(lineWords))),
				set(first, wasm.Sub(get(first), get(number))),
				g.line(),
			),
			add(source, constant(1)),
		),
	)
}

// line prints a number of words from place on.
func (g *assembly) line() []byte {
	nibble := wasm.ShiftRight(get(printed), constant(60))
	character := func(v []byte) []byte {
		return wasm.Code(wasm.StoreByte(at(issued), v), add(issued, constant(1)))
	}
	return wasm.Code(
		set(issued, constant(lineAt)), // where the next character goes
		times(inner, get(number),
			set(printed, wasm.LoadI64At(at(place), 0)),
			add(place, constant(8)),
			times(digits, constant(16),
				// Digits lie at 48, letters at 97.
				character(wasm.Add(wasm.Add(nibble, constant('0')),
					wasm.Mul(wasm.Extend(wasm.Above(nibble, constant(9))), constant('a'-'9'-1)))),
				set(printed, wasm.ShiftLeft(get(printed), constant(4))),
			),
			character(constant(' ')),
		),
		character(constant('\n')),
		wasm.StoreI32(pointer(vectorAt), pointer(lineAt)),
		wasm.StoreI32(pointer(vectorAt+4), wasm.Wrap(wasm.Sub(get(issued), constant(lineAt)))),
		pointer(1), pointer(vectorAt), pointer(1), pointer(vectorAt+8), wasm.Call(g.importNamed(writeCall)), wasm.Drop(),
	)
}
