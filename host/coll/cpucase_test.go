package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// cpuCase is one random call.
type cpuCase struct {
	coll.Shape
	red     op.RedOp
	group   int
	stream  int
	inPlace []bool // by rank
	seed    uint64
	counts  [][]int64 // AllToAllV: elements from rank to rank
	skew    int64     // offset of the areas, in bytes
}

func (c *cpuCase) String() string {
	return fmt.Sprintf("%s by %s of %d x %s %s, root %d of %d, in place %v, group %d",
		c.Collective, c.Algorithm, c.Count, c.Type, c.red, c.Root, c.Ranks, c.inPlace, c.group)
}

// cpuCounts are the counts that cases have beside random ones.
var cpuCounts = []int64{0, 1, 2, 3, 7, 64, 1000, 4096, 20_000}

// newCPUCase draws calls until an algorithm can carry one out.
func newCPUCase(random *rand.Rand, groups [][]int) *cpuCase {
	for {
		group := random.IntN(len(groups))
		row := &coll.All[random.IntN(len(coll.All))]
		c := &cpuCase{group: group, stream: random.IntN(2), seed: random.Uint64(), skew: int64(random.IntN(3) * 8)}
		c.Collective, c.Ranks, c.Type = row.Op, len(groups[group]), op.Dtype(random.IntN(int(op.F64)+1))
		c.red = op.RedOp(random.IntN(int(op.Avg) + 1))
		c.Algorithm = row.Algorithms[random.IntN(len(row.Algorithms))].Algorithm
		c.Count = cpuCounts[random.IntN(len(cpuCounts))]
		if random.IntN(3) == 0 {
			c.Count = int64(random.IntN(50_000 / c.Ranks))
		}
		if random.IntN(2) == 0 {
			c.SliceBytes = int64(random.IntN(20) * 512)
		}
		if row.Rooted {
			c.Root = random.IntN(c.Ranks)
		}
		uniform := random.IntN(3)
		for range c.Ranks {
			c.inPlace = append(c.inPlace, uniform == 1 || uniform == 2 && c.Collective != op.AllToAll && random.IntN(2) == 0)
		}
		if c.Collective == op.AllToAllV || c.Collective == op.BarrierAll {
			c.Count = 0
		}
		if c.Collective == op.AllToAllV {
			c.drawCounts(random)
		}
		if c.feasible() {
			return c
		}
	}
}

func (c *cpuCase) drawCounts(random *rand.Rand) {
	for range c.Ranks {
		row := make([]int64, c.Ranks)
		for i := range row {
			row[i] = []int64{0, 1, int64(random.IntN(5000))}[random.IntN(3)]
		}
		c.counts = append(c.counts, row)
	}
}

func (c *cpuCase) shape(rank int) coll.Shape {
	s := c.Shape
	s.InPlace = c.inPlace[rank]
	return s
}

func (c *cpuCase) feasible() bool {
	for rank := range c.Ranks {
		if _, err := coll.Plan(c.shape(rank), rank); err != nil {
			return false
		}
	}
	return true
}

// cpuAreas is where the areas of a rank lie in its buffer.
type cpuAreas struct{ in, out, inBytes, outBytes int64 }

// areas places input and output of a rank, with room before and behind them.
func (c *cpuCase) areas(rank int) cpuAreas {
	s := c.shape(rank)
	a := cpuAreas{out: cpuBufferBytes/2 + c.skew, inBytes: s.InBytes(rank), outBytes: s.OutBytes(rank), in: 256 + 2*c.skew}
	if c.Collective == op.AllToAllV {
		size := int64(c.Type.Size())
		for peer := range c.Ranks {
			a.inBytes += c.counts[rank][peer] * size
			a.outBytes += c.counts[peer][rank] * size
		}
	}
	if s.InPlace {
		a.in = a.out + s.InPlaceOffset(rank)
	}
	return a
}

// call is what the rank submits.
func (c *cpuCase) call(rank int, buffer op.Buffer) (*op.Call, cpuAreas, error) {
	program, err := coll.Plan(c.shape(rank), rank)
	if err != nil {
		return nil, cpuAreas{}, err
	}
	a := c.areas(rank)
	call := &op.Call{
		Collective: c.Collective, Type: c.Type, Red: c.red, Root: c.Root, Count: c.Count, Algorithm: uint8(c.Algorithm),
		Program: program, Bytes: c.Shape.Bytes(),
	}
	if a.inBytes > 0 {
		call.In = op.View{Buf: buffer, Off: a.in}
	}
	if a.outBytes > 0 {
		call.Out = op.View{Buf: buffer, Off: a.out}
	}
	if c.Collective == op.AllToAllV {
		for peer := range c.Ranks {
			call.SendCounts = append(call.SendCounts, c.counts[rank][peer])
			call.RecvCounts = append(call.RecvCounts, c.counts[peer][rank])
			call.SendOffsets = append(call.SendOffsets, c.sent(rank, peer))
			call.RecvOffsets = append(call.RecvOffsets, c.received(rank, peer))
		}
	}
	return call, a, nil
}

// sent is where in its input a rank has what it sends to peer: backwards.
func (c *cpuCase) sent(rank, peer int) int64 {
	at := int64(0)
	for i := c.Ranks - 1; i > peer; i-- {
		at += c.counts[rank][i]
	}
	return at
}

func (c *cpuCase) received(rank, peer int) int64 {
	at := int64(0)
	for i := range peer {
		at += c.counts[i][rank]
	}
	return at
}

// cpuGuard is what lies around the areas.
const cpuGuard = 0xa5

// fill writes the input, and guards where the output goes.
func (c *cpuCase) fill(r *cpuRank, rank int, a cpuAreas) error {
	output := bytes.Repeat([]byte{cpuGuard}, int(a.outBytes)+256)
	if err := r.Write(op.View{Buf: r.buffer, Off: a.out - 128}, output); err != nil {
		return err
	}
	size := int64(c.Type.Size())
	input := make([]byte, a.inBytes)
	for i := range a.inBytes / size {
		op.PutNumber(input[i*size:], c.Type, float64(c.input(rank, i)))
	}
	return r.Write(op.View{Buf: r.buffer, Off: a.in}, input)
}

// input is element i of a rank's input: so small that all sums are exact.
func (c *cpuCase) input(rank int, i int64) int64 {
	h := (uint64(rank+1)*0x9e3779b97f4a7c15 + uint64(i)*0xbf58476d1ce4e5b9 + c.seed) >> 40
	if c.red == op.Prod {
		return int64(1 + h%2)
	}
	return int64(h % 8)
}

// compare checks the output and the guards around it.
func (c *cpuCase) compare(r *cpuRank, rank int, a cpuAreas) error {
	got := make([]byte, a.outBytes+256)
	if err := r.Read(got, op.View{Buf: r.buffer, Off: a.out - 128}); err != nil {
		return err
	}
	if !c.inPlace[rank] {
		for i := range 128 {
			if got[i] != cpuGuard || got[128+int(a.outBytes)+i] != cpuGuard {
				return fmt.Errorf("byte %d before or behind the output was written", i)
			}
		}
	}
	size := int64(c.Type.Size())
	want := make([]byte, size)
	for i := range a.outBytes / size {
		c.expect(want, rank, i)
		if part := got[128+i*size:][:size]; !bytes.Equal(part, want) {
			return fmt.Errorf("element %d of %d is %x, want %x", i, a.outBytes/size, part, want)
		}
	}
	return nil
}

// expect is the definition: what element i of a rank's output is.
func (c *cpuCase) expect(to []byte, rank int, i int64) {
	from, at := 0, i
	switch n := max(c.Count, 1); c.Collective {
	case op.AllReduce, op.ReduceTo:
		c.reduced(to, i)
		return
	case op.ReduceScatter:
		c.reduced(to, int64(rank)*c.Count+i)
		return
	case op.AllGather, op.Gather:
		from, at = int(i/n), i%n
	case op.Broadcast:
		from = c.Root
	case op.Scatter:
		from, at = c.Root, int64(rank)*c.Count+i
	case op.AllToAll:
		from, at = int(i/n), int64(rank)*c.Count+i%n
	case op.AllToAllV:
		for from+1 < c.Ranks && i >= c.received(rank, from+1) {
			from++
		}
		at = c.sent(from, rank) + i - c.received(rank, from)
	}
	op.PutNumber(to, c.Type, float64(c.input(from, at)))
}

// reduced combines element i of all inputs.
func (c *cpuCase) reduced(to []byte, i int64) {
	v := c.input(0, i)
	for rank := 1; rank < c.Ranks; rank++ {
		next := c.input(rank, i)
		switch c.red {
		case op.Prod:
			v *= next
		case op.Min:
			v = min(v, next)
		case op.Max:
			v = max(v, next)
		default:
			v += next
		}
	}
	quotient := float64(v)
	if c.red == op.Avg {
		quotient /= float64(c.Ranks)
		if c.Type == op.F16 || c.Type == op.BF16 {
			quotient = float64(float32(v) / float32(c.Ranks)) // halves are computed in single precision
		}
	}
	op.PutNumber(to, c.Type, quotient)
}
