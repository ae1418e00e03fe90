package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// pair is one value of a sweep, without a budget and with one.
type pair struct {
	value         string
	x             float64
	without, with measured
}

// sweep does the same with one number after the other.
func (s *site) sweep(plans []*reshard.Plan, out, plot io.Writer) error {
	var pairs []pair
	var j *job
	for i := range s.options.sweep.values {
		varied := s.with(i)
		if i < len(plans) {
			next, err := s.newJob(plans[i])
			if err != nil {
				return err
			}
			if j != nil {
				if err := j.close(); err != nil {
					return err
				}
			} else {
				s.introduce(out, next)
			}
			j = next
		}
		p, err := s.point(j, varied, pairs)
		if err != nil {
			return err
		}
		p.value, p.x = s.options.sweep.text(i), s.options.sweep.values[i].size()
		if s.options.sweep.name == "max-bytes" {
			p.x = float64(p.with.maxBytes)
		}
		pairs = append(pairs, p)
	}
	sweepTable(s.options.sweep.name, pairs).write(out)
	withs := make([]measured, len(pairs))
	for i := range pairs {
		withs[i] = pairs[i].with
	}
	s.conclude(out, withs)
	drawn := func() chart { return s.sweepChart(pairs) }
	if err := s.draw(plot, drawn, func() table { return sweepCSV(s.options.sweep.name, pairs) }); err != nil {
		return err
	}
	return j.close()
}

// point runs one value. Where only the budget varies, the run without one is
// that of the first value.
func (s *site) point(j *job, o *options, before []pair) (pair, error) {
	var p pair
	var err error
	if s.options.sweep.name == "max-bytes" && len(before) > 0 {
		p.without = before[0].without
	} else if p.without, err = j.run(o.setting.pipelined()); err != nil {
		return p, err
	}
	maxBytes := o.budget.of(p.without.peak)
	if s.options.sweep.name == "channels" && !o.given["max-bytes"] {
		maxBytes = j.channelBytes(o)
	}
	p.with, err = j.run(o.setting.budgeted(maxBytes))
	return p, err
}

// channelBytes is about what four channels can have in flight, of entries of
// equal size: a budget that does not grow with the number of channels.
func (j *job) channelBytes(o *options) int64 {
	entry := int64(1)
	for i := range j.plan.Entries {
		entry = max(entry, j.plan.Entries[i].Bytes())
	}
	bucket := max(1, (int64(o.bucket)+entry-1)/entry) * entry
	return 4 * int64(o.inFlight) * bucket
}

// sweepTable has what a run without a budget came to on the left, and what one
// with a budget did on the right.
func sweepTable(name string, pairs []pair) table {
	t := table{
		{"", "no budget", "", "", "", "", "budget", "", "", "", "", ""},
		{name, "peak", "mean", "in flight", "GB/s", "|", "bytes", "peak", "mean", "in flight", "GB/s", "change"},
	}
	for i := range pairs {
		a, b := &pairs[i].without, &pairs[i].with
		t.add(pairs[i].value, shortBytes(a.peak), shortBytes(a.mean), fmt.Sprint(a.peakBuckets), short(a.rate()/1e9), "|",
			b.budgetText(), shortBytes(b.peak), shortBytes(b.mean), fmt.Sprint(b.peakBuckets), short(b.rate()/1e9),
			fmt.Sprintf("%+.1f %%", 100*(b.rate()/a.rate()-1)))
	}
	return t
}

// sweepChart is peak memory and throughput over what is varied.
func (s *site) sweepChart(pairs []pair) chart {
	var peaks, rates [2][]point
	for i := range pairs {
		p := &pairs[i]
		for at, m := range [...]*measured{&p.without, &p.with} {
			peaks[at] = append(peaks[at], point{p.x, float64(m.peak)})
			rates[at] = append(rates[at], point{p.x, m.rate() / 1e9})
		}
	}
	x := axis{label: s.options.sweep.name, log: sweeps[s.options.sweep.kind()].doubles}
	if sweeps[s.options.sweep.kind()].sizes {
		x.unit, x.label = byteUnit, map[string]string{"max-bytes": "budget", "bucket": "size of a bucket"}[s.options.sweep.name]
	}
	with := s.budgetLabel(pairs)
	return chart{
		title: s.titled("Peak memory and throughput over " + x.label), subtitle: s.subtitle(), x: x,
		panels: []panel{
			{axis{label: "peak staging memory of the fullest rank", unit: byteUnit, log: true}, []series{{"no budget", peaks[0]}, {with, peaks[1]}}},
			{axis{label: "throughput, GB/s", unit: rateUnit}, []series{{"no budget", rates[0]}, {with, rates[1]}}},
		},
	}
}

// budgetLabel says which budget a line of the plot is of, as far as all of it
// has the same one.
func (s *site) budgetLabel(pairs []pair) string {
	for i := range pairs {
		if pairs[i].with.budgetText() == pairs[0].with.budgetText() {
			continue
		}
		if s.options.sweep.name == "max-bytes" {
			return "that budget over all channels"
		}
		return "budget of " + s.budget.String() + " of the peak"
	}
	return "budget of " + pairs[0].with.budgetText()
}

// titled is the title that is asked for, or else this one.
func (o *options) titled(title string) string {
	if o.title != "" {
		return o.title
	}
	return title
}

// subtitle says what was moved where.
func (s *site) subtitle() string {
	what := s.tensors.String()
	if s.model != "" {
		what = s.model
	}
	return fmt.Sprintf("%s %s, %d ranks on %s", what, s.where(), s.world.Size(), s.world.Device())
}

// where is from where to where tensors go.
func (o *options) where() string {
	if o.sweep.name == "channels" {
		return "from rank 0 to each of several ranks"
	}
	return fmt.Sprintf("from %s to %s", o.from, o.to)
}

// compareChart is throughput and peak memory of each way.
func (s *site) compareChart(all []measured) chart {
	var x axis
	var rates, peaks []point
	for i := range all {
		x.names = append(x.names, all[i].name)
		rates = append(rates, point{float64(i), all[i].rate() / 1e9})
		peaks = append(peaks, point{float64(i), float64(all[i].peak)})
	}
	return chart{
		title: s.titled("One chunk at a time, pipelined, and with a budget"), subtitle: s.subtitle(), x: x,
		panels: []panel{
			{axis{label: "throughput, GB/s", unit: rateUnit}, []series{{"throughput", rates}}},
			{axis{label: "peak staging memory of the fullest rank", unit: byteUnit, log: true}, []series{{"peak", peaks}}},
		},
	}
}

// csvHead names the columns of plots as numbers, in bytes and seconds.
var csvHead = []string{
	"sweep", "value", "mode", "budget_bytes", "peak_bytes", "peak_rank", "mean_bytes", "device_peak_bytes", "peak_buckets", "mean_buckets",
	"buckets", "channels", "entries", "bytes", "wire_bytes", "seconds", "bytes_per_second", "operations", "skipped", "wrong",
}

func (m *measured) csv(sweep, value string) []string {
	row := []string{sweep, value, m.name}
	for _, n := range [...]int64{m.maxBytes, m.peak, int64(m.peakRank), m.mean, m.devicePeak, int64(m.peakBuckets)} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	row = append(row, strconv.FormatFloat(m.meanBuckets, 'f', 3, 64))
	for _, n := range [...]int64{int64(m.plan.Buckets), int64(m.plan.Channels), int64(m.plan.Entries), m.bytes, m.wire} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	row = append(row, strconv.FormatFloat(m.took.Seconds(), 'g', 9, 64), strconv.FormatFloat(m.rate(), 'f', 0, 64))
	for _, n := range [...]int64{m.operations, m.skipped, m.bad} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	return row
}

func compareCSV(all []measured) table {
	t := table{csvHead}
	for i := range all {
		t.add(all[i].csv("mode", all[i].name)...)
	}
	return t
}

func sweepCSV(name string, pairs []pair) table {
	t := table{csvHead}
	for i := range pairs {
		t.add(pairs[i].without.csv(name, pairs[i].value)...)
		t.add(pairs[i].with.csv(name, pairs[i].value)...)
	}
	return t
}
