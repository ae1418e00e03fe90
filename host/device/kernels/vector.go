package kernels

import "github.com/ccrun/ccrun/host/op"

// kernel names a vector kernel: an element type and an operator.
type kernel uint8

const kernelShift = 3

// stretchBytes is the traffic of one call of a kernel, which nothing can
// interrupt, not even the garbage collector.
const stretchBytes = 128 << 10

// backwardBytes is the longest stretch of a pass that begins with the end: each
// by itself goes forward, as processors fetch ahead best.
const backwardBytes = 8 << 10

// blockBytes is how much a kernel copies at a time when it stores past the
// caches: four pages.
const blockBytes = 16 << 10

// widthMax is the longest vector.
const widthMax = 64

// pass is one combination, carried out in stretches.
type pass struct {
	work       work
	isa        ISA
	kernel     kernel
	width      int // bytes of memory that one vector covers
	task       Task
	divideInts bool
}

// vectors combines with vector kernels, or reports that there is none.
func (s Set) vectors(dests, sources [][]byte, t Task) bool {
	p := pass{work: workOn(dests, sources), isa: s.ISA, task: t, width: s.ISA.vectorBytes()}
	p.choose()
	bytes := len(dests[0])
	head, streaming := 0, streamNone
	if s.streams(t.TrafficBytes, int64(bytes)*int64(len(dests)+len(sources))) {
		if ahead, ok := p.work.ahead(); ok && ahead%t.Type.Size() == 0 {
			head, streaming = min(ahead, bytes), p.streaming()
		}
	}
	if !p.edge(0, head) {
		return false
	}
	p.work.streaming = streaming
	body := (bytes - head) &^ (widthMax - 1)
	if !p.body(head, body) {
		return false
	}
	p.work.streaming = streamNone
	return p.edge(head+body, bytes-head-body)
}

// body combines whole vectors in stretches.
func (p *pass) body(head, bytes int) bool {
	stretch := max(blockBytes, stretchBytes/(p.work.destCount+p.work.sourceCount)&^(blockBytes-1))
	backward := p.task.Backward && p.work.streaming == streamNone
	if backward {
		stretch = backwardBytes
	}
	for done := 0; done < bytes; done += stretch {
		n, from := min(stretch, bytes-done), head+done
		if backward {
			from = head + bytes - done - n
		}
		if !p.run(from, n) {
			return false
		}
	}
	return true
}

// streaming is how to store past the caches. With more than two streams of
// pages the lines of one step compete for the same places of the caches.
func (p *pass) streaming() int {
	if p.work.sourceCount == 1 && p.work.destCount == 1 {
		return streamPages
	}
	return streamLines
}

// edge combines less than the longest vector.
func (p *pass) edge(from, bytes int) bool {
	whole := bytes &^ (p.width - 1)
	return (whole == 0 || p.run(from, whole)) && p.part(from+whole, bytes-whole)
}

// choose sets the kernel: averages are sums, a single source is moved as it is.
func (p *pass) choose() {
	t := p.task
	red := t.Red
	if red == op.Avg {
		red = op.Sum
	}
	if p.work.sourceCount == 1 && !t.divides() {
		t.Type, red = op.U8, op.Sum
	}
	p.kernel = kernel(t.Type)<<kernelShift | kernel(red)
	switch t.Type {
	case op.F16, op.BF16:
		p.width /= 2
	case op.F32, op.F64:
	default:
		p.divideInts = t.divides()
		return
	}
	if t.divides() {
		p.work.scale(t.Divisor)
	}
}

// scale sets what sums are divided by. The inverse of a power of two is exact,
// and multiplying is faster.
func (w *work) scale(divisor int) {
	w.scaling, w.scale32, w.scale64 = scaleDivide, float32(divisor), float64(divisor)
	if divisor&(divisor-1) == 0 {
		w.scaling, w.scale32, w.scale64 = scaleMultiply, 1/w.scale32, 1/w.scale64
	}
}

// run combines whole vectors.
func (p *pass) run(from, bytes int) bool {
	p.work.offset, p.work.bytes = from, bytes
	if !run(p.isa, p.kernel, &p.work) {
		return false
	}
	if p.divideInts {
		p.divide(from, bytes)
	}
	return true
}

// edgeCopies are a vector of each source, and of the result.
type edgeCopies [op.MaxSources + 1][widthMax]byte

// part combines less than a vector, in a copy that is as long as one.
func (p *pass) part(from, bytes int) bool {
	if bytes == 0 {
		return true
	}
	var copies edgeCopies
	w := &p.work
	for i := range w.sourceCount {
		copy(copies[i][:], w.source(i, from, bytes))
	}
	part := w.edge(&copies, p.width)
	if !run(p.isa, p.kernel, &part) {
		return false
	}
	result := copies[op.MaxSources][:bytes]
	if p.divideInts {
		divideIntegers(result, p.task)
	}
	for i := range w.destCount {
		copy(w.dest(i, from, bytes), result)
	}
	return true
}

// divide averages integers, for which there is no vector instruction.
func (p *pass) divide(from, bytes int) {
	first := p.work.dest(0, from, bytes)
	divideIntegers(first, p.task)
	for i := 1; i < p.work.destCount; i++ {
		copy(p.work.dest(i, from, bytes), first)
	}
}

func divideIntegers(b []byte, t Task) {
	switch t.Type {
	case op.U8:
		divide(elements[uint8](b), t.Divisor)
	case op.I32:
		divide(elements[int32](b), t.Divisor)
	case op.I64:
		divide(elements[int64](b), t.Divisor)
	}
}
