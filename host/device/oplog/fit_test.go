package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// sketched is what one rank of a ring asks of its device.
func sketched(t testing.TB, template ring, rank, size int) *Program {
	t.Helper()
	s := NewSketch(rank, size)
	recorder := Record(s, Options{Rank: rank, Ranks: size})
	r := template
	r.rank, r.size, r.device = rank, size, recorder.Wrapped()
	r.exchangeShares(s)
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	if err := recorder.End(); err != nil {
		t.Fatal(err)
	}
	return recorder.Program()
}

// expanded is the program that all ranks share, and how many were asked.
func expanded(size int, sketch func(rank int) *Program) (*Program, int, error) {
	return Expand(size, func(rank int) (*Program, error) { return sketch(rank), nil })
}

var rings = map[string]ring{
	"get":    {chunk: 1 << 16, slices: 4},
	"put":    {put: true, chunk: 1 << 16, slices: 4},
	"header": {put: true, chunk: 1 << 16, slices: 2, header: 1 << 16},
	"odd":    {chunk: 3 << 12, slices: 3, header: 1000},
}

// TestExpandedRingsAreTheRecordedOnes compares the program of all ranks with
// what each rank did, line by line.
func TestExpandedRingsAreTheRecordedOnes(t *testing.T) {
	for name, template := range rings {
		for _, size := range []int{1, 2, 3, 4, 8, 10, 17, 64} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				p, sampled, err := expanded(size, func(rank int) *Program { return sketched(t, template, rank, size) })
				if err != nil {
					t.Fatal(err)
				}
				if size == 64 && sampled > 5+2*probes+19 {
					t.Errorf("%d ranks were sampled", sampled)
				}
				for rank := range size {
					compare(t, p, sketched(t, template, rank, size), rank, size)
				}
			})
		}
	}
}

// compare holds a shared program against what a rank did. Seeds may differ.
func compare(t *testing.T, shared, own *Program, rank, size int) {
	t.Helper()
	if shared.Lines() != own.Lines() {
		t.Fatalf("rank %d: %d lines, not %d", rank, shared.Lines(), own.Lines())
	}
	for i := range own.lines {
		got, want := shared.Line(i, rank, size), own.Line(i, rank, size)
		if own.lines[i].verb == verbFill {
			got, want = withoutSeed(got), withoutSeed(want)
		}
		if got != want {
			t.Fatalf("rank %d line %d\ngot  %s\nwant %s", rank, i+1, got, want)
		}
	}
}

func withoutSeed(line string) string {
	before, after, _ := strings.Cut(line, " seed ")
	_, after, _ = strings.Cut(after, " ")
	return before + after
}

// TestExpandedProgramsReadBack writes a shared program and reads it.
func TestExpandedProgramsReadBack(t *testing.T) {
	const size = 64
	p, _, err := expanded(size, func(rank int) *Program { return sketched(t, rings["odd"], rank, size) })
	if err != nil {
		t.Fatal(err)
	}
	log := &Log{Device: "sketch", Ranks: size, Shared: p}
	text := print(t, log)
	again := parse(t, text)
	if got := print(t, again); got != text {
		t.Error(difference(got, text))
	}
	for rank := range size {
		compare(t, again.Shared, sketched(t, rings["odd"], rank, size), rank, size)
	}
}

// calls makes a program of a few calls whose numbers come from a rule.
func calls(rank, size int, offset func(rank, call int) int64, count int) *Program {
	s := NewSketch(rank, size)
	r := Record(s, Options{Rank: rank, Ranks: size})
	b, _ := r.Alloc(1 << 40)
	stream, _ := r.NewStream()
	for call := range count {
		o := op.Op{Kind: op.Copy, Src: op.View{Buf: b, Off: offset(rank, call)}, Dst: op.View{Buf: b}, Bytes: 8}
		if err := stream.Submit(&o); err != nil {
			panic(err)
		}
	}
	_ = r.End()
	return r.Program()
}

// TestTurnsAreFound has numbers that count from a base that only their turn
// shows: the fit asks for the ranks where it is.
func TestTurnsAreFound(t *testing.T) {
	for name, rule := range map[string]func(n int) func(rank, call int) int64{
		"base below the stride": func(n int) func(rank, call int) int64 { return func(r, c int) int64 { return 7 + 64*int64((r+5)%n) } },
		"base above the stride": func(n int) func(rank, call int) int64 { return func(r, c int) int64 { return 640 + 64*int64((r+5)%n) } },
		"base of three strides": func(n int) func(rank, call int) int64 {
			return func(r, c int) int64 { return 192 + 64*int64((r+n-9)%n) }
		},
		"falling": func(n int) func(rank, call int) int64 {
			return func(r, c int) int64 { return 1<<30 - 64*int64((r+5)%n) }
		},
		"many shifts": func(n int) func(rank, call int) int64 {
			return func(r, c int) int64 { return 64 + 64*int64((r+3+c)%n) }
		},
		"two regions": func(n int) func(rank, call int) int64 {
			return func(r, c int) int64 { return int64(c%2)*(1<<20) + 64*int64((r+3+c)%n) }
		},
		"the same for all":       func(n int) func(rank, call int) int64 { return func(r, c int) int64 { return int64(c) } },
		"no turn":                func(n int) func(rank, call int) int64 { return func(r, c int) int64 { return 12345 + 3*int64(r) } },
		"falling without a turn": func(n int) func(rank, call int) int64 { return func(r, c int) int64 { return 1<<20 - 3*int64(r) } },
		"turns at the last rank": func(n int) func(rank, call int) int64 { return func(r, c int) int64 { return 100 + 8*int64((r+1)%n) } },
		"turns in the middle one": func(n int) func(rank, call int) int64 {
			return func(r, c int) int64 { return 100 + 8*int64((r+n/2)%n) }
		},
	} {
		for _, size := range []int{11, 50} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				sketch := func(rank int) *Program { return calls(rank, size, rule(size), 6) }
				p, _, err := expanded(size, sketch)
				if err != nil {
					t.Fatal(err)
				}
				for rank := range size {
					compare(t, p, sketch(rank), rank, size)
				}
			})
		}
	}
}

// TestRanksThatAreNotAlike shows what is said of worlds that share no program.
func TestRanksThatAreNotAlike(t *testing.T) {
	const size = 16
	for name, c := range map[string]struct {
		sketch func(rank int) *Program
		want   string
	}{
		"doubling": {
			func(rank int) *Program { return calls(rank, size, func(r, c int) int64 { return int64(r ^ 1) }, 2) },
			`the ranks are not alike in line 3: "copy s1 b1+0 <- b1+1 8" on rank 0, "copy s1 b1+0 <- b1+14 8" on rank 15`,
		},
		"a root": {
			func(rank int) *Program { return calls(rank, size, func(r, c int) int64 { return 0 }, 2-min(rank, 1)) },
			"the ranks are not alike in line 4: rank 0 makes 4 calls, rank 1 3",
		},
		"held out": {
			func(rank int) *Program {
				return calls(rank, size, func(r, c int) int64 { return int64(c) * int64(r/5%2) * int64(1-r/8) }, 2)
			},
			`the ranks are not alike in line 4: "copy s1 b1+0 <- b1+0 8" on rank 0, "copy s1 b1+0 <- b1+1 8" on rank 5`,
		},
	} {
		_, _, err := expanded(size, c.sketch)
		var unfit *UnfitError
		if !errors.As(err, &unfit) || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// TestSketchRefuses shows what cannot be sketched.
func TestSketchRefuses(t *testing.T) {
	s := NewSketch(1, 4)
	b, _ := s.Alloc(64)
	stream, _ := s.NewStream()
	submit := func(o op.Op) error { return stream.Submit(&o) }
	other, _ := NewSketch(0, 4).Alloc(64)
	look := func() (err error) {
		for range looksMax + 1 {
			if _, err = s.SignalValue(0, 0); err != nil {
				return err
			}
		}
		return nil
	}
	for name, c := range map[string]struct{ err, want error }{
		"peer":                      {submit(op.Op{Kind: op.Signal, Peer: 4}), device.ErrPeer},
		"slot":                      {submit(op.Op{Kind: op.Signal, Slot: sketchSlots}), device.ErrSlot},
		"channel":                   {submit(op.Op{Kind: op.Send, Src: op.View{Buf: b}, Slot: sketchChannels}), device.ErrSlot},
		"range":                     {submit(op.Op{Kind: op.Copy, Src: op.View{Buf: b}, Dst: op.View{Buf: b}, Bytes: 65}), op.ErrRange},
		"foreign":                   {submit(op.Op{Kind: op.Copy, Src: op.View{Buf: other}, Dst: op.View{Buf: b}}), device.ErrForeign},
		"a split":                   {second(s.Get("split/world.0/0/2", 0)), device.ErrMissing},
		"unpublished":               {second(s.Get("share/2/x/1", 0)), device.ErrMissing},
		"polling":                   {look(), device.ErrMissing},
		"a bad peer behind a point": {second(s.WaitAny([]device.Point{{}, {Peer: 4}}, 0)), device.ErrPeer},
		"a bad slot behind a point": {second(s.WaitAny([]device.Point{{}, {Slot: sketchSlots}}, 0)), device.ErrSlot},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if err := s.Set("join/world.0/1", []byte{1}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get("join/world.0/3", 0); err != nil || !bytes.Equal(got, []byte{1}) {
		t.Errorf("join: %v, %v", got, err)
	}
	if err := s.Free(b); err != nil {
		t.Fatal(err)
	}
	if err := s.Free(b); !errors.Is(err, device.ErrStale) {
		t.Errorf("freed twice: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestSamples shows that no rank is sampled twice.
func TestSamples(t *testing.T) {
	for size := 1; size < 200; size++ {
		fitted, held := sampleRanks(size)
		all := append(slices.Clone(fitted), held...)
		slices.Sort(all)
		if len(slices.Compact(all)) != len(fitted)+len(held) || all[len(all)-1] >= size || !slices.IsSorted(fitted) {
			t.Errorf("%d ranks: %v, %v", size, fitted, held)
		}
	}
}

// TestExceptionsAreSeen has guests that do something else on some ranks only, as
// those do that give one rank of each node a part of its own: in its numbers,
// and in its calls.
func TestExceptionsAreSeen(t *testing.T) {
	for name, other := range map[string]func(rank, size int) bool{
		"rank 5 of the world":          func(r, _ int) bool { return r == 5 },
		"all but the first node":       func(r, _ int) bool { return r >= nodeRanks },
		"the first node but its first": func(r, _ int) bool { return r > 2 && r < nodeRanks },
		"every second node":            func(r, _ int) bool { return r/nodeRanks%2 == 1 },
		"rank 4 of the second half":    func(r, n int) bool { return r >= n/2 && r%nodeRanks == 4 },
		"rank 3 beyond the first node": func(r, _ int) bool { return r > nodeRanks && r%nodeRanks == 3 },
	} {
		exceptionSeen(t, name, other)
	}
	for _, period := range []int{nodeRanks, residues} {
		for residue := range period {
			exceptionSeen(t, fmt.Sprint(residue, " of every ", period), func(r, _ int) bool { return r%period == residue })
		}
	}
}

func exceptionSeen(t *testing.T, name string, other func(rank, size int) bool) {
	t.Helper()
	for _, size := range []int{17, 24, 32, 48, 72, 1000, 1024, 131072} {
		for what, sketch := range map[string]func(rank int, is int64) *Program{
			"a number": func(rank int, is int64) *Program {
				return calls(rank, size, func(r, c int) int64 { return 64*int64(r) + 8*is*int64(c) }, 2)
			},
			"a call": func(rank int, is int64) *Program {
				return calls(rank, size, func(r, c int) int64 { return 64 * int64(r) }, 2+int(is))
			},
		} {
			_, _, err := expanded(size, func(rank int) *Program {
				if other(rank, size) {
					return sketch(rank, 1)
				}
				return sketch(rank, 0)
			})
			if unfit := (*UnfitError)(nil); !errors.As(err, &unfit) {
				t.Errorf("%s, %d ranks, %s that others have not: %v", name, size, what, err)
			}
		}
	}
}

// TestLooked counts the ranks of a world whose numbers are plain.
func TestLooked(t *testing.T) {
	for size, want := range map[int]int{1: 1, 9: 9, 10: 10, 24: 24, 64: 21, 1024: 24, 4097: 25, 131072: 24} {
		asked := make(map[int]bool)
		_, looked, err := expanded(size, func(rank int) *Program {
			asked[rank] = true
			return calls(rank, size, func(r, c int) int64 { return int64(r) }, 1)
		})
		if err != nil || looked != want || len(asked) != want {
			t.Errorf("%d ranks: %d were looked at, %d asked, want %d: %v", size, looked, len(asked), want, err)
		}
	}
}

// TestRandomProgramsFit makes a few calls whose numbers follow random rules, from
// bases of which some are strides apart. All of their turns are looked at.
func TestRandomProgramsFit(t *testing.T) {
	wrong, sampled := 0, 0
	const worlds = 400
	for seed := range uint64(worlds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		size := 10 + rng.IntN(90)
		stride := int64(1) << rng.IntN(12)
		bases := []int64{rng.Int64N(4 * stride), rng.Int64N(1 << 20), stride * rng.Int64N(int64(size)), stride * int64(size)}
		var rules []form
		for _, base := range bases[:1+rng.IntN(4)] {
			for range 1 + rng.IntN(probesMax/4) {
				rules = append(rules, form{base, stride, int32(rng.IntN(size))})
			}
		}
		rng.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		sketch := func(rank int) *Program {
			return calls(rank, size, func(r, c int) int64 { return rules[c].at(r, size) }, len(rules))
		}
		p, n, err := expanded(size, sketch)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		sampled += n
		for rank := range size {
			if hold(p, size, sample{rank, sketch(rank)}) != nil {
				wrong++
				break
			}
		}
	}
	t.Logf("%d of %d worlds have a rank that does something else; %d ranks were sampled in each", wrong, worlds, sampled/worlds)
	if wrong > 0 {
		t.Error("a program is wrong for a rank that was not looked at")
	}
}
