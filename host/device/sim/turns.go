package sim

// turns is whose turn it is on processor cores that ranks share. A rank keeps
// its core until it waits, as the operating system has it: what it submits
// while it has the core comes before what other ranks have waited for, but not
// for longer than turnPicos. To give a core to another rank takes time.
type turns struct {
	cores   []turn
	demands pool[demand] // of jobs that wait
	idle    []int32      // cores that may have to be given to somebody
	handing int64        // picoseconds that it takes to give a core to another rank
}

type turn struct {
	busy    bool
	listed  bool
	last    int32 // rank that has or had the core, -1 if none
	since   int64 // when it got it
	waiting []waitingJob
}

type waitingJob struct{ job, rank, demand int32 }

// turnPicos is about how long Linux lets a process run if another one wants the
// processor.
const turnPicos = 3_000_000_000

func newTurns(cores int, handing int64) *turns {
	t := &turns{cores: make([]turn, cores), handing: handing}
	for i := range t.cores {
		t.cores[i].last = -1
	}
	return t
}

// queue has a job wait for its rank's turn, which may come at this instant.
func (t *turns) queue(id int32, d *demand) {
	core := d.rank % int32(len(t.cores))
	k := &t.cores[core]
	kept := t.demands.take()
	*t.demands.at(kept) = *d
	k.waiting = append(k.waiting, waitingJob{id, d.rank, kept})
	t.list(core)
}

// end is the end of a job that had the core.
func (t *turns) end(core int32) {
	t.cores[core].busy = false
	t.list(core)
}

func (t *turns) list(core int32) {
	if k := &t.cores[core]; !k.busy && !k.listed && len(k.waiting) > 0 {
		k.listed = true
		t.idle = append(t.idle, core)
	}
}

// settle gives cores to jobs, once all that wait at this instant are known.
func (t *turns) settle(c *Cluster) {
	for _, core := range t.idle {
		k := &t.cores[core]
		k.listed = false
		i := k.choose(c.now)
		w := k.waiting[i]
		k.waiting = append(k.waiting[:i], k.waiting[i+1:]...)
		d := t.demands.at(w.demand)
		if w.rank != k.last {
			if k.last >= 0 {
				d.alpha += t.handing
			}
			k.last, k.since = w.rank, c.now
		}
		k.busy = true
		c.jobs.at(w.job).core = core + 1
		c.start(w.job, d)
		t.demands.give(w.demand)
	}
	t.idle = t.idle[:0]
}

// choose is the job whose turn it is.
func (k *turn) choose(now int64) int {
	if now-k.since > turnPicos {
		return 0
	}
	for i := range k.waiting {
		if k.waiting[i].rank == k.last {
			return i
		}
	}
	return 0
}
