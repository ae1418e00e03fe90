package traces

// The lines of the table that explain a row: they show what is worth a look,
// the rest is in the JSON form.

// explain writes what made the row's collectives as slow as they were.
func (t *table) explain(c *CollectiveStats) {
	t.flows(c.Flows)
	t.path(c)
	if o := c.Overlap; o != nil && o.Compute > 0 {
		t.printf("  exposed %s %% of %s of communication, overlap %s %%\n",
			significant(100*o.ExposedShare), formatSeconds(o.Communication), significant(100*o.Fraction))
	}
	for i := range c.Stragglers {
		t.printf("  ")
		t.bold(c.Stragglers[i].Text)
		t.printf("\n")
	}
}

func (t *table) flows(f *FlowStats) {
	if f == nil {
		return
	}
	s := f.Slowest
	t.printf("  slowest flow %s, %s %% of CCT: rank %d to %d, collective %d chunk %d step %d flow %d\n",
		formatSeconds(s.FCT), significant(100*s.Share), s.Source, s.Dest, s.Collective, s.Chunk, s.Step, s.Flow)
	if len(f.Pairs) < 2 {
		return
	}
	t.printf("  %s  jain %.3f   max/mean %.2f", plural(int64(len(f.Pairs)+f.PairsLeftOut), "pair"), f.Jain, f.MaxToMean)
	if p := f.outstanding; p != nil {
		t.printf("   slowest %d to %d: p50 %s, %s x the usual", p.Source, p.Dest, formatSeconds(p.FCT.P50), significant(p.times))
	}
	t.printf("\n")
}

// path shows the slowest collective's critical path, and the median one's if
// it is another.
func (t *table) path(c *CollectiveStats) {
	p := c.CriticalPaths
	if p == nil || len(p.Slowest.Contributors) == 0 {
		return
	}
	t.printf("  path of the slowest: %s\n", p.Slowest.Text())
	if p.Median.Sequence != p.Slowest.Sequence || p.Median.Group != p.Slowest.Group {
		t.printf("  path of the median:  %s\n", p.Median.Text())
	}
}

// run writes what explains the run as a whole.
func (t *table) run(s *Summary) {
	if o := s.Overlap; o != nil && o.Compute > 0 {
		t.printf("overlap  %s %% of %s of communication exposed, %s of computing on all ranks\n",
			significant(100*o.ExposedShare), formatSeconds(o.Communication), formatSeconds(o.Compute))
	}
	if len(s.Collectives) < 2 {
		return // its row has said so
	}
	for i := range s.Stragglers {
		t.bold(s.Stragglers[i].Text)
		t.printf("\n")
	}
}
