package pipeline

import (
	"encoding/binary"
	"slices"
	"testing"
	"testing/quick"

	"github.com/ccrun/ccrun/host/op"
)

// bytesOf takes numbers off a fuzzer's input; zeros when it is used up.
type bytesOf []byte

func (b *bytesOf) byte() byte {
	if len(*b) == 0 {
		return 0
	}
	v := (*b)[0]
	*b = (*b)[1:]
	return v
}

func (b *bytesOf) long() int64 {
	var word [8]byte
	*b = (*b)[copy(word[:], *b):]
	return int64(binary.LittleEndian.Uint64(word[:]))
}

func (b *bytesOf) ranks() []int32 {
	list := make([]int32, b.byte()%5)
	for i := range list {
		list[i] = int32(int8(b.byte()))
	}
	return list
}

// tidy makes an entry one that can be planned among so many ranks.
func (e *Entry) tidy(ranks int) {
	ranks = max(1, ranks)
	list := func(ranksOf []int32) []int32 {
		for i, r := range ranksOf {
			ranksOf[i] = int32(uint32(r) % uint32(ranks))
		}
		slices.Sort(ranksOf)
		return slices.Compact(ranksOf)
	}
	e.Source = int32(uint32(e.Source) % uint32(ranks))
	e.Destinations = list(append(e.Destinations, e.Source+1))
	if len(e.Parts) > 0 {
		e.Parts = list(append(e.Parts, e.Source))
	}
	e.Type, e.Red, e.Transport = op.Dtype(e.Type%7), op.RedOp(e.Red%4), e.Transport%4
	if len(e.Parts) > 1 {
		e.Transport %= Direct
	}
	e.Planes, e.Rows, e.RowBytes = 1+e.Planes&7, 1+e.Rows&7, 8*(1+e.RowBytes&0xffff)
}

// FuzzBuild gives any entries to Build: it refuses, or the plan agrees with the
// naive one and all ranks' tasks fit.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{3, 2, 0, 1, 1, 0, 0, 8}, int64(64))
	f.Add([]byte{4, 1, 1, 2, 0, 2, 2, 1, 3, 5, 0, 1, 7, 7}, int64(0))
	f.Fuzz(func(t *testing.T, input []byte, bucketBytes int64) {
		b := bytesOf(input)
		ranks := int(int8(b.byte()))
		var entries []Entry
		for len(b) > 0 && len(entries) < 64 {
			e := Entry{Source: int32(int8(b.byte())), Destinations: b.ranks(), Parts: b.ranks()}
			e.Type, e.Red, e.Transport, e.Cell = op.Dtype(b.byte()), op.RedOp(b.byte()), Transport(b.byte()), uint32(b.byte())
			e.Planes, e.Rows, e.RowBytes = int64(int8(b.byte())), int64(int8(b.byte())), b.long()
			if e.Cell%4 != 0 { // or few would be taken
				e.tidy(ranks)
			}
			entries = append(entries, e)
		}
		p, err := Build(ranks, entries, bucketBytes)
		if (err == nil) == (p == nil) {
			t.Fatal(p, err)
		}
		if err != nil {
			return
		}
		if err := againstOracle(p, bucketBytes); err != nil {
			t.Fatal(err)
		}
		if err := partners(p); err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			tasks := p.Tasks(rank)
			for i := range tasks {
				if err := checkLayout(p, &tasks[i], func(entry int32, dst bool) bool { return (int(entry)+i)%2 == 0 == dst }, i%3 == 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// FuzzStep gives a machine any events in any order: it keeps its limits and its
// books, whatever it is told.
func FuzzStep(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0})
	f.Add(uint64(99), []byte{4, 0, 1, 9, 0, 0, 0, 0, 3, 0, 1, 9, 1, 0, 0, 0, 2, 0, 0, 0, 6, 1, 0, 0})
	f.Fuzz(func(t *testing.T, seed uint64, input []byte) {
		if err := anyEvents(seed, input); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAnyEvents is some of the same in each run of the tests.
func TestAnyEvents(t *testing.T) {
	if err := quick.Check(func(seed uint64, input [400]byte) bool {
		input[0] = 0
		return anyEvents(seed, input[:]) == nil
	}, &quick.Config{MaxCount: 3000}); err != nil {
		t.Fatal(err)
	}
}
