package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"
)

// Report is the object that nccl-tests' programs write with -J, version 3.
// Truth values are words there.
type Report struct {
	Version     int      `json:"version"`
	StartTime   string   `json:"start_time"`
	Args        []string `json:"args"`
	Env         []string `json:"env"` // what the benchmark reads: the rest may hold secrets
	NCCLVersion int      `json:"nccl_version"`
	Config      config   `json:"config"`
	Devices     []Host   `json:"devices"`
	Results     []result `json:"results"`
	OutOfBounds struct {
		Count int   `json:"count"`
		Okay  truth `json:"okay"`
	} `json:"out_of_bounds"`
	Bandwidth struct {
		Bandwidth double `json:"bandwidth"`
		Okay      string `json:"okay"`
	} `json:"average_bus_bandwidth"`
	Errors  []string `json:"errors"`
	EndTime string   `json:"end_time"`

	Simulation any `json:"simulation,omitempty"` // what simulated times rest on; not of nccl-tests

	options *Options
}

type config struct {
	Threads      int   `json:"nthreads"`
	GPUs         int   `json:"ngpus"`
	MinBytes     int64 `json:"minimum_bytes"`
	MaxBytes     int64 `json:"maximum_bytes"`
	StepFactor   int64 `json:"step_factor,omitempty"`
	StepBytes    int64 `json:"step_bytes,omitempty"`
	Warmup       int   `json:"warmup_iters"`
	Iterations   int   `json:"iterations"`
	Aggregated   int   `json:"aggregated_iterations"`
	Validation   int   `json:"validation"`
	Graph        int   `json:"graph"`
	Blocking     truth `json:"blocking_collectives"`
	PerIteration truth `json:"per_iter_timing"`
	ParallelInit truth `json:"parallel_init"`
}

// result is a row.
type result struct {
	Size             int64      `json:"size"`
	Count            int64      `json:"count"`
	Type             string     `json:"type"`
	RedOp            string     `json:"redop"`
	Root             string     `json:"root"`
	OutOfPlace       *placement `json:"out_of_place"`
	OutOfPlaceSpread *iteration `json:"out_of_place_per_iter,omitempty"`
	InPlace          *placement `json:"in_place"`
	InPlaceSpread    *iteration `json:"in_place_per_iter,omitempty"`
	Iterations       int        `json:"actual_iterations"`
	Experiment       string     `json:"experiment_name"`
}

type placement struct {
	Time          *double `json:"time,omitempty"`
	ProcessorTime *double `json:"cpu_time,omitempty"`
	AlgBW         double  `json:"alg_bw"`
	BusBW         double  `json:"bus_bw"`
	Wrong         *double `json:"nwrong"`
}

type iteration struct {
	Min       double     `json:"min_us"`
	Max       double     `json:"max_us"`
	Mean      double     `json:"avg_us"`
	P50       double     `json:"p50_us"`
	P95       double     `json:"p95_us"`
	P99       double     `json:"p99_us"`
	Deviation double     `json:"stdev_us"`
	Variation double     `json:"cv_pct"`
	Times     []double   `json:"times_us"`
	PerRank   [][]double `json:"per_process_max_times_us,omitempty"`
}

// double prints as C's %lf does.
type double float64

// MarshalJSON is a number with six decimals, or a word for what is none.
func (d double) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(d)) || math.IsInf(float64(d), 0) {
		return []byte(`"nan"`), nil
	}
	return strconv.AppendFloat(nil, float64(d), 'f', 6, 64), nil
}

// truth is a truth value, spelt out.
type truth bool

// MarshalJSON is "true" or "false" as a string.
func (t truth) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatBool(bool(t))), nil
}

// NewReport begins a report.
func NewReport(o *Options, args, env []string, hosts []Host, now time.Time) *Report {
	r := &Report{
		Version: 3, StartTime: now.Format(timeFormat), Args: args, Env: append([]string{}, env...), Devices: hosts,
		Results: []result{}, Errors: []string{}, options: o,
		Config: config{
			Threads: o.Threads, GPUs: o.GPUs, MinBytes: o.MinBytes, MaxBytes: o.MaxBytes, Warmup: o.Warmup,
			Iterations: o.Iterations, Aggregated: o.Aggregated, Validation: o.Checks,
			Blocking: o.Blocking > 0, PerIteration: truth(o.PerIteration),
		},
	}
	if o.StepFactor > 1 {
		r.Config.StepFactor = o.StepFactor
	} else {
		r.Config.StepBytes = o.StepBytes
	}
	return r
}

// Row adds a row. A placement that the collective does not have is nil.
func (r *Report) Row(row *Row, outOfPlace, inPlace *Timing) {
	entry := result{
		Size: row.Bytes(), Count: row.Count, Type: typeName(row.Type), RedOp: row.redName(), Root: fmt.Sprintf("%6d", row.Root),
		OutOfPlace: r.placement(outOfPlace), InPlace: r.placement(inPlace),
		Iterations: row.Iterations, Experiment: r.options.program(),
	}
	if r.options.PerIteration {
		entry.OutOfPlaceSpread, entry.InPlaceSpread = iterations(outOfPlace), iterations(inPlace)
	}
	r.Results = append(r.Results, entry)
}

func (r *Report) placement(t *Timing) *placement {
	if t == nil {
		return nil
	}
	micros := double(t.Secs * 1e6)
	p := &placement{AlgBW: double(t.AlgBW), BusBW: double(t.BusBW)}
	if r.options.ProcessorTime {
		p.ProcessorTime = &micros
	} else {
		p.Time = &micros
	}
	if t.Checked {
		wrong := double(t.Wrong)
		p.Wrong = &wrong
	}
	return p
}

func iterations(t *Timing) *iteration {
	if t == nil {
		return nil
	}
	s := spreadOf(t.PerIteration)
	i := &iteration{
		Min: double(s.min * 1e6), Max: double(s.max * 1e6), Mean: double(s.mean * 1e6), P50: double(s.p50 * 1e6), P95: double(s.p95 * 1e6),
		P99: double(s.p99 * 1e6), Deviation: double(s.deviation * 1e6), Variation: double(s.variation()), Times: micros(t.PerIteration),
	}
	if len(t.PerRank) > 1 {
		for _, secs := range t.PerRank {
			i.PerRank = append(i.PerRank, micros(secs))
		}
	}
	return i
}

func micros(secs []float64) []double {
	out := make([]double, len(secs))
	for i, s := range secs {
		out[i] = double(s * 1e6)
	}
	return out
}

// End completes the report.
func (r *Report) End(s *Outcome, errs []string, now time.Time) {
	r.OutOfBounds.Count, r.OutOfBounds.Okay = s.OutOfBounds, s.OutOfBounds == 0
	r.Bandwidth.Bandwidth, r.Bandwidth.Okay = double(s.BusBW), "unchecked"
	if s.MinBusBW >= 0 {
		r.Bandwidth.Okay = strconv.FormatBool(!s.tooSlow())
	}
	r.Errors = append(r.Errors, errs...)
	r.EndTime = now.Format(timeFormat)
}

// Write prints the report as one line.
func (r *Report) Write(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// CreateReport makes the file of a report. It overwrites nothing: when a file
// is there, a number is appended to the path, and the file's name says so.
func CreateReport(path string) (*os.File, error) {
	name := path
	for n := 0; ; n++ {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		name = fmt.Sprintf("%s.%d", path, n)
	}
}
