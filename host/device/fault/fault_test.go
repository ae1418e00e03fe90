package fault_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/fault"
	"github.com/ccrun/ccrun/host/op"
)

// slow is a device whose operations can go wrong.
type slow struct {
	device.Device
	ending func(kind op.Kind, peer int, nanos int64) device.Ending
}

func (s *slow) Inject(ending func(kind op.Kind, peer int, nanos int64) device.Ending) {
	s.ending = ending
}

func (s *slow) longer(kind op.Kind, peer int, nanos int64) int64 {
	return s.ending(kind, peer, nanos).LongerNanos
}

// TestEndings shows what faults make of a row of operations of rank 2, each of
// which has taken 1000 ns: KIND@PEER.
func TestEndings(t *testing.T) {
	for _, c := range []struct{ fault, ops, want string }{
		{"delay=2:3x", "copy put@1 get@1 recv@3 reduce@0", "2000 2000 2000 2000 2000"},
		{"delay=2:3x", "signal@1 fill verify digest gemm", "0 0 0 0 0"},
		{"delay=2:1.5x,kind=signal+gemm", "signal@1 gemm put@1", "500 500 0"},
		{"delay=*:2us", "put@1", "2000"},
		{"delay=2:1us,nth=3", "put@1 signal@1 put@1 put@1 put@1", "0 0 0 1000 0"},
		{"delay=2:1us,peer=3", "put@1 put@3 copy", "0 1000 0"},
		{"delay=2:1us,peer=3,nth=2", "put@3 put@1 put@3", "0 0 1000"},
		{"delay=2:2x;delay=2:1us,kind=put", "get@1 put@1", "1000 2000"},
		{"delay=2:1us,p=1", "put@1 put@1", "1000 1000"},
		{"hang=2", "signal@1 put@1 put@1", "0 forever 0"},
		{"hang=2@3;delay=2:1us", "put@1 put@1 put@1", "1000 1000 forever"},
		{"kill=2@2", "put@1 put@1 put@1", "0 dead 0"},
		{"kill=*,kind=signal", "put@1 signal@1", "0 dead"},
		{"delay=2:2us", "copy_box recv@1 get_box@1", "2000 2000 2000"},
		{"corrupt=2", "copy put@1 recv@1 copy_box signal@1 fill", "wrong wrong wrong wrong 0 0"},
		{"corrupt=2@2,kind=recv+fill,peer=1", "recv@1 recv@0 fill recv@1 recv@1", "0 0 0 wrong 0"},
		{"fail=2", "signal@1 put@1 put@1", "0 fails 0"},
		{"fail=2,kind=recv,peer=3,nth=2", "recv@3 recv@1 recv@3 recv@3", "0 0 fails 0"},
		{"fail=2;corrupt=2,nth=2;delay=2:1us", "put@1 put@1 put@1", "fails wrong 1000"},
		{"corrupt=2;delay=2:1us", "put@1", "wrong"},
		{"fail=2;hang=2", "put@1 put@1", "forever 0"},
		{"hang=2;fail=2", "put@1 put@1", "forever 0"},
	} {
		if got := endings(t, c.fault, c.ops); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.fault, c.ops, got, c.want)
		}
	}
}

// endings lists how operations end: how much longer they take, unless something
// else happens to them.
func endings(t *testing.T, text, ops string) string {
	t.Helper()
	faults, err := fault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	dead := false
	d := &slow{}
	if _, err := fault.Wrap(d, fault.Config{Faults: faults, Rank: 2, Seed: 1, Kill: func() { dead = true }}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range strings.Fields(ops) {
		name, at, _ := strings.Cut(o, "@")
		peer := -1
		if at != "" {
			peer = int(at[0] - '0')
		}
		dead = false
		switch end := d.ending(kindOf(name), peer, 1000); {
		case dead:
			got = append(got, "dead")
		case end.Fail:
			got = append(got, "fails")
		case end.Corrupt:
			got = append(got, "wrong")
		case end.LongerNanos == math.MaxInt64:
			got = append(got, "forever")
		default:
			got = append(got, fmt.Sprint(end.LongerNanos))
		}
	}
	return strings.Join(got, " ")
}

func kindOf(name string) op.Kind {
	k := op.None
	for k.String() != name {
		k++
	}
	return k
}

// TestChance holds that chance follows the seed, the rank and the fault, and
// is about as likely as it was asked to be.
func TestChance(t *testing.T) {
	faults, err := fault.Parse("delay=*:1ns,p=0.25;delay=*:1us,p=0.25")
	if err != nil {
		t.Fatal(err)
	}
	row := func(rank int, seed uint64) (row string, hits [2]int) {
		d := &slow{}
		if _, err := fault.Wrap(d, fault.Config{Faults: faults, Rank: rank, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		for range 4000 {
			nanos := d.longer(op.Put, 0, 1)
			row += fmt.Sprint(nanos, " ")
			hits[0] += int(nanos % 1000)
			hits[1] += int(nanos / 1000)
		}
		return row, hits
	}
	first, hits := row(0, 1)
	for i, n := range hits {
		if n < 900 || n > 1100 {
			t.Errorf("fault %d hit %d of 4000, with probability 0.25", i, n)
		}
	}
	if again, _ := row(0, 1); again != first {
		t.Error("the same seed gives something else")
	}
	for _, other := range [][2]int{{1, 1}, {0, 2}} {
		if o, _ := row(other[0], uint64(other[1])); o == first {
			t.Errorf("rank %d with seed %d has the same chances as rank 0 with seed 1", other[0], other[1])
		}
	}
	if strings.Count(first, "1001 ") > 350 { // 250 if they are independent
		t.Error("both faults hit together")
	}
}

// TestJitter holds that each operation takes longer by a time of its own, which
// follows the seed and spreads over all that was allowed.
func TestJitter(t *testing.T) {
	faults, err := fault.Parse("jitter=*:5%")
	if err != nil {
		t.Fatal(err)
	}
	const operations, nanos, most = 4000, 1_000_000, 50_000
	row := func(seed uint64) (sum int64, drawn map[int64]bool) {
		d := &slow{}
		if _, err := fault.Wrap(d, fault.Config{Faults: faults, Rank: 2, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		drawn = make(map[int64]bool)
		for range operations {
			more := d.longer(op.Gemm, -1, nanos)
			if more < 0 || more > most {
				t.Fatalf("an operation of %d ns takes %d ns longer, with a jitter of 5 %%", nanos, more)
			}
			sum += more
			drawn[more] = true
		}
		return sum, drawn
	}
	sum, drawn := row(1)
	if mean := sum / operations; mean < most*45/100 || mean > most*55/100 || len(drawn) < operations*9/10 {
		t.Errorf("%d different delays of %d ns on average, want nearly all different and %d", len(drawn), sum/operations, most/2)
	}
	if again, _ := row(1); again != sum {
		t.Error("the same seed gives something else")
	}
	if other, _ := row(2); other == sum {
		t.Error("another seed gives the same")
	}
}

func TestWrap(t *testing.T) {
	m := &memory{}
	for _, text := range []string{"", "delay=1:3x", "kill=3"} { // of others
		if d := wrap(t, m, text); d != device.Device(m) {
			t.Errorf("%q: rank 2 has another device", text)
		}
	}
	for text, want := range map[string]error{"delay=2:3x": device.ErrMissing, "hang=*": device.ErrMissing, "corrupt=2": device.ErrMissing, "fail=2": device.ErrMissing} {
		faults, err := fault.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := fault.Wrap(m, fault.Config{Faults: faults, Rank: 2}); !errors.Is(err, want) {
			t.Errorf("%s of a device that cannot: %v, %v", text, d, err)
		}
	}
	if d, err := fault.Wrap(&slow{}, fault.Config{Faults: []fault.Fault{{Effect: fault.Kill, Rank: 2}}, Rank: 2}); err == nil {
		t.Errorf("kill with nobody to do it: %v", d)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		fault string
		size  int
		want  string
	}{
		{"reduction", 1, ""},
		{"delay=3:3x", 4, ""},
		{"delay=*:3x;kill=4", 4, "there is no rank 4 among 4"},
		{"delay=0:3x,peer=7", 4, "there is no rank 7 among 4"},
	} {
		faults, err := fault.Parse(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := fault.Check(faults, c.size); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.fault, got, c.want)
		}
	}
}
