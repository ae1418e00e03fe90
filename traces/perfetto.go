package traces

import (
	"fmt"
	"io"
	"strconv"

	"github.com/ccrun/ccrun/host/flight"
)

// WritePerfetto writes a run as a trace for the Perfetto UI and its trace
// processor: a process per rank, a thread per stream, a slice per operation,
// arrows from what a rank sends or signals to where another has waited for it,
// and a counter of bytes in flight. Times are those of the node's monotonic
// clock.
func WritePerfetto(w io.Writer, r *Run, info Info) error {
	out := newPacketWriter(w)
	if len(r.logs) > 0 {
		t := &perfettoTrace{out: out, run: r, info: &info}
		t.write()
	}
	if err := out.flush(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// WritePerfettoFile is [WritePerfetto] to a file; see [WriteFile].
func WritePerfettoFile(path string, r *Run, info Info) error {
	return WriteFile(path, func(w io.Writer) error { return WritePerfetto(w, r, info) })
}

// perfettoTrace is a run on its way into a Perfetto trace.
type perfettoTrace struct {
	out  *packetWriter
	run  *Run
	info *Info
}

func (t *perfettoTrace) write() {
	start, end := t.run.extent()
	if wall := t.run.logs[0].WallOffset() + start; wall > 0 {
		t.out.clocks(start, wall)
	}
	t.whole(start, end)
	pids, own := processIDs(t.run.logs)
	t.out.nextThread = own
	places, parts, links := t.run.placements(), t.run.partsByRank(), newArrows(t.run)
	width := max(2, len(strconv.Itoa(max(t.run.size-1, 0))))
	for i, log := range t.run.logs {
		if t.out.err != nil {
			return
		}
		rank := &rankTrace{out: t.out, pid: pids[i], log: log, links: links}
		rank.process = t.out.process(rank.pid, fmt.Sprintf("rank %0*d", width, log.Rank))
		counter := t.out.bytesCounter(rank.process, "in flight")
		rank.sequence = newSequence(t.out, uint64(log.Rank)+2, counter)
		rank.gather(places[log.Rank], parts[log.Rank])
		rank.write()
	}
}

// firstOwnThread is above what Linux gives as a process number.
const firstOwnThread = 1 << 22

// processIDs are the process numbers of ranks, and the first number that no
// process has. Ranks that ran in different namespaces may share one; then all
// numbers are invented.
func processIDs(logs []*flight.Log) (pids []int64, own int64) {
	own = firstOwnThread
	seen := make(map[int]bool)
	for _, log := range logs {
		if log.PID <= 0 || log.PID >= firstOwnThread || seen[log.PID] {
			for i := range logs {
				pids = append(pids[:i], own+int64(i))
			}
			return pids, own + int64(len(logs))
		}
		seen[log.PID] = true
		pids = append(pids, int64(log.PID))
	}
	return pids, own
}

// whole draws what belongs to no rank: the run, and collectives from their
// first rank's start to their last one's finish.
func (t *perfettoTrace) whole(start, end int64) {
	s := newSequence(t.out, 1, 0)
	track := t.out.track(0, "run", nil)
	s.begin(track, schema[termRun].name, categoryRun)
	t.runArguments(s)
	s.write(start)
	s.end(track)
	s.write(end)
	list := t.run.Collectives()
	spans := make([]span, len(list))
	for i, c := range list {
		spans[i] = span{c.Start(), max(c.Start(), c.End()), int32(i)}
	}
	lanes := lanesOfSpans(spans)
	tracks := make([]uint64, len(lanes))
	for i := range lanes {
		tracks[i] = t.out.track(0, "collectives", nil)
	}
	for lane, e := range inOrder(lanes) {
		if e.begin {
			s.begin(tracks[lane], list[e.item].Op.String(), categoryCollective)
			list[e.item].wholeArguments(s)
		} else {
			s.end(tracks[lane])
		}
		s.write(e.at)
	}
}

func (t *perfettoTrace) runArguments(s *packetSequence) {
	s.string(argRunID, printable(t.info.RunID))
	s.string(argDevice, printable(t.info.Device))
	s.string(argPreset, printable(t.info.Preset))
	s.string(argHost, printable(t.info.Host))
	s.string(argVersion, printable(t.info.ServiceVersion))
	s.int(argRanks, int64(t.run.size))
	for _, label := range sortedLabels(t.info.Labels) {
		s.named("label_"+printable(label), printable(t.info.Labels[label]))
	}
}

// wholeArguments says how a collective went on all its ranks.
func (c *Collective) wholeArguments(s *packetSequence) {
	c.arguments(s)
	s.int(argCCT, c.CCT())
	s.bool(argComplete, c.Complete)
	s.int(argStraggler, int64(c.Straggler()))
	if cct := c.CCT(); cct > 0 && c.Complete && c.Disagreement == "" {
		algorithm := float64(c.Bytes) / seconds(cct)
		s.float(argAlgBW, algorithm)
		s.float(argBusBW, algorithm*c.Op.BusFactor(c.Ranks))
	}
	s.string(argDisagreement, c.Disagreement)
}

// arguments says what a collective is.
func (c *Collective) arguments(s *packetSequence) {
	s.uint(argCollective, uint64(c.Sequence))
	s.uint(argGroup, uint64(c.Group))
	s.string(argAlgorithm, c.Algorithm)
	s.uint(argBytes, c.Bytes)
	s.int(argRanks, int64(c.Ranks))
	s.uint(argSliceBytes, uint64(c.SliceBytes))
	s.string(argDtype, c.Type.String())
	s.string(argRedop, c.Red.String())
	s.bool(argWarmup, c.Warmup)
}

// rankPart is what a rank did of a collective.
type rankPart struct {
	collective *Collective
	part       *Part
}

// partsByRank gives each rank's parts of collectives.
func (r *Run) partsByRank() [][]rankPart {
	byRank := make([][]rankPart, r.size)
	for _, c := range r.Collectives() {
		for i := range c.Parts {
			rank := c.Parts[i].Rank
			byRank[rank] = append(byRank[rank], rankPart{c, &c.Parts[i]})
		}
	}
	return byRank
}
