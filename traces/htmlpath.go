package traces

import (
	"github.com/ccrun/ccrun/traces/analysis"
	"github.com/ccrun/ccrun/traces/html"
)

// maxPagePaths is how many critical paths a page shows: those of the first
// rows of the summary.
const maxPagePaths = 64

// htmlSegment is a piece of the critical path of a collective.
type htmlSegment struct {
	collective int
	segment    analysis.Segment
}

// addPaths adds the critical paths that the summary speaks of: in each row
// those of the slowest collective and of the median one.
func (d *htmlData) addPaths(s *Summary, index map[collectiveKey]int) {
	seen := make(map[int]bool)
	for i := range s.Collectives {
		paths := s.Collectives[i].CriticalPaths
		if paths == nil {
			continue
		}
		for _, p := range []*PathStats{paths.Slowest, paths.Median} {
			at, ok := index[collectiveKey{p.Group, p.Sequence}]
			if !ok || seen[at] || len(seen) == maxPagePaths {
				continue
			}
			seen[at] = true
			for _, segment := range d.run.CriticalPath(d.collectives[at]) {
				d.paths = append(d.paths, htmlSegment{at, segment})
			}
		}
	}
}

// pathKinds are the numbers of what the segments were spent on.
func (d *htmlData) pathKinds() []uint32 {
	kinds := make([]uint32, len(d.paths))
	for i := range d.paths {
		kinds[i] = d.name(d.paths[i].segment.Kind.String())
	}
	return kinds
}

func (d *htmlData) writePaths(out *html.Columns, kinds []uint32) {
	n := len(d.paths)
	out.Differences(n, func(i int) uint32 { return uint32(d.paths[i].collective) })
	out.Differences(n, func(i int) uint32 { return uint32(d.paths[i].segment.Rank) })
	out.Numbers(n, func(i int) uint64 { return d.since(d.paths[i].segment.Start) })
	out.Numbers(n, func(i int) uint64 { return uint64(max(0, d.paths[i].segment.Nanos())) })
	out.Differences(n, func(i int) uint32 { return kinds[i] })
}
