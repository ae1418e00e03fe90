package oplog

import (
	"bytes"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// idle is a device that does nothing at all: what is left is the replay.
type idle struct{ *Sketch }

type idleStream struct{ submitted int }

func (i *idle) NewStream() (device.Stream, error)   { return &idleStream{}, nil }
func (s *idleStream) Submit(*op.Op) error           { s.submitted++; return nil }
func (s *idleStream) Query() (done bool, err error) { return true, nil }
func (s *idleStream) Sync(time.Duration) error      { return nil }
func (s *idleStream) Close() error                  { return nil }

// BenchmarkReplay carries out the shared program of a ring of 256 ranks, which
// has numbers that depend on the rank in nearly every line.
func BenchmarkReplay(b *testing.B) {
	const size = 256
	p, _, err := expanded(size, func(rank int) *Program { return sketched(b, rings["put"], rank, size) })
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	rank := 0
	for b.Loop() {
		s := NewSketch(rank, size)
		if err := s.Set(exportKey((rank+1)%size, "1.1+0:33554432"), device.Handle{Bytes: 33554432}.Encode()); err != nil {
			b.Fatal(err)
		}
		if err := Body(p, Stage{Rank: rank, Ranks: size, Device: &idle{s}, Exchange: s})(); err != nil {
			b.Fatal(err)
		}
		rank = (rank + 1) % size
	}
	b.ReportMetric(float64(p.Lines())*float64(b.N)/b.Elapsed().Seconds(), "operations/s")
	b.ReportMetric(float64(p.Lines()), "operations/op")
}

// TestAReplayAllocatesNothingForItsOperations compares two programs of which one
// is ten times as long.
func TestAReplayAllocatesNothingForItsOperations(t *testing.T) {
	const size = 16
	allocations := func(slices int64) (allocations float64, lines int) {
		template := rings["put"]
		template.slices = slices
		p, _, err := expanded(size, func(rank int) *Program { return sketched(t, template, rank, size) })
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(10, func() {
			s := NewSketch(3, size)
			_ = s.Set(exportKey(4, "1.1+0:2097152"), device.Handle{Bytes: 2097152}.Encode())
			if err := Body(p, Stage{Rank: 3, Ranks: size, Device: &idle{s}, Exchange: s})(); err != nil {
				t.Error(err)
			}
		}), p.Lines()
	}
	few, short := allocations(4)
	many, long := allocations(64)
	if long < 10*short || many > few+10 { // a collection in between may cost some
		t.Errorf("%v allocations for %d lines, %v for %d", few, short, many, long)
	}
}

// BenchmarkRecord writes operations down.
func BenchmarkRecord(b *testing.B) {
	var out bytes.Buffer
	r := Record(&idle{NewSketch(0, 2)}, Options{Ranks: 2, Out: &out})
	buffer, _ := r.Alloc(1 << 20)
	stream, _ := r.NewStream()
	o := op.Op{Kind: op.Copy, Src: op.View{Buf: buffer}, Dst: op.View{Buf: buffer, Off: 65536}, Bytes: 4096, Term: op.Term{Collective: 1, Chunk: 2}}
	b.ReportAllocs()
	for b.Loop() {
		if err := stream.Submit(&o); err != nil {
			b.Fatal(err)
		}
		if out.Len() > 1<<20 {
			out.Reset()
		}
	}
}

// BenchmarkParse reads a log of one rank.
func BenchmarkParse(b *testing.B) {
	log := &Log{Device: "cpu", Ranks: 256, Programs: make([]*Program, 256)}
	log.Programs[0] = sketched(b, rings["put"], 0, 256)
	var text bytes.Buffer
	if err := log.Write(&text); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Parse(bytes.NewReader(text.Bytes()), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(log.Programs[0].Lines())*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
