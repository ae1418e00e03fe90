package module

import (
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
)

func newTable(limit int) *table[int] { return &table[int]{kind: bufferHandle, limit: limit} }

// A random life of a table against a map that remembers every handle there
// ever was.
func TestTableAgainstMap(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		table, live, dead := newTable(8), map[uint64]int{}, map[uint64]bool{}
		for n := range 500 {
			if random.IntN(2) == 0 && table.full() == nil {
				h := table.add(n)
				if _, twice := live[h]; twice || dead[h] || h == 0 {
					t.Fatalf("handle %#x was given out before", h)
				}
				live[h] = n
			}
			for h := range live {
				if random.IntN(4) == 0 {
					if err := table.remove(h); err != nil {
						t.Fatalf("remove %#x: %v", h, err)
					}
					delete(live, h)
					dead[h] = true
				}
			}
			checkTable(t, table, live, dead)
		}
	}
}

func checkTable(t *testing.T, table *table[int], live map[uint64]int, dead map[uint64]bool) {
	t.Helper()
	for h, want := range live {
		if got, err := table.get(h); got != want || err != nil {
			t.Fatalf("%#x: %d, %v, want %d", h, got, err, want)
		}
	}
	for h := range dead {
		if _, err := table.get(h); err != errStale {
			t.Fatalf("%#x: %v, want stale", h, err)
		}
	}
	count := 0
	for h, v := range table.all() {
		if live[h] != v {
			t.Fatalf("all gives %#x: %d, want %d", h, v, live[h])
		}
		count++
	}
	if count != len(live) || table.live != len(live) || (table.full() != nil) != (len(live) >= table.limit) {
		t.Fatalf("%d of %d live, counted %d, full %v", count, len(live), table.live, table.full())
	}
}

func TestBadHandles(t *testing.T) {
	table := newTable(2)
	good := table.add(1)
	for _, h := range []uint64{0, good + 1, good + 1<<32, good + 1<<56, good - 1<<32, good | 1<<63, ^uint64(0), 1} {
		if _, err := table.get(h); errnoOf(err) != abi.BadHandle {
			t.Errorf("%#x: %v, want bad_handle", h, err)
		}
		if err := table.remove(h); errnoOf(err) != abi.BadHandle {
			t.Errorf("remove %#x: %v, want bad_handle", h, err)
		}
	}
	if got, err := table.get(good); got != 1 || err != nil {
		t.Errorf("the good one: %d, %v", got, err)
	}
}

// A slot whose generations are used up is retired, since the next one would
// make an old handle good again.
func TestGenerationsRunOut(t *testing.T) {
	table := newTable(2)
	first := table.add(1)
	if err := table.remove(first); err != nil {
		t.Fatal(err)
	}
	table.slots[0].generation = maxGeneration - 1
	last := table.add(2)
	if err := table.remove(last); err != nil {
		t.Fatal(err)
	}
	next := table.add(3)
	if uint32(next) == uint32(last) {
		t.Errorf("slot %d is used again as %#x", uint32(next), next)
	}
	if _, err := table.get(last); err != errStale {
		t.Errorf("%#x: %v, want stale", last, err)
	}
}
