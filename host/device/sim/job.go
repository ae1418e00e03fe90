package sim

import "github.com/ccrun/ccrun/host/device/sim/network"

// job is something that takes virtual time: flows over links, and then a fixed
// time. What is complete then is an operation at the head of a stream, a
// message or a step of a call.
type job struct {
	stream *stream
	letter int32 // of a message, else -1
	run    *callRun
	flows  int32
	alpha  int64   // picoseconds after the last flow
	engine *Device // whose copy engine it holds
	core   int32   // that it holds, from 1 on; 0 for none
}

// linksMax is the most links that a flow runs over, flowsMax the most flows of
// a demand.
const (
	linksMax = 6
	flowsMax = 9
)

// demand is what a piece of work asks of the machine.
type demand struct {
	alpha  int64 // picoseconds, beside the flows
	hop    int64 // picoseconds that the way of the last byte adds
	flows  [flowsMax]flow
	count  int
	copies bool // it needs a copy engine of the rank
	turns  bool // it needs its rank's turn on a core
	rank   int32
}

// flow is an amount that goes over links.
type flow struct {
	amount, limit float64
	links         [linksMax]network.Link
	count         int
}

func (d *demand) reset() { d.alpha, d.hop, d.count, d.copies, d.turns = 0, 0, 0, false, false }

// add begins another flow of a demand.
func (d *demand) add(amount, limit float64) *flow {
	f := &d.flows[d.count]
	d.count++
	f.amount, f.limit, f.count = amount, limit, 0
	return f
}

func (f *flow) over(l network.Link) *flow {
	if l >= 0 {
		f.links[f.count] = l
		f.count++
	}
	return f
}

// begin starts the flows of a demand for a job. A demand without flows is over
// after its fixed time.
func (c *Cluster) begin(id int32, d *demand) {
	if d.turns {
		c.turns.queue(id, d)
		c.dirty = true
		return
	}
	c.start(id, d)
}

// start starts them now.
func (c *Cluster) start(id int32, d *demand) {
	j := c.jobs.at(id)
	j.alpha, j.flows = d.alpha+d.hop, int32(d.count)
	if d.count == 0 {
		c.plan(c.now+j.alpha, evJob, uint32(id))
		return
	}
	for i := range d.flows[:d.count] {
		f := &d.flows[i]
		n := c.net.Start(c.now, f.amount, f.limit, uint32(id), f.links[:f.count]...)
		for int(n) >= len(c.owners) {
			c.owners = append(c.owners, flowOwner{due: -1})
		}
		c.owners[n].job = id
	}
	c.dirty = true
}

// flowOwner is what the cluster knows of a flow.
type flowOwner struct {
	job int32
	due int64 // of the event that ends it, -1 if there is none
}

// flowDue ends a flow, unless it has been given another time meanwhile.
func (c *Cluster) flowDue(f int32, at int64) {
	o := &c.owners[f]
	if o.due != at {
		return
	}
	id := o.job
	o.due = -1
	c.pending--
	c.net.Finish(c.now, network.Flow(f))
	c.dirty = true
	j := c.jobs.at(id)
	if j.flows--; j.flows > 0 {
		return
	}
	if j.alpha > 0 {
		c.plan(c.now+j.alpha, evJob, uint32(id))
		return
	}
	c.jobDone(id)
}

// jobDone completes what the job is of.
func (c *Cluster) jobDone(id int32) {
	j := *c.jobs.at(id)
	c.jobs.give(id)
	if j.engine != nil {
		j.engine.releaseEngine()
	}
	if j.core > 0 {
		c.turns.end(j.core - 1)
		c.dirty = true
	}
	switch {
	case j.run != nil:
		j.run.moved()
	case j.letter >= 0:
		c.arrived(j.letter)
	default:
		j.stream.completed()
	}
}
