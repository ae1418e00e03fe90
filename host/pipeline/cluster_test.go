package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// cluster runs one machine per rank over a toy transport: a bucket passes from
// rank to rank some time after both have come to it, each rank's part is over as
// soon as its own passages are (transport_test.go), and signals take as long as
// they like. After each step it checks the limits against books of its own.
type cluster struct {
	rng      *rand.Rand
	plan     *Plan
	nodes    []*node
	parties  []int // by bucket: ranks that take part
	arrived  []int // as the ranks were told
	finished int   // tasks of all ranks
	tasks    int
	pending  []delivery
	now      int64
	failAt   int // the how-manieth arrival fails instead, -1 for none
	failed   int // place of the bucket that failed, -1 for none
	publish  Publish
	written  []int // by bucket: ranks that have finished it

	crossings   []map[int32]*crossing // by bucket and rank
	writing     map[int32]int         // by bucket: ranks that write it, its source left out
	lost        int                   // the how-manieth passage is never served, 0 for none
	mostWriting int                   // so many buckets were written at the same time
}

// delivery is an event on its way to a rank.
type delivery struct {
	rank   int
	event  Event
	served *served // not nil: no event, but the end of a passage
}

// node is a rank and what the test knows of it.
type node struct {
	m        *Machine
	tasks    []Task
	staging  []int64
	limits   Limits
	taskOf   map[int32]int
	flying   map[int]int32 // streams of tasks in flight
	places   map[int32]int32
	arrivals []bool
	over     []bool
	launched []bool
	told     map[string]int // what grew
	wires    map[string]int // the task that used a wire last
	script   int
	ended    bool
	last     int64
	held     int64

	peakBytes, area, milli   int64
	peakBuckets, peakEntries int
}

func newCluster(rng *rand.Rand, p *Plan, shared Limits) (*cluster, error) {
	c := &cluster{rng: rng, plan: p, failAt: -1, failed: -1, publish: shared.Publish, written: make([]int, len(p.Buckets))}
	c.parties, c.arrived = make([]int, len(p.Buckets)), make([]int, len(p.Buckets))
	c.crossings, c.writing = make([]map[int32]*crossing, len(p.Buckets)), make(map[int32]int)
	salt := rng.Uint32()
	for rank := range p.Ranks {
		n := &node{tasks: p.Tasks(rank), taskOf: make(map[int32]int), flying: make(map[int]int32), places: make(map[int32]int32), wires: make(map[string]int), told: make(map[string]int)}
		for i := range n.tasks {
			runs := func(entry int32, dst bool) bool {
				return digest(salt).add(uint64(entry)).add(uint64(rank))&3 != 0 == dst
			}
			n.staging = append(n.staging, Class(p.Layout(&n.tasks[i], runs, shared.Publish != AtOnce).Bytes))
			n.taskOf[n.tasks[i].Bucket] = i
			c.parties[n.tasks[i].Bucket]++
		}
		n.limits = randomLimits(rng, shared, n.staging)
		n.arrivals, n.over, n.launched = make([]bool, len(n.tasks)), make([]bool, len(n.tasks)), make([]bool, len(n.tasks))
		m, err := NewMachine(p, rank, n.tasks, n.staging, n.limits)
		if err != nil {
			return nil, err
		}
		n.m = m
		c.tasks += len(n.tasks)
		c.nodes = append(c.nodes, n)
	}
	return c, nil
}

// randomLimits are a rank's own, beside those that all share.
func randomLimits(rng *rand.Rand, shared Limits, staging []int64) Limits {
	l := shared
	l.MaxBuckets, l.MaxInFlight, l.Streams, l.Window = rng.IntN(4)*rng.IntN(3), 1+rng.IntN(4), 1+rng.IntN(6), 1+rng.IntN(4)
	if len(staging) == 0 {
		return l
	}
	largest := slices.Max(staging)
	l.MaxBytes = []int64{0, largest, largest + 256, 2 * largest, 3 * largest, max(1, largest-1), max(1, largest/3), 1}[rng.IntN(8)]
	return l
}

// run has all ranks begin and delivers until nothing is left to deliver.
func (c *cluster) run() error {
	for rank := range c.nodes {
		c.pending = append(c.pending, delivery{rank: rank, event: Event{Kind: Begin}})
	}
	for len(c.pending) > 0 {
		i := c.rng.IntN(len(c.pending))
		d := c.pending[i]
		c.pending[i] = c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		c.now += c.rng.Int64N(100)
		if s := d.served; s != nil {
			if c.lost--; c.lost != 0 {
				c.serve(s)
			}
			continue
		}
		if err := c.deliver(d); err != nil {
			return fmt.Errorf("rank %d: %v of task %d, peer %d, value %d: %w", d.rank, d.event.Kind, d.event.Task, d.event.Peer, d.event.Value, err)
		}
	}
	for rank, n := range c.nodes {
		if s := n.m.Status(); !n.ended || s.Done != (c.failed < 0) || s.Failed == s.Done {
			return fmt.Errorf("nothing is on its way any more, and rank %d has come to %+v", rank, s)
		}
		if err := n.checkStats(c.now); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

func (c *cluster) send(rank int, e Event) {
	c.pending = append(c.pending, delivery{rank: rank, event: e})
}

// deliver gives a rank an event and does what it asks for.
func (c *cluster) deliver(d delivery) error {
	n := c.nodes[d.rank]
	if d.event.Kind == Finished {
		c.endWrite(d.rank, &d.event)
	}
	if d.event.Kind == Arrived && !n.ended {
		if c.failAt == 0 {
			d.event.Kind, c.failed = Failed, int(n.tasks[d.event.Task].Place)
		} else {
			n.arrivals[d.event.Task] = true
			c.arrived[n.tasks[d.event.Task].Bucket]++
		}
		c.failAt--
	}
	if d.event.Kind == AdmitUpTo {
		n.script = max(n.script, int(d.event.Value))
		if left := len(c.plan.Buckets) - n.script; left > 0 {
			c.send(d.rank, Event{Kind: AdmitUpTo, Value: uint64(n.script + 1 + c.rng.IntN(left))})
		}
	}
	if d.event.Kind == Begin {
		n.last = c.now
		if n.limits.Policy == Scripted {
			c.send(d.rank, Event{Kind: AdmitUpTo, Value: uint64(c.rng.IntN(2))})
		}
	}
	if !n.ended {
		n.area += n.held * (c.now - n.last)
		n.milli += int64(len(n.flying)) * 1000 * (c.now - n.last)
		n.last = c.now
	}
	for _, a := range n.m.Step(c.now, d.event, nil) {
		if n.ended {
			return fmt.Errorf("%v after the end", a.Kind)
		}
		if err := c.do(d.rank, a); err != nil {
			return fmt.Errorf("%v of task %d: %w", a.Kind, a.Task, err)
		}
	}
	return n.checkBooks()
}

// do carries an action out.
func (c *cluster) do(rank int, a Action) error {
	n := c.nodes[rank]
	switch a.Kind {
	case Launch:
		return c.launch(rank, int(a.Task), a.Stream)
	case Finalize:
		return c.finalize(rank, int(a.Task), a.Stream)
	case Release:
		i := int(a.Task)
		if stream, ok := n.flying[i]; !ok || stream != a.Stream || !n.arrivals[i] || n.over[i] {
			return fmt.Errorf("it is not there to be released from stream %d", a.Stream)
		}
		delete(n.flying, i)
		n.over[i] = true
		n.held -= n.staging[i]
		c.written[n.tasks[i].Bucket]++
		c.finished++
	case Grant:
		way := fmt.Sprint("grants to ", a.Peer)
		if int(a.Value) <= n.told[way] {
			return fmt.Errorf("%d were granted before", n.told[way])
		}
		n.told[way] = int(a.Value)
		c.send(int(a.Peer), Event{Kind: Credited, Peer: int32(rank), Value: a.Value})
	case Tell, Warn:
		kind := Heard
		if place := int(a.Value) + 1; place <= n.told[a.Kind.String()] {
			return fmt.Errorf("%d was told before", place-1)
		} else {
			n.told[a.Kind.String()] = place
		}
		if a.Kind == Warn {
			kind = PeerFailed
		}
		for peer := range c.nodes {
			if peer != rank {
				c.send(peer, Event{Kind: kind, Peer: int32(rank), Value: a.Value})
			}
		}
	case End:
		n.ended = true
		if c.failed < 0 && c.finished != c.tasks {
			return fmt.Errorf("%d of %d tasks of all ranks are finished", c.finished, c.tasks)
		}
	}
	return nil
}

func (c *cluster) launch(rank, i int, stream int32) error {
	n := c.nodes[rank]
	t := &n.tasks[i]
	if n.launched[i] {
		return fmt.Errorf("it was launched before")
	}
	for other, used := range n.flying {
		if used == stream || stream < 0 || int(stream) >= n.limits.Streams {
			return fmt.Errorf("stream %d is task %d's", stream, other)
		}
		if n.limits.Policy == Windowed && other/n.limits.Window != i/n.limits.Window {
			return fmt.Errorf("task %d is of another window", other)
		}
	}
	if last, ok := n.places[t.Channel]; ok && last > t.Place {
		return fmt.Errorf("it comes after place %d of its channel", last)
	}
	if n.limits.Policy == Scripted && int(t.Place) >= n.script {
		return fmt.Errorf("the script lets places before %d be admitted", n.script)
	}
	if err := n.takeWires(rank, i); err != nil {
		return err
	}
	if err := c.checkCredits(t, n.limits.Policy); err != nil {
		return err
	}
	n.places[t.Channel] = t.Place
	n.launched[i], n.flying[i] = true, stream
	n.held += n.staging[i]
	c.cross(rank, i)
	return nil
}

// takeWires checks that each wire of a task is free here, and used in the order
// of ordinals.
func (n *node) takeWires(rank, i int) error {
	t := &n.tasks[i]
	use := func(e Edge, way string) error {
		if e.Rank < 0 {
			return nil
		}
		wire := fmt.Sprint(way, e.Rank, " wire ", int(e.Ordinal)%n.limits.Wires)
		if last, ok := n.wires[wire]; ok && last != i && (!n.arrivals[last] || n.tasks[last].Place > t.Place) {
			return fmt.Errorf("%s is task %d's", wire, last)
		}
		n.wires[wire] = i
		return nil
	}
	errs := []error{use(t.AddFrom, "from "), use(t.From, "from "), use(t.AddTo, "to ")}
	for _, e := range t.To {
		errs = append(errs, use(e, "to "))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCredits checks that those have admitted a bucket whom a sender must wait
// for.
func (c *cluster) checkCredits(t *Task, policy Policy) error {
	if policy != Credits {
		return nil
	}
	wait := []Edge{t.AddTo}
	for _, e := range t.To {
		if !slices.Contains(c.plan.Channels[t.Channel].Parts, e.Rank) {
			wait = append(wait, e)
		}
	}
	for _, e := range wait {
		if e.Rank < 0 {
			continue
		}
		if other := c.nodes[e.Rank]; !other.launched[other.taskOf[t.Bucket]] {
			return fmt.Errorf("rank %d has not admitted it", e.Rank)
		}
	}
	return nil
}

func (c *cluster) finalize(rank, i int, stream int32) error {
	n := c.nodes[rank]
	t := &n.tasks[i]
	if s, ok := n.flying[i]; !ok || s != stream || !n.arrivals[i] || !t.Lands || n.over[i] {
		return fmt.Errorf("it has not arrived, or not here")
	}
	if c.publish != AtOnce {
		for place := range t.Place {
			if b := c.plan.Order[place]; c.arrived[b] != c.parties[b] {
				return fmt.Errorf("bucket %d at place %d has not arrived on all ranks", b, place)
			} else if c.publish == OneByOne && c.written[b] != c.parties[b] {
				return fmt.Errorf("bucket %d at place %d has not been written on all ranks", b, place)
			}
		}
		if c.failed >= 0 && int(t.Place) > c.failed {
			return fmt.Errorf("the one at place %d has failed", c.failed)
		}
	}
	if !t.Source {
		c.writing[t.Bucket]++
	}
	c.mostWriting = max(c.mostWriting, len(c.writing))
	c.send(rank, Event{Kind: Finished, Task: int32(i)})
	return nil
}

// endWrite has a bucket be written at a rank, or fail to be, where all ranks
// learn of that before they write later ones. Who has copied it from its source
// answers.
func (c *cluster) endWrite(rank int, e *Event) {
	n := c.nodes[rank]
	t := &n.tasks[e.Task]
	if !t.Source {
		if c.writing[t.Bucket]--; c.writing[t.Bucket] == 0 {
			delete(c.writing, t.Bucket)
		}
	}
	if n.ended {
		return
	}
	copied := c.plan.Direct(t) && !t.Source
	if c.publish == OneByOne || copied {
		c.failAt--
		if c.failAt == -1 {
			e.Kind, c.failed = Failed, int(t.Place)
			return
		}
	}
	if copied {
		c.answer(t.Bucket, int32(rank))
	}
}

// checkBooks checks what is held against the limits, and the lemma of the
// proof: there is room for the first task that is not admitted beside all later
// ones that are in flight.
func (n *node) checkBooks() error {
	n.peakBytes, n.peakBuckets = max(n.peakBytes, n.held), max(n.peakBuckets, len(n.flying))
	l, channels, entries := &n.limits, make(map[int32]int), 0
	first := slices.Index(n.launched, false)
	later, laterBytes := 0, int64(0)
	for i := range n.flying {
		entries += len(n.m.plan.Buckets[n.tasks[i].Bucket].Entries)
		if channels[n.tasks[i].Channel]++; channels[n.tasks[i].Channel] > l.MaxInFlight {
			return fmt.Errorf("%d buckets of a channel are in flight", channels[n.tasks[i].Channel])
		}
		if first >= 0 && i > first {
			later++
			laterBytes += n.staging[i]
		}
	}
	n.peakEntries = max(n.peakEntries, entries)
	if most := l.MaxBuckets; most > 0 && len(n.flying) > most || l.Policy == Serialized && len(n.flying) > 1 {
		return fmt.Errorf("%d buckets are in flight", len(n.flying))
	}
	if l.MaxBytes > 0 && n.held > l.MaxBytes && len(n.flying) > 1 {
		return fmt.Errorf("%d bytes are held by %d buckets, of %d", n.held, len(n.flying), l.MaxBytes)
	}
	if s := n.m.Status(); s.HeldBytes != n.held || s.InFlight != len(n.flying) {
		return fmt.Errorf("%d bytes of %d buckets are held, the machine says %+v", n.held, len(n.flying), s)
	}
	if later == 0 || n.ended {
		return nil
	}
	if l.MaxBytes > 0 && laterBytes+n.staging[first] > l.MaxBytes || l.MaxBuckets > 0 && later >= l.MaxBuckets || later >= l.Streams {
		return fmt.Errorf("%d later buckets of %d bytes leave no room for task %d", later, laterBytes, first)
	}
	return nil
}

// checkStats compares the machine's figures with the test's own.
func (n *node) checkStats(now int64) error {
	s, total := n.m.Stats(now), int64(0)
	for why, nanos := range s.Stalls {
		if total += nanos; nanos < 0 || nanos > 0 && Stall(why) == NoStall {
			return fmt.Errorf("a stall of %v lasts %d ns", Stall(why), nanos)
		}
	}
	mean, milli := int64(0), int64(0)
	if s.Nanos > 0 {
		mean, milli = n.area/s.Nanos, n.milli/s.Nanos
	}
	if s.PeakBytes != n.peakBytes || s.PeakBuckets != n.peakBuckets || s.PeakDescriptors != n.peakEntries || s.MeanBytes != mean || s.MeanBucketsMilli != milli || total > s.Nanos {
		return fmt.Errorf("the figures are %+v, should be peak %d, %d, %d and mean %d, %d", s, n.peakBytes, n.peakBuckets, n.peakEntries, mean, milli)
	}
	return nil
}

// randomCase is a plan of a mesh, and what all its ranks share.
func randomCase(rng *rand.Rand) (*Plan, Limits, error) {
	ranks := 1 + rng.IntN(8)
	switch rng.IntN(20) {
	case 0:
		ranks = 1 + rng.IntN(60)
	case 1, 2:
		ranks = 2
	}
	entries := randomEntries(rng, ranks, rng.IntN(60))
	if rng.IntN(3) == 0 {
		entries = meshEntries(rng, ranks)
	}
	p, err := Build(ranks, entries, rng.Int64N(3)*rng.Int64N(3000))
	if err == nil && rng.IntN(2) == 0 {
		err = p.SetOrder(randomOrder(rng, len(p.Buckets)))
	}
	return p, Limits{Wires: 1 + rng.IntN(4), Policy: Policy(rng.IntN(5)), Publish: Publish(rng.IntN(3)), Oversize: Alone}, err
}

// meshEntries go from one half of the ranks to the other, each to a few.
func meshEntries(rng *rand.Rand, ranks int) []Entry {
	var entries []Entry
	from, to, transport := 1+rng.IntN(ranks), 1+rng.IntN(ranks), Transport(rng.IntN(4))
	for row := range 1 + rng.IntN(6) {
		for s := range from {
			for d := range to {
				if (row+s+d)%(1+rng.IntN(3)) == 0 {
					entries = append(entries, Entry{
						Source: int32(s), Destinations: []int32{int32((ranks - 1 - d + row) % ranks)}, Tensor: uint32(row), Transport: transport,
						Planes: 1, Rows: 1 + rng.Int64N(3), RowBytes: 64 * (1 + rng.Int64N(30)),
					})
				}
			}
		}
	}
	return entries
}

// TestRandomClustersEnd runs random plans with random limits on random timings.
func TestRandomClustersEnd(t *testing.T) {
	stalls, skipped := [StallCount]int64{}, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p, shared, err := randomCase(rng)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCluster(rng, p, shared)
		if err == nil {
			err = c.run()
		}
		if err != nil {
			t.Fatalf("seed %d, %d ranks, %d buckets, %+v: %v", seed, p.Ranks, len(p.Buckets), shared, err)
		}
		for _, n := range c.nodes {
			s := n.m.Stats(c.now)
			skipped += s.Skipped
			for why, nanos := range s.Stalls {
				stalls[why] += nanos
			}
		}
	}
	for why := NoStall + 1; why < StallCount; why++ {
		if stalls[why] == 0 {
			t.Errorf("no bucket ever waited for %v: the cases are too easy", why)
		}
	}
	if skipped == 0 {
		t.Error("no bucket was ever admitted before an earlier one: the cases are too easy")
	}
}

// TestRandomClustersFail has an arrival fail in each: all ranks end, and nothing
// later is published in order.
func TestRandomClustersFail(t *testing.T) {
	failures := 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 11))
		p, shared, err := randomCase(rng)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCluster(rng, p, shared)
		if err != nil {
			t.Fatal(err)
		}
		c.failAt = rng.IntN(1 + c.tasks)
		if err := c.run(); err != nil {
			t.Fatalf("seed %d, %d ranks, %+v: %v", seed, p.Ranks, shared, err)
		}
		if c.failed < 0 {
			continue
		}
		failures++
		for rank, n := range c.nodes {
			if s := n.m.Status(); s.FailedPlace != c.failed {
				t.Fatalf("seed %d: rank %d says that place %d failed, not %d", seed, rank, s.FailedPlace, c.failed)
			}
		}
	}
	if failures < 500 {
		t.Errorf("only %d runs failed", failures)
	}
}

// TestMachinesRunAgain resets a cluster's machines and has them do it all again.
func TestMachinesRunAgain(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 13))
		p, shared, err := randomCase(rng)
		if err != nil {
			t.Fatal(err)
		}
		first, err := newCluster(rng, p, shared)
		if err != nil {
			t.Fatal(err)
		}
		first.failAt = rng.IntN(1+2*first.tasks) - 1
		if err := first.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, err := newCluster(rng, p, shared)
		if err != nil {
			t.Fatal(err)
		}
		again.now = first.now
		for rank, n := range again.nodes {
			n.m, n.limits, n.staging = first.nodes[rank].m, first.nodes[rank].limits, first.nodes[rank].staging
			n.m.Reset(again.now)
		}
		if err := again.run(); err != nil {
			t.Fatalf("seed %d, again: %v", seed, err)
		}
	}
}

// TestClusterFindsFaults checks the checker: books that are wrong are told.
func TestClusterFindsFaults(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p, err := Build(3, meshEntries(rng, 3), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		spoil      func(c *cluster)
	}{
		{"a rank that is told nothing", "nothing is on its way", func(c *cluster) { c.nodes[0].m.ended = true }},
		{"another budget than the machine's", "buckets are in flight", func(c *cluster) {
			for _, n := range c.nodes {
				n.limits.MaxBuckets = 1
			}
		}},
		{"a passage that is never served", "nothing is on its way", func(c *cluster) { c.lost = 1 }},
	} {
		cluster, err := newCluster(rand.New(rand.NewPCG(5, 6)), p, Limits{Wires: 4})
		if err != nil {
			t.Fatal(err)
		}
		for rank, n := range cluster.nodes {
			n.limits = Limits{Wires: 4, MaxInFlight: 4, Streams: 8}
			if n.m, err = NewMachine(p, rank, n.tasks, n.staging, n.limits); err != nil {
				t.Fatal(err)
			}
		}
		c.spoil(cluster)
		if err := cluster.run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// anyEvents gives one machine of a random plan events as the input has them, and
// checks limits and books after each.
func anyEvents(seed uint64, input []byte) error {
	rng := rand.New(rand.NewPCG(seed, 17))
	p, shared, err := randomCase(rng)
	if err != nil {
		return err
	}
	c, err := newCluster(rng, p, shared)
	if err != nil {
		return err
	}
	rank := rng.IntN(p.Ranks)
	n, now := c.nodes[rank], int64(0)
	for b := bytesOf(input); len(b) > 0; {
		e := Event{Kind: EventKind(b.byte() % 16), Task: int32(int8(b.byte())) / 4, Peer: int32(int8(b.byte())) / 8, Value: uint64(b.byte())}
		if e.Value == 255 {
			e.Value = 1<<64 - 1
		}
		if e.Kind >= Failed && e.Value%8 != 0 {
			e.Kind = Arrived + e.Kind%2 // or runs would be over soon
		}
		if e.Kind == Begin {
			n.last = now
		}
		now += int64(e.Value%16) - 2
		for _, a := range n.m.Step(now, e, nil) {
			if err := n.follow(a); err != nil {
				return fmt.Errorf("%v %v: %w", e, a, err)
			}
		}
		if err := n.checkBooks(); err != nil {
			return fmt.Errorf("%v: %w", e, err)
		}
		if s := n.m.Stats(now); s.Received > n.expected() || s.PeakBytes != n.peakBytes || s.PeakBuckets != n.peakBuckets || s.Nanos < 0 || s.MeanBytes > s.PeakBytes || s.MeanBytes < 0 {
			return fmt.Errorf("%v: the figures are %+v", e, s)
		}
	}
	return nil
}

// expected is what the tasks that were launched receive in all.
func (n *node) expected() (bytes int64) {
	for i, t := range n.tasks {
		if !n.launched[i] {
			continue
		}
		if t.From.Rank >= 0 {
			bytes += t.Bytes
		}
		if t.AddFrom.Rank >= 0 {
			bytes += t.Bytes
		}
	}
	return bytes
}

// follow keeps the books of one machine by what it asks for.
func (n *node) follow(a Action) error {
	i := int(a.Task)
	switch a.Kind {
	case Launch:
		for other, stream := range n.flying {
			if stream == a.Stream {
				return fmt.Errorf("the stream is task %d's", other)
			}
		}
		if n.launched[i] {
			return fmt.Errorf("it was launched before")
		}
		n.launched[i], n.flying[i] = true, a.Stream
		n.held += n.staging[i]
	case Finalize:
		if _, ok := n.flying[i]; !ok || !n.tasks[i].Lands || n.over[i] {
			return fmt.Errorf("it is not in flight, or does not land, or is being written")
		}
		n.over[i] = true
	case Release:
		if _, ok := n.flying[i]; !ok || n.over[i] != n.tasks[i].Lands {
			return fmt.Errorf("it is not in flight, or has not been written")
		}
		delete(n.flying, i)
		n.held -= n.staging[i]
	case End:
		n.ended = true
	}
	return nil
}
