package traces

import (
	"maps"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/traces/html"
)

// Bits of what the page knows of a collective.
const (
	htmlWarmup = 1 << iota
	htmlComplete
	htmlDisagreeing
)

func htmlFlags(c *Collective) byte {
	var flags byte
	if c.Warmup {
		flags |= htmlWarmup
	}
	if c.Complete {
		flags |= htmlComplete
	}
	if c.Disagreement != "" {
		flags |= htmlDisagreeing
	}
	return flags
}

// since is a time as the page counts it.
func (d *htmlData) since(at int64) uint64 { return uint64(max(0, at-d.base)) }

func (d *htmlData) writeCollectives(out *html.Columns, labels []uint32) {
	n, list := len(d.collectives), d.collectives
	out.Numbers(n, func(i int) uint64 { return d.since(list[i].Start()) })
	out.Numbers(n, func(i int) uint64 { return uint64(max(0, list[i].CCT())) })
	out.Numbers(n, func(i int) uint64 { return list[i].Bytes })
	out.Differences(n, func(i int) uint32 { return labels[i] })
	out.Differences(n, func(i int) uint32 { return list[i].Sequence })
	out.Differences(n, func(i int) uint32 { return uint32(list[i].Group) })
	out.Differences(n, func(i int) uint32 { return uint32(list[i].Ranks) })
	out.Differences(n, func(i int) uint32 { return list[i].SliceBytes })
	out.Differences(n, func(i int) uint32 { return uint32(list[i].Straggler() + 1) })
	out.Bytes(n, func(i int) byte { return htmlFlags(list[i]) })
}

// htmlPart is what one rank did of a collective.
type htmlPart struct {
	collective int
	part       *Part
}

func (d *htmlData) parts() []htmlPart {
	var parts []htmlPart
	for i, c := range d.collectives {
		for j := range c.Parts {
			parts = append(parts, htmlPart{i, &c.Parts[j]})
		}
	}
	return parts
}

func (d *htmlData) writeParts(out *html.Columns, parts []htmlPart) {
	n := len(parts)
	out.Differences(n, func(i int) uint32 { return uint32(parts[i].collective) })
	out.Differences(n, func(i int) uint32 { return uint32(parts[i].part.Rank) })
	out.Numbers(n, func(i int) uint64 { return d.since(parts[i].part.Start) })
	out.Numbers(n, func(i int) uint64 { return uint64(max(0, parts[i].part.Finish-parts[i].part.Start)) })
	out.Numbers(n, func(i int) uint64 { return uint64(parts[i].part.Wait) })
}

// records lists the operations by row, lane and start.
func (d *htmlData) records() []*flight.Record {
	var records []*flight.Record
	for _, row := range d.rows {
		for _, lane := range row.lanes {
			records = slices.Grow(records, len(lane))
			for i := range lane {
				records = append(records, &lane[i])
			}
		}
	}
	return records
}

// writeOperations writes the starts as the time since the start before it in
// the lane, so that none is negative.
func (d *htmlData) writeOperations(out *html.Columns, records []*flight.Record) {
	n := len(records)
	for _, row := range d.rows {
		for _, lane := range row.lanes {
			last := d.base
			out.Numbers(len(lane), func(i int) uint64 {
				before := last
				last = lane[i].Start
				return uint64(last - before)
			})
		}
	}
	out.Numbers(n, func(i int) uint64 { return uint64(records[i].End - records[i].Start) })
	out.Numbers(n, func(i int) uint64 { return records[i].Bytes })
	out.Differences(n, func(i int) uint32 { return records[i].Collective })
	out.Differences(n, func(i int) uint32 { return records[i].Chunk })
	out.Differences(n, func(i int) uint32 { return records[i].Slice })
	out.Differences(n, func(i int) uint32 { return records[i].Message })
	out.Differences(n, func(i int) uint32 { return uint32(records[i].Flow) })
	out.Differences(n, func(i int) uint32 { return uint32(records[i].Step) })
	out.Differences(n, func(i int) uint32 { return uint32(records[i].Peer + 1) })
	out.Differences(n, func(i int) uint32 { return records[i].Aux })
	out.Bytes(n, func(i int) byte { return records[i].Kind })
	out.Bytes(n, func(i int) byte { return records[i].Status })
}

// htmlFlow is a flow and where it belongs.
type htmlFlow struct {
	collective int
	transfer   *Transfer
	flow       *Flow
}

// flows lists the flows of all collectives, in their order, as many as a page
// holds.
func (d *htmlData) flows() []htmlFlow {
	var flows []htmlFlow
	for i, c := range d.collectives[:d.covered] {
		for j := range c.Transfers {
			t := &c.Transfers[j]
			for k := range t.Flows {
				flows = append(flows, htmlFlow{i, t, &t.Flows[k]})
			}
		}
	}
	return flows
}

func (d *htmlData) writeFlows(out *html.Columns, flows []htmlFlow) {
	n := len(flows)
	out.Differences(n, func(i int) uint32 { return uint32(flows[i].collective) })
	out.Differences(n, func(i int) uint32 { return flows[i].transfer.Chunk })
	out.Differences(n, func(i int) uint32 { return uint32(flows[i].transfer.Step) })
	out.Differences(n, func(i int) uint32 { return uint32(flows[i].transfer.Source) })
	out.Differences(n, func(i int) uint32 { return uint32(flows[i].transfer.Dest) })
	out.Differences(n, func(i int) uint32 { return uint32(flows[i].flow.ID) })
	out.Differences(n, func(i int) uint32 { return uint32(len(flows[i].flow.Messages)) })
	out.Numbers(n, func(i int) uint64 { return d.since(flows[i].flow.Start) })
	out.Numbers(n, func(i int) uint64 { return uint64(max(0, flows[i].flow.FCT())) })
	out.Numbers(n, func(i int) uint64 { return uint64(flows[i].flow.Bytes) })
}

// htmlSlice is a slice and the collective that it belongs to.
type htmlSlice struct {
	collective int
	slice      *Slice
}

func (d *htmlData) slices() []htmlSlice {
	var pieces []htmlSlice
	for i, c := range d.collectives[:d.covered] {
		for j := range c.Transfers {
			t := &c.Transfers[j]
			for k := range t.Slices {
				pieces = append(pieces, htmlSlice{i, &t.Slices[k]})
			}
		}
	}
	return pieces
}

func writeSlices(out *html.Columns, pieces []htmlSlice) {
	n := len(pieces)
	out.Differences(n, func(i int) uint32 { return uint32(pieces[i].collective) })
	out.Numbers(n, func(i int) uint64 { return uint64(max(0, pieces[i].slice.End-pieces[i].slice.Start)) })
}

// sortedLabels are the names of a run's labels.
func sortedLabels(labels map[string]string) []string { return slices.Sorted(maps.Keys(labels)) }
