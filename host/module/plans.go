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

// How many plans a communicator keeps, and how many steps those of all
// communicators may have: past either, all of them are forgotten. A step takes
// some 200 bytes, with which the rest of a plan and its key are counted, too.
const (
	maxPlans     = 4096
	maxPlanSteps = 1 << 18
	keyStepBytes = 100 // of a key, which is kept beside counts as long
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
	c.keepPlan(comm, string(key), p)
	return p, nil
}

// keepPlan remembers a plan, at the price of others if there are too many.
func (i *Instance) keepPlan(comm *comm, key string, p *plan) {
	i.countPlan(comm, p, len(key))
	comm.plans[key] = p
}

// countPlan counts a plan's steps. It forgets the plans of the communicator if
// they are too many, and those of all communicators if their steps are.
func (i *Instance) countPlan(comm *comm, p *plan, keyBytes int) {
	steps := len(p.call.Program.Steps) + len(p.call.Program.Back) + keyBytes/keyStepBytes + 1
	if len(comm.plans) >= maxPlans {
		i.forgetPlans(comm)
	}
	if i.planSteps+steps > maxPlanSteps {
		for _, other := range i.comms.all() {
			i.forgetPlans(other)
		}
	}
	comm.planSteps += steps
	i.planSteps += steps
}

// forgetPlans forgets the plans of a communicator.
func (i *Instance) forgetPlans(comm *comm) {
	clear(comm.plans)
	i.planSteps -= comm.planSteps
	comm.planSteps = 0
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
	c.countPlan(comm, &placed, 0)
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
