package traces

import "fmt"

// ExportStats counts what became of the spans of a run.
type ExportStats struct {
	Spans   int64 // exported
	Failed  int64 // made, and refused or not delivered
	Dropped int64 // not made, for the limits of SpanOptions
	// Disabled says why nothing was exported although nothing failed, "" if
	// not so.
	Disabled string
}

// String is the counts in words.
func (s ExportStats) String() string {
	if s.Disabled != "" {
		return "no spans: " + s.Disabled
	}
	return fmt.Sprintf("%d spans exported, %d failed, %d dropped", s.Spans, s.Failed, s.Dropped)
}

// batchSpans is how many spans travel together: about 1 MB to 2 MB, where
// collectors take 4 MB over gRPC and 20 MB over HTTP.
const batchSpans = 4096

// inBatches walks over the spans of a run and hands them on by the batch, until
// send fails. Spans after that are counted as failed.
func inBatches(r *Run, info *Info, o SpanOptions, send func([]*Span) (rejected int64, err error)) (ExportStats, error) {
	var stats ExportStats
	var firstErr error
	batch := make([]*Span, 0, batchSpans)
	flush := func() {
		if len(batch) == 0 {
			return
		}
		n := int64(len(batch))
		rejected, err := n, firstErr
		if firstErr == nil {
			rejected, err = send(batch)
		}
		if err != nil {
			firstErr, rejected = err, n
		}
		stats.Spans += n - rejected
		stats.Failed += rejected
		batch = batch[:0]
	}
	stats.Dropped = walk(r, info, o, func(s *Span) bool {
		batch = append(batch, s)
		if len(batch) == batchSpans {
			flush()
		}
		return true
	})
	flush()
	return stats, firstErr
}
