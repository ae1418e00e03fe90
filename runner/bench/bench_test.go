package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/op"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed into the golden files")

// options are what the tests begin with.
func options(t *testing.T, name string, ranks int) *Options {
	t.Helper()
	c, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Options{
		Collective: c, Threads: 1, GPUs: ranks, MinBytes: 8, MaxBytes: 128, StepFactor: 4, StepBytes: 1 << 20,
		Types: []op.Dtype{op.F32}, Reds: []op.RedOp{op.Sum}, Iterations: 4, Warmup: 1, Aggregated: 1, Average: AverageMean, Checks: 1,
	}
}

// golden compares with a file whole.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func noon() time.Time { return time.Date(2026, 3, 4, 12, 0, 1, 0, time.UTC) }

var testHosts = []Host{
	{Rank: 0, PID: 1234, Hostname: "node7", Device: 0, DeviceHex: "0000:00:00", DeviceInfo: "cpu"},
	{Rank: 1, PID: 123456, Hostname: "a-long-host-name", Device: 1, DeviceHex: "0000:00:00", DeviceInfo: "cpu"},
}

func TestFind(t *testing.T) {
	for name, want := range map[string]op.CollectiveOp{
		"all_reduce": op.AllReduce, "alltoall_perf": op.AllToAll, "all_to_all": op.AllToAll, "bcast": op.Broadcast, "allgather": op.AllGather,
	} {
		if c, err := Find(name); err != nil || c.Op != want {
			t.Errorf("%s is %v, %v", name, c.Op, err)
		}
	}
	for _, name := range []string{"", "_perf", "all-reduce", "sendrecv_v"} {
		if c, err := Find(name); err == nil {
			t.Errorf("%q is %v", name, c.Op)
		}
	}
}

// TestRows lists the rows of each collective.
func TestRows(t *testing.T) {
	var b strings.Builder
	for _, name := range Names() {
		o := options(t, name, 4)
		o.Root = -1
		if name != "broadcast" {
			o.Root = 2
		}
		if name == "all_reduce" {
			o.Types, _ = ParseTypes("all")
			o.Reds = []op.RedOp{op.Max, op.Avg}
			o.MaxBytes = 8
		}
		fmt.Fprintf(&b, "%s\n", name)
		for _, row := range o.Rows() {
			algbw, busbw := row.bandwidth(1e-9)
			fmt.Fprintf(&b, "  %4d bytes  %3d x %-8s %-4s root %2d  in 1 ns: algbw %g busbw %g\n",
				row.Bytes(), row.Count, typeName(row.Type), row.redName(), row.Root, algbw, busbw)
		}
	}
	golden(t, "rows.txt", b.String())
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		min, max, step, factor int64
		want                   string
	}{
		{8, 100, 1, 2, "[8 16 32 64]"},
		{8, 64, 1, 2, "[8 16 32 64]"},
		{10, 40, 10, 1, "[10 20 30 40]"},
		{10, 39, 10, 1, "[10 20 30]"},
		{7, 7, 0, 1, "[7]"},
		{0, 0, 1, 2, "[0]"},
		{1 << 62, 1<<63 - 1, 1 << 62, 1, "[4611686018427387904]"},
		{1 << 62, 1<<63 - 1, 1, 4, "[4611686018427387904]"},
	} {
		o := &Options{MinBytes: c.min, MaxBytes: c.max, StepBytes: c.step, StepFactor: c.factor}
		var got []int64
		for size := range o.sizes {
			got = append(got, size.Bytes)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := options(t, "reduce", 2).Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"there is at least one rank": func(o *Options) { o.GPUs = 0 },
		"a size cannot be negative":  func(o *Options) { o.MinBytes = -1 },
		"the smallest size, 129 bytes, is larger than the largest, 128 bytes":      func(o *Options) { o.MinBytes = 129 },
		"sizes must grow from step to step":                                        func(o *Options) { o.StepFactor = 0 },
		"sizes that grow by a factor cannot begin with 0":                          func(o *Options) { o.MinBytes = 0 },
		"there are from 1 to 1048576 iterations":                                   func(o *Options) { o.Iterations = 0 },
		"there are from 0 to 1048576 iterations of warm-up and of checks":          func(o *Options) { o.Checks = -1 },
		"no iteration is left to report on":                                        func(o *Options) { o.PerIteration, o.PerIterationSkip = true, 4 },
		"averages are 0 (rank 0), 1 (mean), 2 (min) and 3 (max)":                   func(o *Options) { o.Average = 4 },
		"there is no root 2 among 2 ranks":                                         func(o *Options) { o.Root = 2 },
		"blocking is from 0 to 3, and buffers are unaligned by 0 elements or more": func(o *Options) { o.Blocking = 4 },
		"the table has more than 4096 rows":                                        func(o *Options) { o.MaxBytes, o.StepFactor, o.StepBytes = 1<<40, 1, 1 },
	} {
		o := options(t, "reduce", 2)
		change(o)
		if err := o.Check(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// timed makes timings out of what two ranks might say.
func timed(o *Options, row *Row, nanos int64, wrong int64) *Timing {
	ranks := []RankTiming{
		{IssueNanos: nanos / 2, TotalNanos: nanos, EndNanos: []int64{nanos / 8, nanos / 4, nanos / 2, nanos}},
		{IssueNanos: nanos, TotalNanos: nanos * 3, EndNanos: []int64{nanos, nanos * 2, nanos*5/2 + 1, nanos * 3}, Wrong: wrong},
	}
	return o.Combine(row, ranks)
}

// TestTable prints tables of all kinds.
func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		collective string
		change     func(*Options)
		minBusBW   float64
	}{
		"plain":     {"all_reduce", func(*Options) {}, -1},
		"unchecked": {"all_gather", func(o *Options) { o.Checks, o.StepFactor, o.Timestamps, o.MinBytes, o.Memory = 0, 1, true, 128, true }, -1},
		"iterations": {"reduce", func(o *Options) {
			o.PerIteration, o.PerIterationSkip, o.ProcessorTime, o.Root, o.Blocking, o.Average = true, 1, true, 1, 1, AverageMax
		}, 1e6},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, c.collective, 2)
			c.change(o)
			var b, report strings.Builder
			table := &Table{Out: &b, Options: o, Version: "1.2.3", Now: noon}
			if name == "unchecked" {
				table.Notes = []string{"preset: h100", "no checks: there is nothing to check"}
			}
			r := NewReport(o, []string{"ccrun", "bench", c.collective}, []string{"NCCL_TESTS_MIN_BW=1"}, testHosts, noon())
			outcome := &Outcome{MinBusBW: c.minBusBW, BufferBytes: 3 << 20}
			if err := table.Begin(testHosts); err != nil {
				t.Fatal(err)
			}
			for i, row := range o.Rows() {
				first, second := timed(o, &row, 1<<(10*i), 0), timed(o, &row, 12345, int64(i))
				if i == 2 {
					second = nil
				}
				outcome.Add(first, second)
				r.Row(&row, first, second)
				if err := table.Row(&row, first, second); err != nil {
					t.Fatal(err)
				}
			}
			if err := table.End(outcome); err != nil {
				t.Fatal(err)
			}
			r.End(outcome, nil, noon())
			if err := r.Write(&report); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", b.String())
			golden(t, name+".json", strings.ReplaceAll(report.String(), `,"`, ",\n\""))
			if outcome.Good() != (name == "unchecked") {
				t.Errorf("good is %v of %+v", outcome.Good(), outcome)
			}
		})
	}
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		value float64
		width int
		want  string
	}{
		{0, 7, "   0.00"}, {0.004, 7, "   0.00"}, {9.999, 7, "  10.00"}, {123.456, 7, " 123.46"}, {9999.5, 7, "9999.50"},
		{12345.67, 7, "12345.7"}, {123456.7, 7, " 123457"}, {1234567, 7, "1234567"}, {12345678, 7, "1.2e+07"},
		{999.94, 6, "999.94"}, {1000.4, 6, "1000.4"}, {12345, 6, " 12345"}, {1234567, 6, " 1e+06"},
	} {
		if got := figure(c.value, c.width); got != c.want {
			t.Errorf("%v in %d columns is %q, want %q", c.value, c.width, got, c.want)
		}
	}
	for value, want := range map[float64]string{0: "0", 100000: "100000", 1e6: "1e+06", 12.3400: "12.34", 123456789: "1.23457e+08", 0.00001234: "1.234e-05"} {
		if got := general(value); got != want {
			t.Errorf("%v is %q, want %q", value, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(200 - i)
	}
	s := spreadOf(values)
	if s.min != 1 || s.max != 200 || s.p50 != 101 || s.p95 != 190 || s.p99 != 198 || s.mean != 100.5 {
		t.Errorf("%+v", s)
	}
	if s := spreadOf([]float64{3, 5}); s.deviation != 1 || s.variation() != 25 || s.p99 != 5 {
		t.Errorf("%+v", s)
	}
	if s := spreadOf(nil); s != (spread{}) || s.variation() != 0 {
		t.Errorf("%+v of nothing", s)
	}
}

func TestAverages(t *testing.T) {
	secs := []float64{3, 1, 8}
	for a, want := range []float64{3, 4, 1, 8} {
		if got := Average(a).of(secs); got != want {
			t.Errorf("average %d is %v, want %v", a, got, want)
		}
	}
}

func TestReportIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	for _, want := range []string{path, path + ".0", path + ".1"} {
		file, err := CreateReport(path)
		if err != nil || file.Name() != want {
			t.Fatalf("%v, %v, want %s", file, err, want)
		}
		file.Close()
	}
	if file, err := CreateReport(filepath.Join(path, "x")); err == nil {
		t.Errorf("made %s", file.Name())
	}
}
