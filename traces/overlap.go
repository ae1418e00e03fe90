package traces

import (
	"cmp"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/analysis"
)

// OverlapStats say how much communication computation hides. Times are added
// up over ranks. A rank communicates while one of its streams moves or reduces
// bytes of a collective or waits for a peer; it computes while one multiplies.
type OverlapStats struct {
	Communication float64 `json:"communication_s"`
	Compute       float64 `json:"compute_s"`
	Exposed       float64 `json:"exposed_s"` // communication without computation
	// ExposedShare is the exposed part of the communication. Fraction is how
	// much of what could overlap does: the time of both over the shorter of the
	// two, 0 if nothing computes.
	ExposedShare float64 `json:"exposed"`
	Fraction     float64 `json:"fraction"`
}

// overlapStats is nil if nobody communicated.
func overlapStats(o analysis.Overlap) *OverlapStats {
	if o.Communication == 0 {
		return nil
	}
	return &OverlapStats{
		Communication: seconds(o.Communication), Compute: seconds(o.Compute), Exposed: seconds(o.Exposed()),
		ExposedShare: o.ExposedShare(), Fraction: o.Fraction(),
	}
}

// placedInterval is a time in which a rank communicated, and its own number of
// the collective for which it did, 0 if none.
type placedInterval struct {
	analysis.Interval
	collective uint32
}

// overlaps gives the overlap of the whole run, and adds that of each row's
// collectives to the row.
func (r *Run) overlaps(rows map[rowKey]*row) (total analysis.Overlap) {
	byRank := make(map[int][]placedPart)
	for _, row := range rows {
		for _, c := range row.counted {
			for i := range c.Parts {
				p := &c.Parts[i]
				byRank[p.Rank] = append(byRank[p.Rank], placedPart{row, p})
			}
		}
	}
	for _, log := range r.logs {
		communication, compute := communicationOf(log)
		compute = analysis.Union(compute)
		overlapByRow(byRank[log.Rank], communication, compute)
		whole := make([]analysis.Interval, len(communication))
		for i := range communication {
			whole[i] = communication[i].Interval
		}
		total.Add(analysis.OverlapOf(analysis.Union(whole), compute))
	}
	return total
}

// placedPart is a rank's part of a collective and its row.
type placedPart struct {
	row  *row
	part *Part
}

// communicationOf reads the times in which a rank communicated and computed.
func communicationOf(log *flight.Log) (communication []placedInterval, compute []analysis.Interval) {
	for rec := range log.Records() {
		if !believable(&rec) {
			continue
		}
		v := analysis.Interval{Start: rec.Start, End: rec.End}
		switch {
		case op.Kind(rec.Kind) == op.Gemm:
			compute = append(compute, v)
		case communicates(&rec):
			communication = append(communication, placedInterval{v, rec.Collective})
		}
	}
	return communication, compute
}

// communicates reports whether a record is of communication: a call of the
// device as a whole, since its waits are not recorded; the guest's own
// collective only by its operations.
func communicates(rec *flight.Record) bool {
	switch op.Kind(rec.Kind) {
	case op.Put, op.Get, op.GetBox, op.Send, op.Recv, op.Wait, op.Barrier, op.ShareLookup:
		return true
	case op.Copy, op.CopyBox, op.Reduce:
		return rec.Collective != 0 || rec.Peer >= 0
	case op.Collective:
		return rec.Stream != 0
	default:
		return false
	}
}

// overlapByRow adds a rank's overlap in each collective to the row of it. It
// sorts the communication.
func overlapByRow(parts []placedPart, communication []placedInterval, compute []analysis.Interval) {
	slices.SortFunc(communication, func(a, b placedInterval) int {
		return cmp.Or(cmp.Compare(a.collective, b.collective), cmp.Compare(a.Start, b.Start))
	})
	var own []analysis.Interval
	for _, p := range parts {
		window := p.part.window()
		from, _ := slices.BinarySearchFunc(communication, p.part.number, func(v placedInterval, number uint32) int {
			return cmp.Compare(v.collective, number)
		})
		own = own[:0]
		for _, v := range communication[from:] {
			if v.collective != p.part.number {
				break
			}
			own = append(own, analysis.Interval{Start: max(v.Start, window.Start), End: min(v.End, window.End)})
		}
		p.row.overlap.Add(overlapWithin(window, analysis.Union(own), compute))
	}
}

// window is the time that a rank takes part.
func (p *Part) window() analysis.Interval { return analysis.Interval{Start: p.Start, End: p.Finish} }

// overlapWithin is the overlap of communication, all of it within the window,
// with computation.
func overlapWithin(window analysis.Interval, communication, compute []analysis.Interval) analysis.Overlap {
	near := analysis.Within(compute, window)
	return analysis.Overlap{
		Communication: analysis.Length(communication),
		Compute:       analysis.Common([]analysis.Interval{window}, near),
		Both:          analysis.Common(communication, near),
	}
}
