package module

import (
	"math"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// plan is what calls of one shape have in common on one rank of a
// communicator. A guest calls the same shapes over and over, so plans are kept.
type plan struct {
	call     op.Call // all but its buffers
	shape    coll.Shape
	inBytes  int64 // that this rank's part of the program may read
	outBytes int64
	offset   int64 // where the input of a call in place begins, from its output's start
	placed   *plan // for the same call with its buffers in place, made when needed
}

// How many plans a communicator keeps, and how many steps they may have in all:
// past either, all are forgotten. A step takes some 200 bytes.
const (
	maxPlans     = 4096
	maxPlanSteps = 1 << 18
)

const warmupFlag = 1

// planOf gives the plan for a call structure, made when the communicator meets
// its shape for the first time. What a plan depends on, byte by byte, is its
// key.
func (c *call) planOf(comm *comm, b []byte) (*plan, error) {
	if get16(b[18:])&^warmupFlag != 0 || get64(b[88:]) != 0 {
		return nil, errReserved
	}
	key := append(c.group.key[:0], b[8:18]...)
	key = append(key, b[20:32]...)
	key = append(key, byte(word(get64(b[32:]) == 0)))
	name, err := c.region(uint64(get32(b[64:])), uint64(get32(b[68:])), 1)
	if err != nil {
		return nil, inField("algorithm", err)
	}
	if len(name) > maxNameBytes {
		return nil, inField("algorithm", errName)
	}
	key = append(append(key, byte(len(name))), name...)
	if op.CollectiveOp(b[8]) == op.AllToAllV {
		if key, err = c.appendCounts(key, comm, b); err != nil {
			return nil, err
		}
	}
	c.group.key = key
	if p, ok := comm.plans[string(key)]; ok {
		return p, nil
	}
	p, err := c.newPlan(comm, b, string(name))
	if err != nil {
		return nil, err
	}
	comm.keep(string(key), p)
	return p, nil
}

// keep remembers a plan, at the price of all others if there are too many.
func (c *comm) keep(key string, p *plan) {
	c.count(p)
	c.plans[key] = p
}

// count counts a plan's steps, and forgets all plans kept if there are too many.
func (c *comm) count(p *plan) {
	steps := len(p.call.Program.Steps) + len(p.call.Program.Back)
	if len(c.plans) >= maxPlans || c.planSteps+steps > maxPlanSteps {
		clear(c.plans)
		c.planSteps = 0
	}
	c.planSteps += steps
}

// countFields are the fields of a call structure that point to counts.
var countFields = [...]struct {
	name string
	at   int
}{{"send_counts", 72}, {"send_offsets", 76}, {"recv_counts", 80}, {"recv_offsets", 84}}

func (c *call) appendCounts(key []byte, comm *comm, b []byte) ([]byte, error) {
	for _, f := range countFields {
		counts, err := c.region(uint64(get32(b[f.at:])), uint64(comm.Size())*8, 8)
		if err != nil {
			return nil, inField(f.name, err)
		}
		key = append(key, counts...)
	}
	return key, nil
}

// newPlan makes the plan for a call structure.
func (c *call) newPlan(comm *comm, b []byte, algorithm string) (*plan, error) {
	p := &plan{}
	if err := c.decodeShape(p, comm, b); err != nil {
		return nil, err
	}
	p.measure(comm.Rank())
	p.shape.InPlace = get64(b[32:]) == 0 && p.gives()
	if algorithm != "" {
		known := false
		if p.shape.Algorithm, known = coll.AlgorithmNamed(algorithm); !known {
			return nil, refuse(abi.Invalid, "algorithm: there is no %q", algorithm)
		}
	}
	return p, c.complete(p, comm)
}

// gives reports whether this rank has an input, which may be empty, as far as
// the shape can tell.
func (p *plan) gives() bool {
	switch p.shape.Collective {
	case op.AllToAllV, op.BarrierAll:
		return p.inBytes > 0
	}
	return p.inBytes > 0 || p.shape.Count == 0
}

// complete gives a plan its program.
func (c *call) complete(p *plan, comm *comm) error {
	s := &p.shape
	if s.Algorithm == coll.Auto {
		s.Algorithm = c.config.Selection.Select(*s)
	}
	program, err := coll.Plan(*s, comm.Rank())
	if err != nil {
		return err
	}
	p.call.Program, p.call.Algorithm = program, uint8(s.Algorithm)
	p.call.Group, p.call.NameIndex = comm.group, c.nameIndex([]byte(program.Name))
	return nil
}

// inPlace is the plan for the same call with its buffers in place.
func (c *call) inPlace(p *plan, comm *comm) (*plan, error) {
	if p.placed != nil {
		return p.placed, nil
	}
	placed := *p
	placed.shape.InPlace, placed.placed = true, nil
	if err := c.complete(&placed, comm); err != nil {
		return nil, err
	}
	comm.count(&placed)
	p.placed = &placed
	return p.placed, nil
}

// decodeShape reads the fields that a plan depends on.
func (c *call) decodeShape(p *plan, comm *comm, b []byte) error {
	number, root, count := get32(b[8:]), get32(b[12:]), get64(b[24:])
	collective, dtype, red := op.CollectiveOp(number), op.Dtype(b[16]), op.RedOp(b[17])
	row := coll.Of(collective)
	switch {
	case number > math.MaxUint8 || row == nil:
		return refuse(abi.Invalid, "op: %d is not a collective that can be called", number)
	case !dtype.Valid() || !red.Valid():
		return refuse(abi.Invalid, "dtype or redop: not a value of the enumeration")
	case row.Rooted && uint64(root) >= uint64(comm.Size()):
		return inField("root", errRank)
	case count > countMax:
		return refuse(abi.Range, "count: %d elements, more than %d", count, int64(countMax))
	}
	p.shape = coll.Shape{Collective: collective, Type: dtype, Ranks: comm.Size(), SliceBytes: int64(get32(b[20:]))}
	p.call = op.Call{Collective: collective, Type: dtype, Red: red}
	if row.Rooted {
		p.shape.Root, p.call.Root = int(root), int(root)
	}
	switch collective {
	case op.AllToAllV:
		return p.takeCounts(c.group.key, comm.Rank())
	case op.BarrierAll:
	default:
		p.shape.Count, p.call.Count = int64(count), int64(count)
	}
	return nil
}

// countMax keeps the size of all ranks' parts within 63 bits.
const countMax = 1 << 40

// measure works out sizes and places.
func (p *plan) measure(rank int) {
	p.call.Bytes, p.offset = p.shape.Bytes(), p.shape.InPlaceOffset(rank)
	p.inBytes, p.outBytes = p.shape.InBytes(rank), p.shape.OutBytes(rank)
	if p.shape.Collective == op.AllToAllV {
		size := int64(p.shape.Type.Size())
		p.inBytes = size * extent(p.call.SendCounts, p.call.SendOffsets)
		p.outBytes = size * extent(p.call.RecvCounts, p.call.RecvOffsets)
	}
}

// takeCounts reads the counts at the end of a key. Parts may overlap in the
// input; where they overlap in the output, the result is undefined.
func (p *plan) takeCounts(key []byte, rank int) error {
	n := p.shape.Ranks
	all := make([]int64, 4*n)
	words := key[len(key)-len(all)*8:]
	for i := range all {
		v := get64(words[8*i:])
		if v > countMax {
			return refuse(abi.Range, "%s: %d elements, more than %d", countFields[i/n].name, v, int64(countMax))
		}
		all[i] = int64(v)
	}
	p.call.SendCounts, p.call.SendOffsets = all[:n:n], all[n:2*n:2*n]
	p.call.RecvCounts, p.call.RecvOffsets = all[2*n:3*n:3*n], all[3*n:]
	if sent, received := p.call.SendCounts[rank], p.call.RecvCounts[rank]; sent != received {
		return refuse(abi.Invalid, "recv_counts: %d elements of the rank's own %d in send_counts", received, sent)
	}
	return nil
}

// extent is where the last part ends.
func extent(counts, offsets []int64) int64 {
	end := int64(0)
	for i, count := range counts {
		if count > 0 {
			end = max(end, offsets[i]+count)
		}
	}
	return end
}
