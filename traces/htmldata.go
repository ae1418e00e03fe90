package traces

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/html"
)

// maxPageOperations is how many operations a page holds at most: a browser
// needs some hundred bytes for each.
const maxPageOperations = 4_000_000

// htmlData is the records of a run as the page's script gets them. Times are
// nanoseconds from the first record on.
type htmlData struct {
	run         *Run
	base        int64
	collectives []*Collective
	rows        []htmlRow
	paths       []htmlSegment
	names       []string
	nameIndex   map[string]uint32
	limit       int   // of operations, and of flows and slices
	leftOut     int64 // operations for which there is no room
	covered     int   // collectives whose flows and slices there is room for
}

// htmlRow is the operations of one stream of a rank, or its marks. Operations
// that overlap in time lie in different lanes of the row.
type htmlRow struct {
	rank, stream int
	lanes        [][]flight.Record
}

// marksStream stands for the row of a rank's marks.
const marksStream = -1

// htmlHeader is what the script reads first.
type htmlHeader struct {
	Ranks       int             `json:"ranks"`
	Kinds       []string        `json:"kinds"`
	Names       []string        `json:"names"`
	Rows        []htmlHeaderRow `json:"rows"`
	Collectives int             `json:"collectives"`
	Parts       int             `json:"parts"`
	Operations  int             `json:"operations"`
	Flows       int             `json:"flows"`
	Slices      int             `json:"slices"`
	Segments    int             `json:"segments"` // of critical paths
	LeftOut     int64           `json:"left_out"`
	Covered     int             `json:"covered"` // collectives whose flows and slices are there
}

type htmlHeaderRow struct {
	Rank   int   `json:"rank"`
	Stream int   `json:"stream"`
	Lanes  []int `json:"lanes"` // operations of each
}

func newHTMLData(r *Run, s *Summary, limit int) *htmlData {
	d := &htmlData{run: r, limit: limit, collectives: r.Collectives(), nameIndex: make(map[string]uint32)}
	d.base, _ = r.extent()
	index := make(map[collectiveKey]int, len(d.collectives))
	for i, c := range d.collectives {
		index[collectiveKey{c.Group, c.Sequence}] = i
	}
	marks := make([][]flight.Record, len(r.logs))
	for i, log := range r.logs {
		marks[i] = marksOf(log)
	}
	numbers := newNumbering(marks)
	for i, log := range r.logs {
		d.addRank(log, newPlacement(numbers, marks[i], index))
	}
	d.addPaths(s, index)
	d.covered = d.cover()
	return d
}

// cover is how many collectives, from the first on, have no more flows and
// slices together than there is room for.
func (d *htmlData) cover() int {
	room := 2 * d.limit
	for i, c := range d.collectives {
		for j := range c.Transfers {
			room -= len(c.Transfers[j].Flows) + len(c.Transfers[j].Slices)
		}
		if room < 0 {
			return i
		}
	}
	return len(d.collectives)
}

// placement finds the collective, by its place in the list, that a rank's own
// number means.
type placement struct {
	numbering numbering
	index     map[collectiveKey]int
	known     map[uint32]uint32
}

func newPlacement(n numbering, marks []flight.Record, index map[collectiveKey]int) *placement {
	p := &placement{n, index, make(map[uint32]uint32, len(marks))}
	for i, key := range n.keys(marks) {
		p.known[marks[i].Collective] = uint32(index[key]) + 1
	}
	return p
}

// of is the place from 1 on, 0 for none.
func (p *placement) of(number uint32) uint32 {
	if number == 0 {
		return 0
	}
	at, ok := p.known[number]
	if !ok {
		if key, placed := p.numbering.unmarked(number); placed {
			if i, ok := p.index[key]; ok {
				at = uint32(i) + 1
			}
		}
		p.known[number] = at
	}
	return at
}

// addRank sorts the records of a rank into rows. One that has none of
// operations still has a row, for its part in collectives.
func (d *htmlData) addRank(log *flight.Log, places *placement) {
	streams := make(map[int][]flight.Record)
	room := d.limit / len(d.run.logs)
	for rec := range log.Records() {
		if !believable(&rec) || isCollective(&rec) {
			continue
		}
		if room == 0 {
			d.leftOut++
			continue
		}
		room--
		rec.Collective = places.of(rec.Collective)
		stream := int(rec.Stream)
		if op.Kind(rec.Kind) == op.Mark {
			stream, rec.Aux = marksStream, d.name(markName(log, &rec))
		}
		streams[stream] = append(streams[stream], rec)
	}
	if len(streams) == 0 {
		streams[0] = nil
	}
	for _, stream := range slices.Sorted(maps.Keys(streams)) {
		d.rows = append(d.rows, htmlRow{log.Rank, stream, lanesOf(streams[stream])})
	}
}

// name is the number of a name in the page's list.
func (d *htmlData) name(name string) uint32 {
	at, ok := d.nameIndex[name]
	if !ok {
		at = uint32(len(d.names))
		d.nameIndex[name] = at
		d.names = append(d.names, name)
	}
	return at
}

// maxLanes is how many operations of one row are shown below each other.
// Those beyond share the last lane.
const maxLanes = 4

// lanesOf puts each operation into the first lane in which none is under way.
func lanesOf(records []flight.Record) [][]flight.Record {
	slices.SortStableFunc(records, func(a, b flight.Record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	if !overlaps(records) {
		return [][]flight.Record{records}
	}
	var lanes [][]flight.Record
	var ends [maxLanes]int64
	for i := range records {
		lane := 0
		for lane < len(lanes) && lane < maxLanes-1 && records[i].Start < ends[lane] {
			lane++
		}
		if lane == len(lanes) {
			lanes = append(lanes, nil)
		}
		lanes[lane] = append(lanes[lane], records[i])
		ends[lane] = max(ends[lane], records[i].End)
	}
	return lanes
}

// overlaps reports whether any of the records, by start, begins before the one
// ahead of it ends.
func overlaps(records []flight.Record) bool {
	for i := 1; i < len(records); i++ {
		if records[i].Start < records[i-1].End {
			return true
		}
	}
	return false
}

// write writes the header and the tables, in the order of assets/data.js.
func (d *htmlData) write(w io.Writer) error {
	out := html.NewColumns(w)
	parts, flows := d.parts(), d.flows()
	pieces := d.slices()
	records := d.records()
	labels, kinds := d.labels(), d.pathKinds()
	header, err := json.Marshal(d.header(len(parts), len(records), len(flows), len(pieces)))
	if err != nil {
		return err
	}
	out.Text(header)
	d.writeCollectives(out, labels)
	d.writeParts(out, parts)
	d.writeOperations(out, records)
	d.writeFlows(out, flows)
	writeSlices(out, pieces)
	d.writePaths(out, kinds)
	return out.Flush()
}

func (d *htmlData) header(parts, operations, flows, pieces int) *htmlHeader {
	h := &htmlHeader{
		Ranks: d.run.size, Kinds: kindNames(), Names: d.names, Rows: []htmlHeaderRow{},
		Collectives: len(d.collectives), Parts: parts, Operations: operations, Flows: flows, Slices: pieces,
		Segments: len(d.paths), LeftOut: d.leftOut, Covered: d.covered,
	}
	for _, row := range d.rows {
		counts := make([]int, len(row.lanes))
		for i, lane := range row.lanes {
			counts[i] = len(lane)
		}
		h.Rows = append(h.Rows, htmlHeaderRow{row.rank, row.stream, counts})
	}
	return h
}

// kindNames lists the names of operation kinds by number.
func kindNames() []string {
	names := make([]string, op.SyncAny+1)
	for i := range names {
		names[i] = op.Kind(i).String()
	}
	return names
}

// labels are the numbers of the collectives' names.
func (d *htmlData) labels() []uint32 {
	labels := make([]uint32, len(d.collectives))
	for i, c := range d.collectives {
		label := c.Op.String()
		if c.Algorithm != "" {
			label += " " + c.Algorithm
		}
		labels[i] = d.name(label)
	}
	return labels
}
