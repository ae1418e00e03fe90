package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// randomSet is an ascending list of distinct ranks.
func randomSet(rng *rand.Rand, ranks, most int) []int32 {
	picked := rng.Perm(ranks)[:1+rng.IntN(min(most, ranks))]
	slices.Sort(picked)
	list := make([]int32, len(picked))
	for i, r := range picked {
		list[i] = int32(r)
	}
	return list
}

// randomEntries are entries of a few kinds among a few groups of ranks, so that
// many share channels.
func randomEntries(rng *rand.Rand, ranks, count int) []Entry {
	kinds := make([]Entry, 1+rng.IntN(8))
	for k := range kinds {
		e := &kinds[k]
		e.Destinations = randomSet(rng, ranks, 4)
		e.Source = int32(rng.IntN(ranks))
		e.Transport = Transport(rng.IntN(4))
		e.Type, e.Red = op.F32, op.Sum
		if rng.IntN(3) == 0 {
			e.Parts = randomSet(rng, ranks, 5)
			e.Source = e.Parts[rng.IntN(len(e.Parts))]
			e.Type = []op.Dtype{op.F32, op.BF16}[rng.IntN(2)]
			if len(e.Parts) > 1 {
				e.Transport %= Direct
			}
		}
		if rng.IntN(6) == 0 {
			e.Destinations = []int32{e.Source}
		}
	}
	entries := make([]Entry, count)
	for i := range entries {
		e := kinds[rng.IntN(len(kinds))]
		e.Tensor, e.Cell = uint32(i/3), uint32(rng.IntN(3))
		e.Planes, e.Rows, e.RowBytes = 1+rng.Int64N(2), 1+rng.Int64N(8), 4*(1+rng.Int64N(64))
		entries[i] = e
	}
	return entries
}

// oracleBucket is a bucket as the naive rule has it.
type oracleBucket struct {
	key     string
	closed  int // entry after which no other was joined
	entries []int32
	bytes   int64
}

// oracle joins entries in the plainest way: each key by itself.
func oracle(entries []Entry, bucketBytes int64) (formed []oracleBucket, keys []string) {
	keyOf := func(e *Entry) string {
		k := fmt.Sprint(e.Source, e.Destinations, e.Transport, e.Parts)
		if len(e.Parts) > 0 {
			k += fmt.Sprint(e.Type, e.Red)
			if len(e.Destinations) == 1 && e.Destinations[0] == e.Source {
				k += fmt.Sprint(" cell ", e.Cell)
			}
		}
		return k
	}
	for i := range entries {
		if k := keyOf(&entries[i]); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for at, k := range keys {
		var open *oracleBucket
		var mine []oracleBucket
		for i := range entries {
			e := &entries[i]
			if keyOf(e) != k {
				continue
			}
			size := e.Planes * e.Rows * e.RowBytes
			b := oracleBucket{key: k, closed: i, entries: []int32{int32(i)}, bytes: size}
			switch {
			case bucketBytes == 0 || size >= bucketBytes:
				mine = append(mine, b)
			case open == nil:
				open = &b
			default:
				open.entries, open.bytes, open.closed = append(open.entries, int32(i)), open.bytes+size, i
			}
			if open != nil && open.bytes >= bucketBytes {
				mine, open = append(mine, *open), nil
			}
		}
		if open != nil {
			open.closed = len(entries) + at
			mine = append(mine, *open)
		}
		formed = append(formed, mine...)
	}
	slices.SortFunc(formed, func(a, b oracleBucket) int { return a.closed - b.closed })
	return formed, keys
}

// ends are who sends and who receives a bucket of an entry: the parts along
// their chain, the whole from its source or along its own.
func ends(e *Entry) (senders, receivers []int32) {
	var sums, wholes []int32
	for _, r := range e.Parts {
		if r != e.Source {
			sums = append(sums, r)
		}
	}
	sums = append(sums, e.Source)
	wholes = append(wholes, e.Source)
	for _, d := range e.Destinations {
		if d != e.Source {
			wholes = append(wholes, d)
		}
	}
	senders, receivers = slices.Clone(sums[:len(sums)-1]), append(slices.Clone(sums[1:]), wholes[1:]...)
	switch {
	case len(wholes) == 1:
	case e.Transport == Chain:
		senders = append(senders, wholes[:len(wholes)-1]...)
	default:
		senders = append(senders, e.Source)
	}
	return senders, receivers
}

// oracleOrder puts buckets in rounds in the plainest way: it adds up what each
// rank has left to do before each round.
func oracleOrder(ranks int, entries []Entry, formed []oracleBucket, keys []string) (ordered []oracleBucket) {
	left := slices.Clone(formed)
	entryOf := func(b *oracleBucket) *Entry { return &entries[b.entries[0]] }
	for len(left) > 0 {
		sends, receives := make([]int64, ranks), make([]int64, ranks)
		for i := range left {
			senders, receivers := ends(entryOf(&left[i]))
			slices.Sort(senders) // twice in a chain that follows the parts': it counts once
			slices.Sort(receivers)
			for _, r := range slices.Compact(senders) {
				sends[r] += left[i].bytes
			}
			for _, r := range slices.Compact(receivers) {
				receives[r] += left[i].bytes
			}
		}
		var heads []int // the first bucket of each key
		for _, key := range keys {
			if i := slices.IndexFunc(left, func(b oracleBucket) bool { return b.key == key }); i >= 0 {
				heads = append(heads, i)
			}
		}
		urgency := func(i int) []int64 { // of the busier end, then of the other
			senders, receivers := ends(entryOf(&left[i]))
			busiest := []int64{0, 0}
			for _, r := range senders {
				busiest[0] = max(busiest[0], sends[r])
			}
			for _, r := range receivers {
				busiest[1] = max(busiest[1], receives[r])
			}
			slices.Sort(busiest)
			slices.Reverse(busiest)
			return busiest
		}
		distance := func(i int) int {
			e := entryOf(&left[i])
			return (int(e.Destinations[0]) + ranks - int(e.Source)) % ranks
		}
		slices.SortStableFunc(heads, func(a, b int) int {
			return cmp.Or(slices.Compare(urgency(b), urgency(a)), cmp.Compare(distance(a), distance(b)))
		})
		sent, received, taken := make([]bool, ranks), make([]bool, ranks), make(map[int]bool)
		for _, i := range heads {
			senders, receivers := ends(entryOf(&left[i]))
			busy := func(done []bool) func(int32) bool { return func(r int32) bool { return done[r] } }
			if slices.ContainsFunc(senders, busy(sent)) || slices.ContainsFunc(receivers, busy(received)) {
				continue
			}
			for _, r := range senders {
				sent[r] = true
			}
			for _, r := range receivers {
				received[r] = true
			}
			taken[i], ordered = true, append(ordered, left[i])
		}
		var rest []oracleBucket
		for i, b := range left {
			if !taken[i] {
				rest = append(rest, b)
			}
		}
		left = rest
	}
	return ordered
}

// againstOracle compares a plan with the naive one.
func againstOracle(p *Plan, bucketBytes int64) error {
	formed, keys := oracle(p.Entries, bucketBytes)
	ordered := oracleOrder(p.Ranks, p.Entries, formed, keys)
	if len(formed) != len(p.Buckets) {
		return fmt.Errorf("%d buckets, want %d", len(p.Buckets), len(formed))
	}
	channels := make(map[int32]string)
	for b := range formed {
		got := &p.Buckets[b]
		if !slices.Equal(got.Entries, formed[b].entries) || got.Bytes != formed[b].bytes {
			return fmt.Errorf("bucket %d holds %v, %d bytes, want %v, %d", b, got.Entries, got.Bytes, formed[b].entries, formed[b].bytes)
		}
		if at := &p.Buckets[p.Order[b]]; !slices.Equal(at.Entries, ordered[b].entries) || int(at.Place) != b {
			return fmt.Errorf("place %d has %v, want %v", b, at.Entries, ordered[b].entries)
		}
		if key, ok := channels[got.Channel]; ok && key != formed[b].key {
			return fmt.Errorf("channel %d is of %q and %q", got.Channel, key, formed[b].key)
		}
		channels[got.Channel] = formed[b].key
	}
	if distinct := slices.Compact(slices.Sorted(maps.Values(channels))); len(distinct) != len(p.Channels) || len(channels) != len(p.Channels) {
		return fmt.Errorf("%d channels for %d keys", len(p.Channels), len(distinct))
	}
	return nil
}

// TestBuildAgainstOracle joins random entries both ways.
func TestBuildAgainstOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		ranks, bucketBytes := 1+rng.IntN(9), rng.Int64N(4)*rng.Int64N(3000)
		p, err := Build(ranks, randomEntries(rng, ranks, rng.IntN(40)), bucketBytes)
		if err == nil {
			err = againstOracle(p, bucketBytes)
		}
		if err != nil {
			t.Fatalf("case %d: %v", n, err)
		}
	}
}

// partners checks that each rank's tasks are what the others expect of it: both
// ends of each way count alike, each bucket reaches each destination once, and
// the chain of parts visits each once.
func partners(p *Plan) error {
	type end struct {
		from, to int32
		ordinal  uint32
	}
	type load struct {
		bucket int32
		sum    bool
	}
	sends, receives := make(map[end]load), make(map[end]load)
	sums, wholes, lands := make([]int, len(p.Buckets)), make([]int, len(p.Buckets)), make([]int, len(p.Buckets))
	for rank := range p.Ranks {
		me, last := int32(rank), int32(-1)
		for _, task := range p.Tasks(rank) {
			if task.Place <= last {
				return fmt.Errorf("rank %d: place %d comes after %d", rank, task.Place, last)
			}
			last = task.Place
			if e := task.AddTo; e.Rank >= 0 {
				sends[end{me, e.Rank, e.Ordinal}] = load{task.Bucket, true}
				sums[task.Bucket]++
			}
			for _, e := range task.To {
				sends[end{me, e.Rank, e.Ordinal}] = load{task.Bucket, false}
				wholes[task.Bucket]++
			}
			for i, e := range []Edge{task.AddFrom, task.From} {
				if e.Rank >= 0 {
					receives[end{e.Rank, me, e.Ordinal}] = load{task.Bucket, i == 0}
				}
			}
			if task.Lands {
				lands[task.Bucket]++
			}
		}
	}
	if len(sends) != len(receives) {
		return fmt.Errorf("%d sends and %d receives", len(sends), len(receives))
	}
	for e, sent := range sends {
		if got, ok := receives[e]; !ok || got != sent {
			return fmt.Errorf("rank %d sends %v to %d, which receives %v with ordinal %d", e.from, sent, e.to, got, e.ordinal)
		}
		if before, ok := sends[end{e.from, e.to, e.ordinal - 1}]; e.ordinal > 0 && (!ok || p.Buckets[before.bucket].Place > p.Buckets[sent.bucket].Place) {
			return fmt.Errorf("from %d to %d, bucket %d at ordinal %d comes before its turn", e.from, e.to, sent.bucket, e.ordinal)
		}
	}
	for b := range p.Buckets {
		c := &p.Channels[p.Buckets[b].Channel]
		away := len(c.Destinations)
		if slices.Contains(c.Destinations, c.Source) {
			away--
		}
		if lands[b] != len(c.Destinations) || wholes[b] != away || sums[b] != max(0, len(c.Parts)-1) {
			return fmt.Errorf("bucket %d lands %d times, is sent %d times whole and %d times in part", b, lands[b], wholes[b], sums[b])
		}
	}
	return nil
}

// TestTasksOfAllRanksFit checks random plans, in the default order and others.
func TestTasksOfAllRanksFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 2000 {
		ranks := 1 + rng.IntN(9)
		p, err := Build(ranks, randomEntries(rng, ranks, 1+rng.IntN(40)), rng.Int64N(4000))
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			if err := p.SetOrder(randomOrder(rng, len(p.Buckets))); err != nil {
				t.Fatal(err)
			}
		}
		if err := partners(p); err != nil {
			t.Fatalf("case %d: %v", n, err)
		}
	}
}

func randomOrder(rng *rand.Rand, n int) []uint32 {
	order := make([]uint32, n)
	for place, b := range rng.Perm(n) {
		order[place] = uint32(b)
	}
	return order
}

// checkLayout checks a layout against what the task does: what is used at the
// same time lies apart, within the memory, and nothing is staged that need not
// be.
func checkLayout(p *Plan, t *Task, contiguous Contiguous, staged bool) error {
	l, b := p.Layout(t, contiguous, staged), &p.Buckets[t.Bucket]
	scattered := p.Channels[t.Channel].Transport == Scattered && len(p.Channels[t.Channel].Parts) < 2
	own, result := int64(0), int64(0)
	for _, e := range b.Entries {
		if !contiguous(e, false) || !scattered && len(b.Entries) > 1 {
			own += p.Entries[e].Bytes()
		}
		if staged || !contiguous(e, true) || !scattered && len(b.Entries) > 1 {
			result += p.Entries[e].Bytes()
		}
	}
	if !t.Part && len(t.To)+int(t.AddTo.Rank) < 0 || !t.Source && !t.Part || !t.Wired() { // it sends nothing of its own
		own = 0
	}
	if p.Direct(t) {
		own, result = 0, 0
	}
	if t.From.Rank < 0 {
		result = 0
	}
	sum := int64(0)
	if t.AddFrom.Rank >= 0 {
		sum = t.Bytes
	}
	for _, region := range []struct {
		name      string
		at, bytes int64
	}{{"own", l.Own, own}, {"sum", l.Sum, sum}, {"result", l.Result, result}} {
		if (region.at >= 0) != (region.bytes > 0) || region.at+region.bytes > max(l.Bytes, -1+region.bytes) || region.at > 0 && region.at%256 != 0 {
			return fmt.Errorf("%s of %d bytes lies at %d of %d", region.name, region.bytes, region.at, l.Bytes)
		}
	}
	if l.Own >= 0 && l.Sum >= 0 && l.Own < l.Sum+sum && l.Sum < l.Own+own {
		return fmt.Errorf("a rank's own %d bytes at %d and the sum before, %d at %d, overlap", own, l.Own, sum, l.Sum)
	}
	if most := own + sum + 256; l.Bytes > max(most, result) {
		return fmt.Errorf("%d bytes are staged, for %d, %d and %d", l.Bytes, own, sum, result)
	}
	return nil
}

// TestLayouts checks those of random plans.
func TestLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 500 {
		ranks, bits := 1+rng.IntN(6), rng.Uint32()
		p := build(t, ranks, randomEntries(rng, ranks, 1+rng.IntN(30)), rng.Int64N(3000))
		for rank := range ranks {
			tasks := p.Tasks(rank)
			for i := range tasks {
				runs := func(entry int32, dst bool) bool { return digest(bits).add(uint64(entry))&3 != 0 == dst }
				if err := checkLayout(p, &tasks[i], runs, n%2 == 0); err != nil {
					t.Fatalf("case %d, rank %d, %+v: %v", n, rank, tasks[i], err)
				}
			}
		}
	}
}
