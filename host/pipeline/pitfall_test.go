package pipeline

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// box is an entry of so many bytes.
func box(source int32, destinations []int32, bytes int64) Entry {
	return Entry{Source: source, Destinations: destinations, Planes: 1, Rows: 1, RowBytes: bytes}
}

// build fails the test if the plan cannot be built.
func build(t *testing.T, ranks int, entries []Entry, bucketBytes int64) *Plan {
	t.Helper()
	p, err := Build(ranks, entries, bucketBytes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReduceAlignment: entries with parts are joined; all ranks of the chain
// must add buckets of the same size in the same order, whatever else they have
// to do. A rule that looks at what a rank itself has would join otherwise.
func TestReduceAlignment(t *testing.T) {
	var entries []Entry
	for i := range int32(8) {
		e := box(0, []int32{3}, 262_144)
		e.Parts, e.Type = []int32{0, 1, 2}, op.BF16
		entries = append(entries, e, box(i%3, []int32{3}, 1000)) // ranks have different amounts besides
	}
	p := build(t, 4, entries, 2_097_152)
	sizes := make([][]int64, 3)
	for rank := range sizes {
		for _, task := range p.Tasks(rank) {
			if task.Part {
				sizes[rank] = append(sizes[rank], task.Bytes)
			}
		}
	}
	if !slices.Equal(sizes[0], []int64{2_097_152}) || !slices.Equal(sizes[0], sizes[1]) || !slices.Equal(sizes[0], sizes[2]) {
		t.Errorf("ranks add up %v", sizes)
	}
	if err := partners(p); err != nil {
		t.Error(err)
	}
	naive := 0 // only what the rank itself takes part in, in a row: rank 1's is cut up by its own sends
	for rank := range int32(3) {
		var cut []Entry
		for _, e := range entries {
			if e.Source == rank || slices.Contains(e.Parts, rank) {
				cut = append(cut, e)
			}
		}
		if build(t, 4, cut, 2_097_152).Hash() != p.Hash() {
			naive++
		}
	}
	if naive != 3 {
		t.Errorf("%d of 3 plans of what a rank has itself are told by their hash", naive)
	}
}

// TestRuleIsSymmetric: what a sender and a receiver take of the plan has the
// same buckets, byte for byte; a rule of the sender's own is told by the hash,
// and the first entry that differs is found.
func TestRuleIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		entries := randomEntries(rng, 5, 30)
		sender, receiver := build(t, 5, entries, 1500), build(t, 5, slices.Clone(entries), 1500)
		if sender.Hash() != receiver.Hash() {
			t.Fatal("equal plans have different hashes")
		}
		if err := partners(receiver); err != nil {
			t.Fatal(err)
		}
	}
	entries := []Entry{box(0, []int32{1}, 600), box(1, []int32{0}, 600), box(0, []int32{1}, 600), box(0, []int32{1}, 600)}
	ours := build(t, 2, entries, 1024)
	spoiled := map[string]*Plan{
		"it joins to another size": build(t, 2, entries, 4096),
		"it joins nothing":         build(t, 2, entries, 0),
	}
	source := build(t, 2, entries, 1024) // source-only: the sender cuts its own bucket in two
	source.Buckets, source.Order = nil, nil
	source.Channels = nil
	source.join(600)
	source.fill()
	source.takeTurns()
	spoiled["the source alone cuts"] = source
	for _, change := range []struct {
		name string
		do   func(e *Entry)
	}{
		{"its source", func(e *Entry) { e.Source, e.Destinations = 1, []int32{0} }},
		{"its destinations", func(e *Entry) { e.Destinations = []int32{0, 1} }},
		{"its parts", func(e *Entry) { e.Parts = []int32{0, 1} }},
		{"its type", func(e *Entry) { e.Type = op.F32 }},
		{"its reduction", func(e *Entry) { e.Red = op.Max }},
		{"its transport", func(e *Entry) { e.Transport = Chain }},
		{"its tensor", func(e *Entry) { e.Tensor++ }},
		{"its cell", func(e *Entry) { e.Cell++ }},
		{"its planes", func(e *Entry) { e.Planes, e.RowBytes = 2, 300 }},
		{"its rows", func(e *Entry) { e.Rows, e.RowBytes = 2, 300 }},
		{"its bytes", func(e *Entry) { e.RowBytes++ }},
	} {
		theirs := slices.Clone(entries)
		change.do(&theirs[2])
		spoiled[change.name] = build(t, 2, theirs, 1024)
		if first := firstDifference(ours, spoiled[change.name]); change.name != "its cell" && first > 2 {
			t.Errorf("%s: entry %d is the first to differ", change.name, first)
		}
	}
	ordered := build(t, 2, entries, 1024)
	if err := ordered.SetOrder([]uint32{2, 1, 0}); err != nil {
		t.Fatal(err)
	}
	spoiled["another order"] = ordered
	for name, theirs := range spoiled {
		if theirs.Hash() == ours.Hash() || firstDifference(ours, theirs) < 0 {
			t.Errorf("%s: the hash does not tell", name)
		}
	}
	if more := build(t, 3, entries, 1024); more.Hash() == ours.Hash() {
		t.Error("the hash does not tell how many ranks there are")
	}
}

// firstDifference is the first entry by whose hash two plans differ, -1 if none.
func firstDifference(a, b *Plan) int {
	for i := range a.Entries {
		if a.EntryHash(i) != b.EntryHash(i) {
			return i
		}
	}
	return -1
}

// row is buckets of the sizes, from rank 0 to as many other ranks.
func row(t *testing.T, sizes ...int64) *Plan {
	var entries []Entry
	for i, bytes := range sizes {
		entries = append(entries, box(0, []int32{int32(i + 1)}, bytes))
	}
	return build(t, len(sizes)+1, entries, 0)
}

// held is what a source holds while it begins, and how many buckets.
func held(t *testing.T, p *Plan, l Limits) (bytes int64, buckets int) {
	t.Helper()
	tasks := p.Tasks(0)
	staging := make([]int64, len(tasks))
	for i := range tasks {
		staging[i] = Class(p.Layout(&tasks[i], func(int32, bool) bool { return false }, l.Publish != AtOnce).Bytes)
	}
	m, err := NewMachine(p, 0, tasks, staging, l)
	if err != nil {
		t.Fatal(err)
	}
	m.Step(0, Event{Kind: Begin}, nil)
	s := m.Status()
	return s.HeldBytes, s.InFlight
}

// TestBudgetByBytesAndCount: eight channels of one bucket each, so no cap per
// channel holds anything up; the budget does, by whichever comes first.
func TestBudgetByBytesAndCount(t *testing.T) {
	p := row(t, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024)
	for _, c := range []struct {
		maxBytes    int64
		maxBuckets  int
		wantBytes   int64
		wantBuckets int
	}{
		{0, 0, 8192, 8},
		{3 * 1024, 0, 3072, 3},
		{4*1024 - 1, 0, 3072, 3},
		{0, 5, 5120, 5},
		{3 * 1024, 2, 2048, 2},
		{3 * 1024, 5, 3072, 3},
		{1024, 5, 1024, 1},
	} {
		bytes, buckets := held(t, p, Limits{MaxBytes: c.maxBytes, MaxBuckets: c.maxBuckets, Streams: 16})
		if bytes != c.wantBytes || buckets != c.wantBuckets {
			t.Errorf("%d bytes and %d buckets let %d and %d be held, want %d and %d", c.maxBytes, c.maxBuckets, bytes, buckets, c.wantBytes, c.wantBuckets)
		}
	}
}

// TestOversizeNeverWaitsForEver: a bucket larger than the budget runs alone, or
// the machine is refused; whatever its place, the run ends.
func TestOversizeNeverWaitsForEver(t *testing.T) {
	for place := range 5 {
		sizes := []int64{256, 512, 256, 512, 256}
		sizes[place] = 4096
		p := row(t, sizes...)
		for _, publish := range []Publish{AtOnce, InOrder, OneByOne} {
			for _, policy := range []Policy{AllAtOnce, Windowed, Serialized, Credits, Scripted} {
				ended(t, p, Limits{MaxBytes: 1024, Wires: 1, MaxInFlight: 2, Streams: 3, Window: 2, Policy: policy, Publish: publish})
			}
		}
		tasks := p.Tasks(0)
		staging := make([]int64, len(tasks))
		staging[place] = 4096
		_, err := NewMachine(p, 0, tasks, staging, Limits{MaxBytes: 1024, Oversize: Refuse})
		if err == nil || !strings.Contains(err.Error(), "4096") || !strings.Contains(err.Error(), "1024") || !strings.HasPrefix(err.Error(), "bucket ") {
			t.Errorf("refused with %v", err)
		}
		if alone := CheckOversize(tasks, staging, Limits{MaxBytes: 1024, Oversize: Refuse}); alone == nil || alone.Error() != err.Error() || CheckOversize(tasks, staging, Limits{MaxBytes: 1024}) != nil || CheckOversize(tasks, staging, Limits{Oversize: Refuse}) != nil {
			t.Errorf("without a machine it is refused with %v", alone)
		}
		if _, err = NewMachine(p, 0, tasks, staging, Limits{MaxBytes: 4096, Oversize: Refuse}); err != nil {
			t.Errorf("a bucket of the budget's size: %v", err)
		}
	}
}

// TestHugeBucketsDoNotPass: not even if what two of them need cannot be counted.
func TestHugeBucketsDoNotPass(t *testing.T) {
	for _, bytes := range []int64{1025, 1 << 62, 1<<63 - 1} {
		p := row(t, 8, 8)
		m, err := NewMachine(p, 0, p.Tasks(0), []int64{bytes, bytes}, Limits{MaxBytes: 1024, Streams: 2, Policy: Credits})
		if err != nil {
			t.Fatal(err)
		}
		m.Step(0, Event{Kind: Begin}, nil)
		if m.Step(1, Event{Kind: Credited, Peer: 2, Value: 1}, nil); m.Status().Admitted != 0 {
			t.Errorf("a bucket of %d bytes is admitted before another", bytes)
		}
		if m.Step(2, Event{Kind: Credited, Peer: 1, Value: 1}, nil); m.Status().Admitted != 1 {
			t.Errorf("%d buckets of %d bytes are admitted", m.Status().Admitted, bytes)
		}
	}
}

// TestFailureReachesAllBeforeTheNext: whichever rank fails in whichever bucket,
// all ranks end with that, and none has written a later one.
func TestFailureReachesAllBeforeTheNext(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for ranks := 2; ranks < 6; ranks++ {
		var entries []Entry
		for s := range int32(ranks) {
			for d := range int32(ranks) {
				if s != d {
					entries = append(entries, box(s, []int32{d}, 512))
				}
			}
		}
		p := build(t, ranks, entries, 0)
		for failAt := range 2 * len(p.Buckets) {
			c, err := newCluster(rng, p, Limits{Wires: 2, Publish: InOrder})
			if err != nil {
				t.Fatal(err)
			}
			c.failAt = failAt
			if err := c.run(); err != nil {
				t.Fatalf("%d ranks, failure %d: %v", ranks, failAt, err)
			}
			if c.failed < 0 {
				t.Fatalf("%d ranks: failure %d never came", ranks, failAt)
			}
		}
	}
}

// TestMeansOfLongRunsDoNotOverflow: bytes times nanoseconds need more than 64
// bits.
func TestMeansOfLongRunsDoNotOverflow(t *testing.T) {
	p := row(t, 1<<40)
	m, err := NewMachine(p, 0, p.Tasks(0), []int64{1 << 40}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const hour = 3_600_000_000_000
	m.Step(7, Event{Kind: Begin}, nil)
	if s := m.Stats(7 + hour); s.MeanBytes != 1<<40 || s.Nanos != hour || s.MeanBucketsMilli != 1000 {
		t.Errorf("%+v", s)
	}
	for n := range int64(10) {
		m.Step(7+n*hour/10, Event{Kind: Looked}, nil)
	}
	if s := m.Stats(7 + hour); s.MeanBytes != 1<<40 {
		t.Errorf("looking now and then makes it %d bytes", s.MeanBytes)
	}
	m.Step(7+hour, Event{Kind: Arrived}, nil)
	if s := m.Stats(7 + 4*hour); s.MeanBytes != 1<<38 || s.MeanBucketsMilli != 250 {
		t.Errorf("%+v", s)
	}
}

// TestOperationsAreCounted: under way at a time, and in all.
func TestOperationsAreCounted(t *testing.T) {
	p := row(t, 8)
	m, err := NewMachine(p, 0, p.Tasks(0), []int64{256}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, -2, 4, -5} {
		m.AddOperations(n)
	}
	if s := m.Stats(0); s.Operations != 7 || s.PeakOperations != 5 {
		t.Errorf("%d operations, %d at a time", s.Operations, s.PeakOperations)
	}
}

// TestClass: sizes grow, waste an eighth at most, and are few.
func TestClass(t *testing.T) {
	for bytes, want := range map[int64]int64{-1: 0, 0: 0, 1: 256, 256: 256, 257: 512, 4095: 4096, 4096: 4096, 4097: 4608, 8192: 8192, 8193: 9216, 1 << 40: 1 << 40, 1<<40 + 1: 9 << 37, 1<<63 - 1: 1<<63 - 1} {
		if got := Class(bytes); got != want {
			t.Errorf("Class(%d) = %d, want %d", bytes, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		bytes := rng.Int64N(1 << (9 + rng.IntN(50)))
		c := Class(bytes)
		if c < bytes || c != Class(c) || c-bytes > max(255, bytes/8) || Class(bytes+1) < c {
			t.Fatalf("Class(%d) = %d", bytes, c)
		}
	}
}
