package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/op"
)

// every holds a line of each verb, as it is printed.
const every = `ccrun oplog 1
device "cpu"
ranks 8
rank 0
alloc b1 4096
alloc b2 0
stream s1
event e1
comm g1 "world.0" all
comm g2 "world.0/0:1" 0,2,4
write b1+16 8 @"main.main"
read b1+0 4096
export x1.1+0:4096 <- b1+0 4096
import b3 <- r2 x1.1+0:4096
collective c1 all_gather f32 sum 4194304 slice 65536 ranks 8 group 0 "ring"
copy s1 b1+0 <- b1+2048 1024
copy_box s1 b1+0 by 8 64 <- b1+2048 by 16 0 of 2 4 8 c1 k2
put s1 b3+4096 <- b1+0 65536 c1
put s1 b3+4096 <- b1+0 65536 c1 k2 l3 f1 t5 m6 @"main.(*gather).step"
get s1 b1+0 <- b3+0 64 c1
get_box s1 b1+0 by 8 64 <- b3+2048 by 16 0 of 2 4 8 c1 k2
signal s1 r2 slot 5 = 18446744073709551615 c1
wait s1 r2 slot 5 >= 17 c1
send s1 r3 b1+0 1024 channel 2
recv s1 r3 b1+0 1024 channel 2
reduce s1 b1+0 <- b1+0,b3+64 64 f32 sum k1
fill s1 b1+0 4096 f32 seed 7 at 0
verify s1 b1+0 4096 f32 seed 7 at 0
digest s1 b1+0 4096
event_record s1 e1
event_wait s1 e1 t1
gemm s1 b1+0 <- b1+64 b1+128 f32 4 4 4 add
gemm s1 b1+0 <- b1+64 b1+128 f32 4 4 4
call s1 g1 c2 all_reduce f32 sum root 0 count 16 in b1+0 out b1+64 ring slice 0 group 0
and broadcast u8 sum root 3 count 16 in - out b1+64 tree slice 0 group 0 warmup
call s1 g2 all_to_all_v i32 sum root 0 count 0 in b1+0 out b1+64 direct slice 0 group 2 parts 1,2,3,0,1,3,1,2,3,0,1,3
sync s1
seen r1 slot 9 >= 3
event_sync e1
mark m1 "a \"name\""
mark_end m1
collective_end c1
barrier
barrier_late
comm_close g2
event_close e1
close s1
free b3
end
rank 5
barrier
`

// shared is a program of all ranks.
const sharedLog = `ccrun oplog 1
device "sketch"
ranks 8
rank *
alloc b1 65536
stream s1
export x1.1+0:65536 <- b1+0 65536
import b2 <- r{(r+1)} x1.1+0:65536
put s1 b2+{4096*r} <- b1+{128+4096*(r+3)} 4096 c1 k{(r+7)}
signal s1 r{7-(r+6)} slot {r} = {18446744073709551615+r}
copy_box s1 b1+{128*r} by 16 0 <- b1+0 by {16+16*r} 0 of 1 {1+r} 16
get_box s1 b1+{128*r} by 16 0 <- b2+0 by {16+16*r} 0 of 1 {1+r} 16
sync s1
end
`

func TestEveryVerbReadsBack(t *testing.T) {
	for name, text := range map[string]string{"every": every, "shared": sharedLog} {
		log := parse(t, text)
		if got := print(t, log); got != text {
			t.Errorf("%s: read and printed:\n%s", name, difference(got, text))
		}
	}
	seen := map[string]bool{}
	for _, l := range strings.Split(every, "\n") {
		word, _, _ := strings.Cut(l, " ")
		seen[word] = true
	}
	for v := range verbCount {
		if !seen[phrases[v].name] {
			t.Errorf("no line of %s", phrases[v].name)
		}
	}
}

func parse(t *testing.T, text string) *Log {
	t.Helper()
	log, err := Parse(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func print(t *testing.T, log *Log) string {
	t.Helper()
	var b bytes.Buffer
	if err := log.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// difference is the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, strings.Join(g[min(i, len(g)):min(i+1, len(g))], ""), w[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(g), len(w))
}

// TestFormsOfARank shows what a shared line means for one rank.
func TestFormsOfARank(t *testing.T) {
	p := parse(t, sharedLog).Shared
	for rank, want := range map[int]string{
		0: "put s1 b2+0 <- b1+12416 4096 c1 k7",
		5: "put s1 b2+20480 <- b1+128 4096 c1 k4",
	} {
		if got := p.Line(4, rank, 8); got != want {
			t.Errorf("rank %d: %s, want %s", rank, got, want)
		}
	}
	for rank, want := range map[int]string{
		0: "signal s1 r1 slot 0 = 18446744073709551615",
		3: "signal s1 r6 slot 3 = 2",
	} {
		if got := p.Line(5, rank, 8); got != want {
			t.Errorf("rank %d: %s, want %s", rank, got, want)
		}
	}
}

// TestRandomProgramsReadBack makes lines of random arguments.
func TestRandomProgramsReadBack(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		log := &Log{Device: "cpu", Ranks: 1 + rng.IntN(9)}
		log.Programs = make([]*Program, log.Ranks)
		for rank := range log.Ranks {
			log.Programs[rank] = randomProgram(rng, log.Ranks)
		}
		text := print(t, log)
		again := parse(t, text)
		if got := print(t, again); got != text {
			t.Fatalf("seed %d: %s", seed, difference(got, text))
		}
		for rank, p := range log.Programs {
			q := again.Programs[rank]
			if len(p.lines) != len(q.lines) || len(p.args) != len(q.args) || p.high != q.high || p.writes != q.writes {
				t.Fatalf("seed %d rank %d: another program", seed, rank)
			}
		}
	}
}

// randomProgram has names only that are given before.
func randomProgram(rng *rand.Rand, size int) *Program {
	p := &Program{names: []string{"", "main.main", "1.1+0:64", "ring"}, Ended: rng.IntN(2) == 0}
	p.add(verbAlloc, 0, []int64{1, 4096})
	p.add(verbStream, 0, []int64{1})
	p.add(verbEvent, 0, []int64{1})
	p.add(verbComm, 0, []int64{1, 3, 0})
	for range rng.IntN(40) {
		v := verb(rng.IntN(int(verbCount)))
		args, ok := randomArgs(rng, v, size)
		if !ok || v == verbAnd && p.lines[len(p.lines)-1].verb != verbCall && p.lines[len(p.lines)-1].verb != verbAnd {
			continue
		}
		p.add(v, uint32(rng.IntN(2)), args)
	}
	return p
}

func randomArgs(rng *rand.Rand, v verb, size int) (args []int64, ok bool) {
	for i := range phrases[v].parts {
		part := &phrases[v].parts[i]
		switch part.kind {
		case word:
		case makes, ends:
			return nil, false
		case uses:
			if part.letter == markLetter {
				return nil, false
			}
			args = append(args, 1)
		case view:
			args = append(args, 1, rng.Int64N(1<<40))
		case maybeView:
			if b := rng.Int64N(2); b == 0 {
				args = append(args, 0, 0)
			} else {
				args = append(args, 1, rng.Int64N(1<<40))
			}
		case views:
			n := 1 + rng.IntN(op.MaxSources)
			args = append(args, int64(n))
			for range n {
				args = append(args, 1, rng.Int64N(1<<40))
			}
		case number, number32, sequence:
			args = append(args, rng.Int64N(1<<32))
		case number16:
			args = append(args, rng.Int64N(1<<16))
		case value:
			args = append(args, int64(rng.Uint64()))
		case peer:
			args = append(args, rng.Int64N(int64(size)))
		case dtype, redOp, collective, algorithm:
			args = append(args, rng.Int64N(5))
		case text:
			args = append(args, 3)
		case export:
			args = append(args, 2)
		case ranks, counts:
			n := rng.IntN(size + 1)
			args = append(args, int64(n))
			for range n {
				args = append(args, rng.Int64N(int64(size)))
			}
		case flag:
			args = append(args, rng.Int64N(2))
		case term:
			for range termArgs {
				args = append(args, rng.Int64N(2)*rng.Int64N(1<<16))
			}
		}
	}
	return args, true
}

// TestRefusals shows what is said of logs that cannot be read.
func TestRefusals(t *testing.T) {
	datadriven.RunTest(t, "testdata/refused", func(t *testing.T, d *datadriven.TestData) string {
		text := d.Input
		if d.Cmd == "lines" {
			text = "ccrun oplog 1\ndevice \"cpu\"\nranks 8\nrank 0\nalloc b1 64\nstream s1\n" + text
		}
		if d.Cmd == "shared" {
			text = "ccrun oplog 1\ndevice \"cpu\"\nranks 8\nrank *\nalloc b1 64\nstream s1\n" + text
		}
		_, err := Parse(strings.NewReader(text), nil)
		var syntax *SyntaxError
		if err == nil || !errors.As(err, &syntax) {
			return fmt.Sprintf("no refusal: %v\n", err)
		}
		return err.Error() + "\n"
	})
}

// TestRanksThatAreNotKept shows that lines of other ranks are passed over.
func TestRanksThatAreNotKept(t *testing.T) {
	text := strings.Replace(every, "alloc b2 0", "nonsense", 1)
	log, err := Parse(strings.NewReader(text), func(rank int) bool { return rank == 5 })
	if err != nil || log.Program(0) != nil || log.Program(5) == nil || log.Program(5).Lines() != 1 {
		t.Errorf("%+v, %v", log, err)
	}
	if _, err := Parse(strings.NewReader(text), nil); err == nil {
		t.Error("nonsense was read")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(every)
	f.Add(sharedLog)
	for _, l := range strings.Split(every, "\n")[4:] {
		f.Add("ccrun oplog 1\ndevice \"cpu\"\nranks 8\nrank 0\nalloc b1 4096\nstream s1\nalloc b2 1\nalloc b3 2\nevent e1\n" + l + "\n")
	}
	files, err := os.ReadFile("testdata/refused")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(files))
	f.Fuzz(func(t *testing.T, text string) {
		log, err := Parse(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		once := print(t, log)
		again, err := Parse(strings.NewReader(once), nil)
		if err != nil {
			t.Fatalf("what was printed cannot be read: %v\n%s", err, once)
		}
		if twice := print(t, again); twice != once {
			t.Fatalf("%s", difference(twice, once))
		}
	})
}
