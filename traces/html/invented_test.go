package html_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces"
)

// invented is a run that never was: all-gathers in a ring, in which each rank
// waits for the slice before it, gets it and signals that it is there.
type invented struct {
	ranks, iterations, slices int
	mark                      string // name of a mark around each collective, "" for none
	algorithm                 string
}

const (
	inventedSliceBytes = 64 << 10
	inventedSliceNanos = 10_000
	inventedPause      = 100_000 // between collectives
)

// messages is how many slices move in all.
func (v *invented) messages() int { return v.iterations * v.ranks * (v.ranks - 1) * v.slices }

// operations is how many operations a page shows of it.
func (v *invented) operations() int {
	n := 3 * v.messages()
	if v.mark != "" {
		n += v.ranks * v.iterations
	}
	return n
}

// record writes the flight files into a new directory.
func (v *invented) record(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for rank := range v.ranks {
		path := filepath.Join(dir, fmt.Sprintf("rank-%04d.flight", rank))
		w, err := flight.Create(path, flight.Meta{Rank: rank, Size: v.ranks, PID: 1 + rank}, int64(v.operations()/v.ranks+v.iterations))
		if err != nil {
			t.Fatal(err)
		}
		at := int64(1_000_000_000)
		for i := range v.iterations {
			at = v.collective(w, rank, i, at)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// collective records one rank's part of one collective and gives when the next
// begins. Rank r is r microseconds late, so that ranks can be told apart.
func (v *invented) collective(w *flight.Writer, rank, iteration int, at int64) int64 {
	sequence, now := uint32(iteration+1), at+int64(rank)*1000
	for step := range v.ranks - 1 {
		for slice := range v.slices {
			now = v.slice(w, rank, flight.Record{
				Start: now, Collective: sequence, Stream: 1, Step: uint16(step),
				Chunk: uint32((rank - 1 - step + 2*v.ranks) % v.ranks), Slice: uint32(slice), Message: uint32(slice),
			}, uint64((iteration*(v.ranks-1)+step)*v.slices+slice))
		}
	}
	if v.mark != "" {
		w.Append(&flight.Record{Kind: uint8(op.Mark), Aux: uint32(w.Name(v.mark)), Peer: -1, Start: at, End: now})
	}
	w.Append(&flight.Record{
		Kind: uint8(op.Collective), Red: uint8(op.AllGather), Aux: uint32(w.Name(v.algorithm)), Peer: -1, Chunk: uint32(v.ranks),
		Slice: inventedSliceBytes, Bytes: uint64(v.ranks * v.slices * inventedSliceBytes), Collective: sequence, Start: at, End: now,
	})
	return at + int64((v.ranks-1)*v.slices)*(inventedSliceNanos+1000) + inventedPause
}

// slice records a wait, a get and a signal; value is how many slices came
// before it.
func (v *invented) slice(w *flight.Writer, rank int, r flight.Record, value uint64) int64 {
	previous, next := int32((rank+v.ranks-1)%v.ranks), int32((rank+1)%v.ranks)
	r.Kind, r.Peer, r.Bytes, r.End = uint8(op.Wait), previous, value, r.Start+500
	w.Append(&r)
	r.Kind, r.Bytes, r.Start, r.End = uint8(op.Get), inventedSliceBytes, r.End, r.End+inventedSliceNanos
	w.Append(&r)
	r.Kind, r.Peer, r.Bytes, r.Start, r.End = uint8(op.Signal), next, value+1, r.End, r.End+500
	w.Append(&r)
	return r.End
}

// page writes the page of a run directory, and gives its path and the summary.
func page(t testing.TB, dir, workflow string) (path string, s *traces.Summary) {
	t.Helper()
	run, err := traces.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	s = traces.Summarize(run)
	path = filepath.Join(t.TempDir(), "run.html")
	info := traces.Info{RunID: "run-1", Device: "cpu", ServiceVersion: "v0", Labels: map[string]string{"team": hostile}}
	if err := traces.WriteHTMLFile(path, run, info, traces.HTMLPage{Workflow: workflow, Outcome: "verified", Good: true, Summary: s}); err != nil {
		t.Fatal(err)
	}
	return path, s
}

// hostileMark is the same for a mark, whose name is shorter.
const hostileMark = `</script><img src=x onerror="broken=1">`

// hostile is what a name could be to become part of the page.
const hostile = `</script><script>window.broken=1</script><img src=x onerror="window.broken=1">'"&`
