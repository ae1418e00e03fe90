package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// recording writes the flight files of an invented run.
type recording struct {
	dir     string
	writers []*flight.Writer
}

func newRecording(t testing.TB, ranks int, capacity int64) *recording {
	t.Helper()
	rec := &recording{dir: t.TempDir()}
	for rank := range ranks {
		path := filepath.Join(rec.dir, fmt.Sprintf("rank-%04d.flight", rank))
		w, err := flight.Create(path, flight.Meta{Rank: rank, Size: ranks, PID: 1000 + rank}, capacity)
		if err != nil {
			t.Fatal(err)
		}
		rec.writers = append(rec.writers, w)
	}
	return rec
}

// wallOffset makes what is exported independent of when the test runs.
const wallOffset = 1_700_000_000_000_000_000

// open closes the files for writing, sets their wall clock and opens the run.
func (rec *recording) open(t testing.TB) *Run {
	t.Helper()
	for _, w := range rec.writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rec.writers = nil
	paths, err := filepath.Glob(filepath.Join(rec.dir, "*.flight"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		patchWallOffset(t, path)
	}
	run, err := Open(rec.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

// patchWallOffset writes the header's field of that name.
func patchWallOffset(t testing.TB, path string) {
	t.Helper()
	const fieldOffset = 24
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b [8]byte
	for i := range b {
		b[i] = byte(uint64(wallOffset) >> (8 * i))
	}
	if _, err := file.WriteAt(b[:], fieldOffset); err != nil {
		t.Fatal(err)
	}
}

// line appends one record written as
//
//	RANK KIND START END [key=value...]
//
// with times in nanoseconds.
func (rec *recording) line(line string) error {
	words := strings.Fields(line)
	if len(words) < 4 {
		return fmt.Errorf("too short: %s", line)
	}
	rank, err := strconv.Atoi(words[0])
	if err != nil || rank < 0 || rank >= len(rec.writers) {
		return fmt.Errorf("rank: %s", line)
	}
	w := rec.writers[rank]
	r := flight.Record{Peer: -1}
	for kind := op.Kind(1); kind < 100; kind++ {
		if kind.String() == words[1] {
			r.Kind = uint8(kind)
		}
	}
	r.Start, _ = strconv.ParseInt(words[2], 10, 64)
	r.End, _ = strconv.ParseInt(words[3], 10, 64)
	for _, word := range words[4:] {
		key, value, _ := strings.Cut(word, "=")
		if err := setField(w, &r, key, value); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	w.Append(&r)
	return nil
}

func setField(w *flight.Writer, r *flight.Record, key, value string) error {
	n, _ := strconv.ParseInt(value, 10, 64)
	switch key {
	case "c":
		r.Collective = uint32(n)
	case "peer":
		r.Peer = int32(n)
	case "bytes":
		r.Bytes = uint64(n)
	case "chunk", "ranks":
		r.Chunk = uint32(n)
	case "slice":
		r.Slice = uint32(n)
	case "flow":
		r.Flow = uint16(n)
	case "step":
		r.Step = uint16(n)
	case "message":
		r.Message = uint32(n)
	case "slot":
		r.Aux = uint32(n)
	case "stream":
		r.Stream = uint16(n)
	case "group":
		r.Group = uint16(n)
	case "type":
		r.Type = uint8(n)
	case "status":
		r.Status = uint8(n)
	case "name":
		r.Aux = r.Aux&warmupFlag | uint32(w.Name(value))
	case "warmup":
		r.Aux |= warmupFlag
	case "op":
		for c := op.CollectiveOp(0); c.Valid(); c++ {
			if c.String() == value {
				r.Red = uint8(c)
			}
		}
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

// ring is a ring all-gather with invented times: rank r begins r*skew after
// the first, each slice takes sliceNanos, and step s of a rank follows step
// s-1.
type ring struct {
	ranks, slices, iterations int
	sliceBytes                uint64
	sliceNanos, skew          int64
	kind                      op.Kind // Put, Get, or Send (and then Recv)
	slowRank                  int     // takes slowTimes as long, if that is not 0
	slowTimes                 int64
}

func (g ring) record(rec *recording) {
	at := int64(1000)
	for i := range g.iterations {
		for rank := range g.ranks {
			g.iteration(rec.writers[rank], rank, uint32(i+1), at)
		}
		at += int64(g.ranks)*(g.skew+int64(g.slices)*g.sliceNanos*2) + 1000
	}
}

func (g ring) iteration(w *flight.Writer, rank int, sequence uint32, at int64) {
	start := at + int64(rank)*g.skew
	now, nanos := start+10, g.sliceNanos
	if rank == g.slowRank && g.slowTimes > 0 {
		nanos *= g.slowTimes
	}
	for step := range g.ranks - 1 {
		for slice := range g.slices {
			g.slice(w, rank, step, flight.Record{
				Start: now, End: now + nanos, Bytes: g.sliceBytes, Collective: sequence,
				Slice: uint32(slice), Message: uint32(slice), Step: uint16(step), Stream: 1,
			})
			now += nanos
		}
	}
	w.Append(&flight.Record{
		Kind: uint8(op.Collective), Red: uint8(op.AllGather), Aux: uint32(w.Name("ring")), Peer: -1,
		Bytes: g.sliceBytes * uint64(g.slices*g.ranks), Chunk: uint32(g.ranks), Slice: uint32(g.sliceBytes),
		Collective: sequence, Start: start, End: now + 5,
	})
}

func (g ring) slice(w *flight.Writer, rank, step int, r flight.Record) {
	next, previous := (rank+1)%g.ranks, (rank+g.ranks-1)%g.ranks
	sent := uint32((rank - step + g.ranks) % g.ranks)
	received := uint32((previous - step + g.ranks) % g.ranks)
	if g.kind == op.Put || g.kind == op.Send {
		r.Kind, r.Peer, r.Chunk = uint8(g.kind), int32(next), sent
		w.Append(&r)
	}
	if g.kind == op.Get || g.kind == op.Send {
		r.Kind, r.Peer, r.Chunk = uint8(op.Get), int32(previous), received
		if g.kind == op.Send {
			r.Kind = uint8(op.Recv)
		}
		w.Append(&r)
	}
}
