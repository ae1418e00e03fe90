package pipeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/op"
)

// script is what a file of testdata has built up.
type script struct {
	plan *Plan
	m    *Machine
	now  int64
}

// TestGoldens reads testdata. The input of a plan is a line for each entry:
//
//	SRC -> DST... PLANESxROWSxROWBYTES [parts=R,R] [type=T] [red=OP] [via=TRANSPORT] [tensor=N] [cell=N]
//
// build gives its buckets; order takes a line of bucket numbers; tasks and
// layout are of one rank; describe gives all entries; machine makes a rank's machine,
// reset resets it,
// and step takes lines "NANOS EVENT ARGUMENTS" and gives what is to be done;
// stats its figures.
func TestGoldens(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.HasPrefix(path, "testdata/fuzz") {
			return
		}
		var s script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "build":
				return s.build(t, d)
			case "order":
				if err := s.plan.SetOrder(scanNumbers(t, d.Input)); err != nil {
					return err.Error()
				}
				return planText(s.plan)
			case "describe":
				var out strings.Builder
				for i := range s.plan.Entries {
					fmt.Fprintln(&out, s.plan.Describe(i))
				}
				return out.String()
			case "tasks":
				return tasksText(s.plan, scanInt(t, d, "rank", 0))
			case "layout":
				return s.layoutText(t, d)
			case "machine":
				return s.machine(t, d)
			case "reset":
				s.m.Reset(s.now)
				return ""
			case "step":
				return s.step(t, d)
			case "stats":
				return statsText(s.m.Stats(s.now))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func scanInt(t *testing.T, d *datadriven.TestData, key string, otherwise int) int {
	value := strconv.Itoa(otherwise)
	d.MaybeScanArgs(t, key, &value)
	n, err := strconv.Atoi(value)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return n
}

func scanNumbers(t *testing.T, line string) []uint32 {
	var list []uint32
	for _, field := range strings.Fields(line) {
		n, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, uint32(n))
	}
	return list
}

func scanEntry(t *testing.T, line string) Entry {
	var e Entry
	source, rest, _ := strings.Cut(line, "->")
	e.Source = int32(scanNumbers(t, source)[0])
	for _, field := range strings.Fields(rest) {
		key, value, named := strings.Cut(field, "=")
		switch {
		case !named && strings.Contains(field, "x"):
			if _, err := fmt.Sscanf(field, "%dx%dx%d", &e.Planes, &e.Rows, &e.RowBytes); err != nil {
				t.Fatalf("%s: %v", field, err)
			}
		case !named:
			e.Destinations = append(e.Destinations, int32(scanNumbers(t, field)[0]))
		case key == "parts":
			for _, r := range scanNumbers(t, strings.ReplaceAll(value, ",", " ")) {
				e.Parts = append(e.Parts, int32(r))
			}
		case key == "type":
			e.Type = scanName(t, value, op.F64)
		case key == "red":
			e.Red = scanName(t, value, op.Avg)
		case key == "via":
			e.Transport = scanName(t, value, Direct)
		case key == "tensor":
			e.Tensor = scanNumbers(t, value)[0]
		case key == "cell":
			e.Cell = scanNumbers(t, value)[0]
		default:
			t.Fatalf("unknown field %q", field)
		}
	}
	return e
}

// scanName finds the value of that name, up to the last one.
func scanName[T interface {
	~uint8
	String() string
}](t *testing.T, name string, last T) T {
	for v := range last + 1 {
		if v.String() == name {
			return v
		}
	}
	t.Fatalf("no %T is called %q", last, name)
	return 0
}

func (s *script) build(t *testing.T, d *datadriven.TestData) string {
	var entries []Entry
	for line := range strings.Lines(d.Input) {
		entries = append(entries, scanEntry(t, line))
	}
	bucket := int64(scanInt(t, d, "bucket", 0))
	p, err := Build(scanInt(t, d, "ranks", 0), entries, bucket)
	if err != nil {
		return err.Error()
	}
	if err := againstOracle(p, bucket); err != nil {
		t.Fatal(err)
	}
	if err := partners(p); err != nil {
		t.Fatal(err)
	}
	s.plan = p
	return planText(p)
}

func planText(p *Plan) string {
	var out strings.Builder
	for c := range p.Channels {
		ch := &p.Channels[c]
		fmt.Fprintf(&out, "channel %d: %d -> %s, %v", c, ch.Source, ranksText(ch.Destinations), ch.Transport)
		if len(ch.Parts) > 0 {
			fmt.Fprintf(&out, ", %v of %v of %s", ch.Red, ch.Type, ranksText(ch.Parts))
		}
		fmt.Fprintf(&out, ": buckets %s\n", ranksText(ch.Buckets))
	}
	for b := range p.Buckets {
		fmt.Fprintf(&out, "bucket %d: %d bytes, entries %s, channel %d, place %d\n", b, p.Buckets[b].Bytes, ranksText(p.Buckets[b].Entries), p.Buckets[b].Channel, p.Buckets[b].Place)
	}
	fmt.Fprintf(&out, "order: %s\n", ranksText(p.Order))
	return out.String()
}

func ranksText(list []int32) string { return strings.Trim(fmt.Sprint(list), "[]") }

func edgeText(name string, edges ...Edge) string {
	var out strings.Builder
	for _, e := range edges {
		if e.Rank >= 0 {
			fmt.Fprintf(&out, " %s %d#%d", name, e.Rank, e.Ordinal)
		}
	}
	return out.String()
}

func tasksText(p *Plan, rank int) string {
	var out strings.Builder
	for i, t := range p.Tasks(rank) {
		fmt.Fprintf(&out, "task %d: bucket %d at %d, %d bytes%s%s%s%s", i, t.Bucket, t.Place, t.Bytes,
			edgeText("add from", t.AddFrom), edgeText("add to", t.AddTo), edgeText("from", t.From), edgeText("to", t.To...))
		for _, flag := range []struct {
			name string
			set  bool
		}{{"part", t.Part}, {"source", t.Source}, {"stays", t.Stays}, {"lands", t.Lands}} {
			if flag.set {
				out.WriteString(" " + flag.name)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// scanRuns scans which entries lie in one run, in src=... and dst=...: entries,
// with points between them.
func scanRuns(t *testing.T, d *datadriven.TestData) Contiguous {
	var src, dst string
	d.MaybeScanArgs(t, "src", &src)
	d.MaybeScanArgs(t, "dst", &dst)
	lists := map[bool][]uint32{false: scanNumbers(t, strings.ReplaceAll(src, ".", " ")), true: scanNumbers(t, strings.ReplaceAll(dst, ".", " "))}
	return func(entry int32, dst bool) bool { return slices.Contains(lists[dst], uint32(entry)) }
}

func scanPublish(d *datadriven.TestData) Publish {
	switch {
	case d.HasArg("in_order"):
		return InOrder
	case d.HasArg("one_by_one"):
		return OneByOne
	}
	return AtOnce
}

func (s *script) layoutText(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	tasks := s.plan.Tasks(scanInt(t, d, "rank", 0))
	for i := range tasks {
		l := s.plan.Layout(&tasks[i], scanRuns(t, d), d.HasArg("staged"))
		fmt.Fprintf(&out, "task %d:", i)
		for _, part := range []struct {
			name string
			at   int64
		}{{"own", l.Own}, {"sum", l.Sum}, {"result", l.Result}} {
			if part.at >= 0 {
				fmt.Fprintf(&out, " %s at %d,", part.name, part.at)
			}
		}
		fmt.Fprintf(&out, " %d bytes\n", l.Bytes)
	}
	return out.String()
}

func (s *script) machine(t *testing.T, d *datadriven.TestData) string {
	rank := scanInt(t, d, "rank", 0)
	l := Limits{
		MaxBytes: int64(scanInt(t, d, "bytes", 0)), MaxBuckets: scanInt(t, d, "buckets", 0), MaxInFlight: scanInt(t, d, "cap", 2),
		Streams: scanInt(t, d, "streams", 8), Wires: scanInt(t, d, "wires", 1), Window: scanInt(t, d, "window", 0), Publish: scanPublish(d),
	}
	var policy string
	d.MaybeScanArgs(t, "policy", &policy)
	if i := slices.Index([]string{"all_at_once", "windowed", "serialized", "credits", "scripted"}, policy); i >= 0 {
		l.Policy = Policy(i)
	} else if policy != "" {
		d.Fatalf(t, "no policy is called %q", policy)
	}
	if d.HasArg("refuse") {
		l.Oversize = Refuse
	}
	tasks := s.plan.Tasks(rank)
	staging := make([]int64, len(tasks))
	for i := range tasks {
		staging[i] = Class(s.plan.Layout(&tasks[i], scanRuns(t, d), l.Publish != AtOnce).Bytes)
	}
	m, err := NewMachine(s.plan, rank, tasks, staging, l)
	if err != nil {
		return err.Error()
	}
	s.m, s.now = m, 0
	return fmt.Sprintf("%d tasks, staging %s\n", len(tasks), strings.Trim(fmt.Sprint(staging), "[]"))
}

func (s *script) step(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		var arguments []int64
		for _, field := range append(fields[:1:1], fields[2:]...) {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			arguments = append(arguments, n)
		}
		s.now = arguments[0]
		e := Event{Kind: scanName(t, fields[1], Looked)}
		switch arguments = append(arguments[1:], 0, 0); e.Kind {
		case Arrived, Finished, Failed:
			e.Task = int32(arguments[0])
		case Credited, Heard, PeerFailed:
			e.Peer, e.Value = int32(arguments[0]), uint64(arguments[1])
		case AdmitUpTo:
			e.Value = uint64(arguments[0])
		}
		fmt.Fprintf(&out, "%s\n", strings.TrimSpace(line))
		for _, a := range s.m.Step(s.now, e, nil) {
			fmt.Fprintf(&out, "  %s\n", actionText(a))
		}
		st := s.m.Status()
		fmt.Fprintf(&out, "  # next %d %v, in flight %d, held %d, published %d", st.Next, st.Stalled, st.InFlight, st.HeldBytes, st.Published)
		if st.Done {
			out.WriteString(", done")
		}
		if st.Failed {
			fmt.Fprintf(&out, ", place %d failed on rank %d", st.FailedPlace, st.FailedRank)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func actionText(a Action) string {
	switch a.Kind {
	case Launch, Finalize, Release:
		return fmt.Sprintf("%v %d on %d", a.Kind, a.Task, a.Stream)
	case Grant:
		return fmt.Sprintf("%v %d to rank %d", a.Kind, a.Value, a.Peer)
	case End:
		return a.Kind.String()
	}
	return fmt.Sprintf("%v %d", a.Kind, a.Value)
}

func statsText(s Stats) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d ns, sent %d, received %d, copied %d\n", s.Nanos, s.Sent, s.Received, s.Copied)
	fmt.Fprintf(&out, "bytes: peak %d, mean %d\n", s.PeakBytes, s.MeanBytes)
	fmt.Fprintf(&out, "buckets: %d finished, peak %d, mean %d/1000, %d skipped\n", s.Buckets, s.PeakBuckets, s.MeanBucketsMilli, s.Skipped)
	fmt.Fprintf(&out, "entries: peak %d\n", s.PeakDescriptors)
	for why, nanos := range s.Stalls {
		if nanos > 0 {
			fmt.Fprintf(&out, "stall %v: %d ns\n", Stall(why), nanos)
		}
	}
	return out.String()
}
