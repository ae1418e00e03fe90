package bench

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Table prints what nccl-tests' programs print, to the byte: parsers of their
// output read it. Call [Table.Begin], [Table.Row] for each row, [Table.End].
type Table struct {
	Out     io.Writer
	Options *Options
	Version string // of ccrun
	Now     func() time.Time
	Notes   []string // what its numbers rest on, in lines below the last row
}

// Host is one rank as the table and the report name it.
type Host struct {
	Rank       int    `json:"rank"`
	Group      int    `json:"group"`
	PID        int    `json:"pid"`
	Hostname   string `json:"hostname"`
	Device     int    `json:"device"`
	DeviceHex  string `json:"device_hex"`
	DeviceInfo string `json:"device_info"`
}

// formatVersion is the version of nccl-tests whose output this is.
const formatVersion = "2.19.6"

// timeFormat is how times of day are printed.
const timeFormat = "2006-01-02 15:04:05"

// program is the name of nccl-tests' program for the collective.
func (o *Options) program() string { return o.Collective.Name + "_perf" }

// Begin prints everything above the first row.
func (t *Table) Begin(hosts []Host) error {
	var b strings.Builder
	o := t.Options
	step, unit := o.StepBytes, "bytes"
	if o.StepFactor > 1 {
		step, unit = o.StepFactor, "factor"
	}
	fmt.Fprintf(&b, "# nccl-tests version %s nccl-headers=0 nccl-library=0\n", formatVersion)
	fmt.Fprintf(&b, "# ccrun %s, without NCCL: only the format is nccl-tests'\n", t.Version)
	fmt.Fprintf(&b, "# Collective test starting: %s\n", o.program())
	fmt.Fprintf(&b, "# nThread %d nGpus %d minBytes %d maxBytes %d step: %d(%s) warmup iters: %d iters: %d agg iters: %d validation: %d graph: 0 unalign: %d\n",
		o.Threads, o.GPUs, o.MinBytes, o.MaxBytes, step, unit, o.Warmup, o.Iterations, o.Aggregated, o.Checks, o.Unalign)
	switch {
	case o.Blocking == 1:
		b.WriteString("# Blocking Enabled: wait for completion and barrier after each collective \n")
	case o.Blocking > 1:
		b.WriteString("# Blocking Enabled: wait for completion after each collective (no barrier) \n")
	}
	if o.PerIteration {
		b.WriteString("# Per-Iteration Report: clock of each rank; i_* uses max over ranks \n")
	}
	b.WriteString("#\n# Using devices\n")
	for _, h := range hosts {
		fmt.Fprintf(&b, "#  Rank %2d Group %2d Pid %6d on %10s device %2d [%s] %s\n", h.Rank, h.Group, h.PID, h.Hostname, h.Device, h.DeviceHex, h.DeviceInfo)
	}
	b.WriteString("#\n")
	t.head(&b)
	_, err := io.WriteString(t.Out, b.String())
	return err
}

// head prints the names of the columns.
func (t *Table) head(b *strings.Builder) {
	o := t.Options
	clock := "time"
	if o.ProcessorTime {
		clock = "cputime"
	}
	names, units := half{clock, "algbw", "busbw", "#wrong"}, half{"(us)", "(GB/s)", "(GB/s)", ""}
	title := "           out-of-place                       in-place          "
	extraNames, extraUnits := "", ""
	if o.PerIteration {
		title = "              out-of-place (+ per-iteration)                                in-place (+ per-iteration)"
		extraNames, extraUnits = extra("i_min", "i_max", "i_p99", "i_cv%"), extra("(us)", "(us)", "(us)", "(%)")
	}
	stampName, stampUnit := "", ""
	if o.Timestamps {
		stampName, stampUnit = fmt.Sprintf("%19s", "timestamp"), fmt.Sprintf("%19s", "%Y-%m-%d %H:%M:%S")
	}
	fmt.Fprintf(b, "# %10s  %12s  %8s  %6s  %6s%s\n", "", "", "", "", "", title)
	for _, line := range []struct {
		left         [5]any
		half         half
		extra, stamp string
	}{
		{[5]any{"size", "count", "type", "redop", "root"}, names, extraNames, stampName},
		{[5]any{"(B)", "(elements)", "", "", ""}, units, extraUnits, stampUnit},
	} {
		right := line.half.String() + line.extra
		fmt.Fprintf(b, "# %10s  %12s  %8s  %6s  %6s", line.left[:]...)
		fmt.Fprintf(b, "%s%s %s\n", right, right, line.stamp)
	}
}

// half is one placement's part of a line.
type half struct{ time, algbw, busbw, wrong string }

func (h half) String() string {
	return fmt.Sprintf("  %7s  %6s  %6s  %6s", h.time, h.algbw, h.busbw, h.wrong)
}

func extra(columns ...any) string { return fmt.Sprintf("  %7s  %7s  %7s  %7s", columns...) }

// Row prints a row. A placement that the collective does not have is nil.
func (t *Table) Row(row *Row, outOfPlace, inPlace *Timing) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%12d  %12d  %8s  %6s  %6d", row.Bytes(), row.Count, typeName(row.Type), row.redName(), row.Root)
	for _, timing := range []*Timing{outOfPlace, inPlace} {
		t.half(&b, timing)
	}
	if t.Options.Timestamps {
		fmt.Fprintf(&b, "%21s", t.Now().Format(timeFormat))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(t.Out, b.String())
	return err
}

func (t *Table) half(b *strings.Builder, m *Timing) {
	if m == nil {
		b.WriteString(half{"N/A", "N/A", "N/A", "N/A"}.String())
		if t.Options.PerIteration {
			b.WriteString(extra("N/A", "N/A", "N/A", "N/A"))
		}
		return
	}
	fmt.Fprintf(b, "  %7s  %6s  %6s", figure(m.Secs*1e6, 7), figure(m.AlgBW, 6), figure(m.BusBW, 6))
	if m.Checked {
		fmt.Fprintf(b, "  %6s", general(float64(m.Wrong)))
	} else {
		b.WriteString("    N/A") // one column short, as in nccl-tests
	}
	if t.Options.PerIteration {
		s := spreadOf(m.PerIteration)
		b.WriteString(extra(figure(s.min*1e6, 7), figure(s.max*1e6, 7), figure(s.p99*1e6, 7), figure(s.variation(), 7)))
	}
}

// End prints everything below the last row.
func (t *Table) End(s *Outcome) error {
	var b strings.Builder
	verdict := "OK"
	if s.OutOfBounds > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(&b, "# %-20s : %d %s\n", "Out of bounds values", s.OutOfBounds, verdict)
	verdict = ""
	if s.MinBusBW >= 0 {
		verdict = "OK"
		if s.tooSlow() {
			verdict = "FAILED"
		}
	}
	fmt.Fprintf(&b, "# %-20s : %s %s\n", "Avg bus bandwidth", general(s.BusBW), verdict)
	if t.Options.Memory {
		fmt.Fprintf(&b, "# %-20s : %s\n", "Buffer memory", memoryText(s.BufferBytes))
	}
	for _, note := range t.Notes {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	fmt.Fprintf(&b, "#\n# Collective test concluded: %s\n#\n", t.Options.program())
	_, err := io.WriteString(t.Out, b.String())
	return err
}

// memoryText is a size as nccl-tests prints memory.
func memoryText(bytes int64) string {
	amount, unit := float64(bytes), "B"
	for _, next := range []string{"KB", "MB", "GB"} {
		if amount < 1024 {
			break
		}
		amount, unit = amount/1024, next
	}
	return fmt.Sprintf("%.2f %s", amount, unit)
}
