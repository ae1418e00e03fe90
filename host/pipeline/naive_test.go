package pipeline

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// toy runs tasks by a rule that looks at one rank only: all those in flight, and
// those in the rank's own order that are not. A bucket is over when all its
// ranks have launched it. It gives how many tasks are left when nobody can go
// on, and who is stuck with what.
type toy struct {
	orders [][]int32 // by rank: buckets
	budget int       // buckets in flight at a rank
	// may is asked before a rank launches a bucket; nil: only the first in its
	// order that is not launched.
	may func(t *toy, rank int, bucket int32) bool

	launched []map[int32]bool
	over     map[int32]bool
}

func (t *toy) run() (left int) {
	t.launched, t.over = make([]map[int32]bool, len(t.orders)), make(map[int32]bool)
	for rank := range t.orders {
		t.launched[rank] = make(map[int32]bool)
	}
	for moved := true; moved; {
		moved = false
		for rank := range t.orders {
			for t.launchOne(rank) {
				moved = true
			}
		}
		for _, order := range t.orders {
			for _, b := range order {
				if !t.over[b] && t.everywhere(b) {
					t.over[b], moved = true, true
				}
			}
		}
	}
	for _, order := range t.orders {
		for _, b := range order {
			if !t.over[b] {
				left++
			}
		}
	}
	return left
}

func (t *toy) everywhere(bucket int32) bool {
	for rank, order := range t.orders {
		if slices.Contains(order, bucket) && !t.launched[rank][bucket] {
			return false
		}
	}
	return true
}

func (t *toy) launchOne(rank int) bool {
	flying := 0
	for b := range t.launched[rank] {
		if !t.over[b] {
			flying++
		}
	}
	if flying >= t.budget {
		return false
	}
	for _, b := range t.orders[rank] {
		if t.launched[rank][b] {
			continue
		}
		if t.may == nil || t.may(t, rank, b) {
			t.launched[rank][b] = true
			return true
		}
		if t.may == nil {
			return false
		}
	}
	return false
}

// circle is a mesh in which each rank sends to the next: bucket r goes from rank
// r to the one after it.
func circle(t *testing.T, ranks int) *Plan {
	t.Helper()
	entries := make([]Entry, ranks)
	for r := range entries {
		entries[r] = Entry{Source: int32(r), Destinations: []int32{int32((r + 1) % ranks)}, Planes: 1, Rows: 1, RowBytes: 256}
	}
	p, err := Build(ranks, entries, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNaiveBudgetDeadlocks gives each rank of a circle a budget of one bucket.
// If each begins with its own, as a budget by itself lets it, nobody receives:
// they wait for each other for ever. In one order for all they come through.
func TestNaiveBudgetDeadlocks(t *testing.T) {
	const ranks = 4
	p := circle(t, ranks)
	naive := toy{budget: 1, orders: make([][]int32, ranks)}
	for r := range naive.orders { // what it sends, then what it receives
		naive.orders[r] = []int32{int32(r), int32((r + ranks - 1) % ranks)}
	}
	if left := naive.run(); left != 2*ranks {
		t.Errorf("the naive budget leaves %d tasks, not all %d", left, 2*ranks)
	}
	naive.budget = 2
	if left := naive.run(); left != 0 {
		t.Errorf("with room for both it leaves %d tasks: the mesh is not what it should be", left)
	}
	ended(t, p, Limits{MaxBuckets: 1, Wires: 1, MaxInFlight: 1, Streams: 1})
	ended(t, p, Limits{MaxBytes: 256, Wires: 1, MaxInFlight: 1, Streams: 2})
}

// ended runs a cluster with the same limits on all ranks.
func ended(t *testing.T, p *Plan, l Limits) {
	t.Helper()
	for seed := range uint64(50) {
		c, err := newCluster(rand.New(rand.NewPCG(seed, 1)), p, l)
		if err != nil {
			t.Fatal(err)
		}
		for rank, n := range c.nodes {
			n.limits = l
			if n.m, err = NewMachine(p, rank, n.tasks, n.staging, l); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestSkippingWithoutReserveDeadlocks shows what the reserve is for. Bucket 0
// goes from rank 0 to 1, bucket 1 from 1 to 2, bucket 2 from 2 to 0, and each
// rank has room for one. Ranks 1 and 2 begin with what is first in the order
// for them, but rank 0's first bucket is held up for a moment (by a credit, or
// its channel). If it takes bucket 2 meanwhile, its room is gone when bucket 0
// could go: rank 1 waits in bucket 0 for rank 0, which waits in bucket 2 for
// rank 2, which waits in bucket 1 for rank 1.
func TestSkippingWithoutReserveDeadlocks(t *testing.T) {
	p := circle(t, 3)
	held := true
	rule := func(reserve bool) func(*toy, int, int32) bool {
		return func(c *toy, rank int, bucket int32) bool {
			if bucket == 0 && rank == 0 && held {
				held = false
				return false
			}
			first := slices.IndexFunc(c.orders[rank], func(b int32) bool { return !c.launched[rank][b] })
			return !reserve || c.orders[rank][first] == bucket // with one bucket of room, no later one leaves any
		}
	}
	toys := []toy{{budget: 1, may: rule(false)}, {budget: 1, may: rule(true)}}
	for i := range toys {
		held = true
		for rank := range p.Ranks {
			var order []int32
			for _, task := range p.Tasks(rank) {
				order = append(order, task.Bucket)
			}
			toys[i].orders = append(toys[i].orders, order)
		}
	}
	if left := toys[0].run(); left != 6 {
		t.Errorf("without the reserve %d of 6 tasks are left", left)
	}
	held = true
	if left := toys[1].run(); left != 0 {
		t.Errorf("with it %d tasks are left", left)
	}
	for _, policy := range []Policy{AllAtOnce, Credits} {
		ended(t, p, Limits{MaxBuckets: 1, Wires: 1, MaxInFlight: 1, Streams: 1, Policy: policy})
	}
}
