package traces

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
)

// How S is counted, said under every table, because the field has two ways.
const sizeNote = "sizes as nccl-tests counts them: S is the whole array, for all_gather, reduce_scatter and all_to_all\n" +
	"n times one rank's share; algbw = S / p50 of CCT, busbw = algbw x nccl-tests' factor of the collective"

const (
	labelWidth = 26
	valueWidth = 10
)

// WriteTable writes the summary for a person to read, at most 80 columns of
// figures.
func (s *Summary) WriteTable(w io.Writer, color bool) error {
	t := table{color: color}
	if len(s.Collectives) > 0 || len(s.Marks) > 0 {
		t.heading()
	}
	for i := range s.Collectives {
		t.collective(&s.Collectives[i])
	}
	t.marks(s.Marks)
	t.run(s)
	t.totals(s)
	if len(s.Collectives) > 0 {
		t.dim(sizeNote)
		t.printf("\n")
	}
	_, err := w.Write(t.Bytes())
	return err
}

// table is text being laid out.
type table struct {
	bytes.Buffer
	color bool
}

func (t *table) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *table) dim(text string)  { t.styled("\x1b[2m", text) }
func (t *table) bold(text string) { t.styled("\x1b[1m", text) }

func (t *table) styled(style, text string) {
	if t.color {
		text = style + text + "\x1b[0m"
	}
	t.WriteString(text)
}

func (t *table) heading() {
	text := fmt.Sprintf("%-*s", labelWidth, "")
	for _, name := range []string{"min", "p50", "p95", "p99", "max"} {
		text += fmt.Sprintf("%*s", valueWidth, name)
	}
	t.dim(text)
	t.printf("\n")
}

func (t *table) times(label string, times *Times) {
	if times == nil {
		return
	}
	t.printf("%-*s", labelWidth, label)
	for _, v := range []float64{times.Min, times.P50, times.P95, times.P99, times.Max} {
		t.printf("%*s", valueWidth, formatSeconds(v))
	}
	t.printf("\n")
}

func (t *table) collective(c *CollectiveStats) {
	t.bold(c.title())
	t.printf("  %s on %s, %s", formatBytes(float64(c.Bytes)), plural(int64(c.Ranks), "rank"), plural(int64(c.Count), "time"))
	if c.Warmups > 0 {
		t.printf(" after %s", plural(int64(c.Warmups), "warm-up"))
	}
	if c.Incomplete > 0 {
		t.printf(", and %d not completed", c.Incomplete)
	}
	t.printf("\n")
	t.times("  CCT   collective", c.CCT)
	t.times("  RCCT  rank-chunk", c.RCCT)
	t.times("  FCT   flow", c.FCT)
	if c.Count > 0 {
		t.printf("  algbw %s   busbw %s   slowest rank %d (%d of %d)\n",
			formatRate(c.AlgBW), formatRate(c.BusBW), c.SlowestRank, c.SlowestCount, c.Count)
	}
	t.explain(c)
	t.oddities(c)
}

// oddities says what is wrong with how the guest marked its collectives.
func (t *table) oddities(c *CollectiveStats) {
	if c.Broken > 0 {
		t.printf("  broken terms in %d, first %s\n", c.Broken, c.Breach)
	}
	if c.Disagreeing > 0 {
		t.printf("  ranks disagree on %d, first %s\n", c.Disagreeing, c.Disagreement)
	}
}

// title names the row: operation and algorithm.
func (c *CollectiveStats) title() string {
	if c.Algorithm == "" {
		return c.Op
	}
	return c.Op + " " + c.Algorithm
}

func (t *table) marks(marks map[string]MarkStats) {
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		t.bold("mark " + name)
		t.printf("  %s\n", plural(int64(marks[name].Count), "time"))
		t.times("  time", marks[name].Time)
	}
}

func (t *table) totals(s *Summary) {
	if n := s.Shares.Hits + s.Shares.Misses; n > 0 {
		t.printf("shares   %s %% of %s from the cache\n", significant(100*float64(s.Shares.Hits)/float64(n)), plural(n, "look-up"))
	}
	if peak, rank := highest(s.Memory.DevicePeak); peak > 0 {
		t.printf("memory   device peak %s on rank %d", formatBytes(float64(peak)), rank)
		if guest, rank := highest(s.Memory.GuestPeak); guest > 0 {
			t.printf(", guest peak %s on rank %d", formatBytes(float64(guest)), rank)
		}
		t.printf("\n")
	}
	t.printf("records  %d written, %d dropped", s.Records.Written, s.Records.Dropped)
	if s.Records.Damaged > 0 {
		t.printf(", %d damaged", s.Records.Damaged)
	}
	if s.Records.Unplaced > 0 {
		t.printf(", %d of unknown collectives", s.Records.Unplaced)
	}
	t.printf("\n")
	if len(s.Missing) > 0 {
		t.printf("missing  the records of %s, first rank %d: times are lower bounds\n", plural(int64(len(s.Missing)), "rank"), s.Missing[0])
	}
}

// highest is the largest value and where it first stands.
func highest(values []int64) (value int64, at int) {
	for i, v := range values {
		if v > value {
			value, at = v, i
		}
	}
	return value, at
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
