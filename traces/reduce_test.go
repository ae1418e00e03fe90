package traces

import (
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// directAllReduce is an all-reduce without a ring: each rank reduces its chunk
// out of the memory of its peers, one slice after the other, and then gets the
// other chunks. A reduction leaves one record per peer that it read, all of the
// same time and place.
type directAllReduce struct {
	ranks, slices int
	sliceBytes    uint64
}

func (d directAllReduce) record(rec *recording) {
	for rank, w := range rec.writers {
		now := int64(1000)
		for slice := range d.slices {
			for peer := range d.ranks {
				if peer != rank {
					w.Append(d.operation(op.Reduce, now, peer, rank, 0, slice))
				}
			}
			now += 100
		}
		for step := 1; step < d.ranks; step++ {
			peer := (rank + step) % d.ranks
			for slice := range d.slices {
				w.Append(d.operation(op.Get, now, peer, peer, step, slice))
				now += 100
			}
		}
		w.Append(&flight.Record{
			Kind: uint8(op.Collective), Red: uint8(op.AllReduce), Aux: uint32(w.Name("direct")), Peer: -1, Start: 1000, End: now,
			Bytes: uint64(d.ranks) * d.chunkBytes(), Chunk: uint32(d.ranks), Slice: uint32(d.sliceBytes), Collective: 1,
		})
	}
}

func (d directAllReduce) chunkBytes() uint64 { return uint64(d.slices) * d.sliceBytes }

func (d directAllReduce) operation(kind op.Kind, start int64, peer, chunk, step, slice int) *flight.Record {
	return &flight.Record{
		Kind: uint8(kind), Start: start, End: start + 100, Bytes: d.sliceBytes, Peer: int32(peer),
		Collective: 1, Chunk: uint32(chunk), Step: uint16(step), Slice: uint32(slice), Message: uint32(slice), Stream: 1,
	}
}

// TestReduceFromPeers counts what a reduction reads from its peers as bytes on
// the move, from each of them.
func TestReduceFromPeers(t *testing.T) {
	d := directAllReduce{ranks: 4, slices: 2, sliceBytes: 64}
	rec := newRecording(t, d.ranks, 0)
	d.record(rec)
	run := rec.open(t)
	list := run.Collectives()
	if len(list) != 1 || !list[0].Complete || len(list[0].Local) != 0 {
		t.Fatalf("%d collectives: %+v", len(list), list)
	}
	c := list[0]
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	type edge struct {
		chunk        uint32
		step         uint16
		source, dest int32
	}
	got := map[edge]int64{}
	for i := range c.Transfers {
		tr := &c.Transfers[i]
		got[edge{tr.Chunk, tr.Step, tr.Source, tr.Dest}] += tr.Bytes
	}
	for dest := range d.ranks {
		for away := 1; away < d.ranks; away++ {
			source := (dest + away) % d.ranks
			for _, e := range []edge{
				{uint32(dest), 0, int32(source), int32(dest)},              // reduced
				{uint32(source), uint16(away), int32(source), int32(dest)}, // fetched
			} {
				if got[e] != int64(d.chunkBytes()) {
					t.Errorf("%+v: %d bytes, want %d", e, got[e], d.chunkBytes())
				}
				delete(got, e)
			}
		}
	}
	if len(got) != 0 {
		t.Errorf("transfers that nobody made: %+v", got)
	}
}

// TestReduceFromPeersSpans has a slice of each source below that source's
// chunk.
func TestReduceFromPeersSpans(t *testing.T) {
	d := directAllReduce{ranks: 4, slices: 2, sliceBytes: 64}
	rec := newRecording(t, d.ranks, 0)
	d.record(rec)
	spans := slices.Collect(Spans(rec.open(t), Info{RunID: "a"}, SpanOptions{Level: flight.LevelMessage}))
	checkSpans(t, spans)
	count := map[string]int{}
	for _, s := range spans {
		count[s.Name]++
	}
	for name, want := range map[string]int{
		"chunk send": 24, "chunk recv": 24, "flow": 24, "slice reduce": 24, "slice recv": 24, "slice copy": 0, "message": 48,
	} {
		if count[name] != want {
			t.Errorf("%d spans %s, want %d", count[name], name, want)
		}
	}
}
