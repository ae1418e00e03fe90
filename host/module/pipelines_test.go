package module

import (
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
)

// pipeAt is where the tests of pipelines keep structures in the guest's memory.
const (
	pipeAt  = 8192
	entryAt = 12288
)

// pipelineOf makes a pipeline of one row of bytes that rank 0 sends to all
// others, from the buffer and to it.
func (r *testRank) pipelineOf(buffer, bytes uint64) uint64 {
	r.t.Helper()
	whole, _ := r.memory.Read(0, r.memory.Size())
	clear(whole[pipeAt:][:abi.PipelineBytes])
	r.must("pipeline_create", pipeAt, outAt)
	handle := r.out()
	for rank := 1; rank < r.config.Size; rank++ {
		put32(whole[dataAt+4*(rank-1):], uint32(rank))
	}
	r.must("pipeline_ranks", handle, dataAt, uint64(r.config.Size-1))
	e := whole[entryAt:][:abi.PipelineEntryBytes]
	clear(e)
	put32(e[8:], uint32(r.config.Size-1))
	for at, v := range map[int]uint64{32: 1, 40: 1, 48: bytes, 56: buffer, 88: buffer} {
		put64(e[at:], v)
	}
	r.must("pipeline_add", handle, entryAt, 1)
	r.must("pipeline_build", handle, outAt)
	return handle
}

// TestMetadataIsNotLost: what ranks tell each other of a pipeline is kept under
// names until it is asked for, with a deadline: a rank that comes late misses
// nothing, and one that does not come is named. (A plan that is broadcast once is
// lost to whoever does not listen yet.)
func TestMetadataIsNotLost(t *testing.T) {
	forEachDevice(t, 3, func(t *testing.T, w *shareWorld) {
		var handles [3]uint64
		for rank, r := range w.ranks {
			handles[rank] = r.pipelineOf(r.alloc(64), 16)
		}
		for _, early := range []int{2, 1} {
			errno, _ := w.ranks[early].call("pipeline_agree", handles[early], 0)
			if text := w.ranks[early].LastError(); errno != abi.TimedOut || !strings.Contains(text, "with rank 0") {
				t.Errorf("rank %d agreed before rank 0 came: %v (%s)", early, errno, text)
			}
		}
		for _, rank := range []int{0, 1, 2} {
			w.ranks[rank].must("pipeline_agree", handles[rank], 0)
		}
	})
}

// A pipeline that ranks have not agreed on moves nothing.
func TestNothingMovesBeforeRanksAgree(t *testing.T) {
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		r := w.ranks[0]
		handle := r.pipelineOf(r.alloc(64), 16)
		whole, _ := r.memory.Read(0, r.memory.Size())
		put64(whole[dataAt:], r.newStream())
		if errno, _ := r.call("pipeline_start", handle, dataAt, 1); errno != abi.Invalid || !strings.Contains(r.LastError(), "pipeline_agree") {
			t.Errorf("started: %v (%s)", errno, r.LastError())
		}
	})
}

// What rank 0 sends arrives, twice, and the pipeline gives everything back.
func TestPipelineArrives(t *testing.T) {
	forEachDevice(t, 2, func(t *testing.T, w *shareWorld) {
		w.together(func(r *testRank) {
			buffer := r.alloc(64)
			before := r.config.Recorder.Counters().BufferBytes
			handle := r.pipelineOf(buffer, 16)
			r.must("pipeline_agree", handle, forever)
			stream := r.newStream()
			for _, text := range []string{"sixteen bytes, 1", "sixteen bytes, 2"} {
				if r.config.Rank == 0 {
					r.write(buffer, 0, text)
				}
				whole, _ := r.memory.Read(0, r.memory.Size())
				put64(whole[dataAt:], stream)
				r.must("pipeline_start", handle, dataAt, 1)
				r.must("pipeline_wait", handle, forever, outAt)
				if got := r.read(buffer, 0, 16); got != text {
					t.Errorf("rank %d has %q, want %q", r.config.Rank, got, text)
				}
				r.must("barrier", forever)
			}
			r.must("pipeline_destroy", handle)
			if after := r.config.Recorder.Counters().BufferBytes; after != before {
				t.Errorf("rank %d has %d bytes, had %d", r.config.Rank, after, before)
			}
		})
	})
}
