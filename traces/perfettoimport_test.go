package traces

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// imported is a Perfetto trace as its trace processor takes it in: events in
// order of time, slices by track as a stack, arrows that begin at the first slice
// with their number and end where they are terminated.
type imported struct {
	tracks    map[uint64]*importedTrack
	order     []*importedTrack
	sequences map[uint64]*importedSequence
	slices    []*importedSlice
	arrows    [][2]*importedSlice
	active    map[uint64]*importedSlice // last slice of each arrow that has not ended
	counters  map[string][]string       // by track
}

type importedTrack struct {
	id, parent uint64
	path       string
	pid, tid   uint64
	counter    bool
	stack      []*importedSlice
}

type importedSequence struct {
	categories, names, arguments map[uint64]string
	counters                     []any
}

type importedSlice struct {
	track           *importedTrack
	name, category  string
	start, end      uint64
	depth           int
	arguments       []string
	correlation     uint64
	parent          *importedSlice
	hasEnd, arrived bool
}

// importPerfetto writes a run as a trace and takes it in. What the trace
// processor would count as an error fails the test.
func importPerfetto(t *testing.T, run *Run, info Info) *imported {
	t.Helper()
	var text bytes.Buffer
	if err := WritePerfetto(&text, run, info); err != nil {
		t.Fatal(err)
	}
	m := &imported{
		tracks: make(map[uint64]*importedTrack), sequences: make(map[uint64]*importedSequence),
		active: make(map[uint64]*importedSlice), counters: make(map[string][]string),
	}
	var events []decoded
	for _, p := range decodePerfetto(t, "Trace", text.Bytes())["packet"] {
		packet := p.(decoded)
		m.define(t, packet)
		if packet["track_event"] != nil {
			events = append(events, packet)
		}
	}
	slices.SortStableFunc(events, func(a, b decoded) int { return cmp.Compare(a.uint("timestamp"), b.uint("timestamp")) })
	for _, packet := range events {
		m.event(t, packet)
	}
	for _, s := range m.slices {
		if !s.hasEnd {
			t.Errorf("%s on %s does not end", s.name, s.track.path)
		}
	}
	return m
}

// define takes in what a packet defines.
func (m *imported) define(t *testing.T, packet decoded) {
	t.Helper()
	if d := packet.message("track_descriptor"); d != nil {
		m.defineTrack(t, d)
	}
	id := packet.uint("trusted_packet_sequence_id")
	if packet.uint("sequence_flags")&1 != 0 {
		m.sequences[id] = &importedSequence{map[uint64]string{}, map[uint64]string{}, map[uint64]string{}, nil}
	}
	s := m.sequences[id]
	if d := packet.message("trace_packet_defaults"); d != nil {
		s.counters = d.message("track_event_defaults")["extra_counter_track_uuids"]
	}
	if d := packet.message("interned_data"); d != nil {
		for field, table := range map[string]map[uint64]string{
			"event_categories": s.categories, "event_names": s.names, "debug_annotation_names": s.arguments,
		} {
			for _, entry := range d[field] {
				e := entry.(decoded)
				if _, twice := table[e.uint("iid")]; twice || e.uint("iid") == 0 {
					t.Errorf("%s: number %d is taken", field, e.uint("iid"))
				}
				table[e.uint("iid")] = e.string("name")
			}
		}
	}
}

func (m *imported) defineTrack(t *testing.T, d decoded) {
	t.Helper()
	track := &importedTrack{id: d.uint("uuid"), parent: d.uint("parent_uuid"), path: d.string("name"), counter: d["counter"] != nil}
	if p := d.message("process"); p != nil {
		track.path, track.pid = p.string("process_name"), p.uint("pid")
	}
	if p := d.message("thread"); p != nil {
		track.path, track.pid, track.tid = p.string("thread_name"), p.uint("pid"), p.uint("tid")
	}
	for _, other := range m.order {
		if other.tid != 0 && other.tid == track.tid || other.pid == track.pid && track.pid != 0 && other.tid == track.tid {
			t.Errorf("tracks %s and %s have the numbers %d and %d", other.path, track.path, track.pid, track.tid)
		}
	}
	if parent := m.tracks[track.parent]; parent != nil {
		track.path = parent.path + "/" + track.path
	} else if track.parent != 0 {
		t.Errorf("track %s has no parent", track.path)
	}
	if track.id == 0 || m.tracks[track.id] != nil {
		t.Errorf("number %d of track %s is taken", track.id, track.path)
	}
	m.tracks[track.id] = track
	m.order = append(m.order, track)
}

func (m *imported) event(t *testing.T, packet decoded) {
	t.Helper()
	at, event, s := packet.uint("timestamp"), packet.message("track_event"), m.sequences[packet.uint("trusted_packet_sequence_id")]
	track := m.tracks[event.uint("track_uuid")]
	if track == nil || s == nil || track.counter {
		t.Fatalf("an event of no track or sequence: %v", packet)
	}
	for i, value := range event["extra_counter_values"] {
		counter := m.tracks[s.counters[i].(uint64)]
		m.counters[counter.path] = append(m.counters[counter.path], fmt.Sprintf("%d:%d", at, value))
	}
	var slice *importedSlice
	switch event.uint("type") {
	case 1:
		slice = m.begin(t, track, s, at, event)
	case 2:
		if len(track.stack) == 0 {
			t.Fatalf("nothing to end on %s at %d", track.path, at)
		}
		slice = track.stack[len(track.stack)-1]
		slice.end, slice.hasEnd = at, true
		track.stack = track.stack[:len(track.stack)-1]
	default:
		t.Fatalf("event of type %d", event.uint("type"))
	}
	m.flows(slice, event)
}

func (m *imported) begin(t *testing.T, track *importedTrack, s *importedSequence, at uint64, event decoded) *importedSlice {
	t.Helper()
	slice := &importedSlice{
		track: track, name: s.names[event.uint("name_iid")], category: s.categories[event.uint("category_iids")],
		start: at, depth: len(track.stack), correlation: event.uint("correlation_id"),
	}
	if slice.depth > 0 {
		slice.parent = track.stack[slice.depth-1]
	}
	for _, a := range event["debug_annotations"] {
		annotation := a.(decoded)
		name := annotation.string("name")
		if name == "" {
			name = s.arguments[annotation.uint("name_iid")]
		}
		slice.arguments = append(slice.arguments, name+"="+annotationValue(annotation))
		if name == "" {
			t.Errorf("an argument of %s has no name", slice.name)
		}
	}
	if slice.name == "" || slice.category == "" {
		t.Errorf("a slice without name or category: %v", event)
	}
	track.stack = append(track.stack, slice)
	m.slices = append(m.slices, slice)
	return slice
}

// flows draws the arrows of an event.
func (m *imported) flows(slice *importedSlice, event decoded) {
	for _, id := range event["flow_ids"] {
		if from := m.active[id.(uint64)]; from != nil {
			m.arrows = append(m.arrows, [2]*importedSlice{from, slice})
		}
		m.active[id.(uint64)] = slice
	}
	for _, id := range event["terminating_flow_ids"] {
		if from := m.active[id.(uint64)]; from != nil {
			m.arrows = append(m.arrows, [2]*importedSlice{from, slice})
			slice.arrived = true
			delete(m.active, id.(uint64))
		}
	}
}

// String describes the trace: tracks with their slices, arrows, counters.
func (m *imported) String() string {
	var b strings.Builder
	for _, track := range m.order {
		fmt.Fprintf(&b, "%s", track.path)
		if track.pid != 0 {
			fmt.Fprintf(&b, " pid=%d", track.pid)
		}
		if track.tid != 0 {
			fmt.Fprintf(&b, " tid=%d", track.tid)
		}
		b.WriteString("\n")
		for _, s := range m.slices {
			if s.track == track {
				fmt.Fprintf(&b, "  %s%d..%d %s (%s) %s\n", strings.Repeat("> ", s.depth), s.start, s.end, s.name, s.category, strings.Join(s.arguments, " "))
			}
		}
		if values := m.counters[track.path]; track.counter && values != nil {
			fmt.Fprintf(&b, "  %s\n", strings.Join(values, " "))
		}
	}
	for _, a := range m.arrows {
		fmt.Fprintf(&b, "arrow %s %s at %d -> %s %s at %d\n", a[0].track.path, a[0].name, a[0].start, a[1].track.path, a[1].name, a[1].start)
	}
	return b.String()
}
