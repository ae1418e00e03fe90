package traces

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/traces/html"
)

// HTMLPage is what the page says of a run beside its records.
type HTMLPage struct {
	Workflow   string
	Outcome    string // in a word or two
	Good       bool   // the run went well
	Verdict    string // why it ended badly, "" if it did not
	WallSecs   float64
	Thresholds []string // what became of each
	Simulation []string // of a simulated run: what it stands for, and how sure that is
	Summary    *Summary
}

// WriteHTML writes a page that shows the run: a timeline of its ranks and
// streams, distributions, a map of pairs of ranks, and the summary. The page
// is one file that needs neither network nor server.
func WriteHTML(w io.Writer, r *Run, info Info, p HTMLPage) error {
	page, err := p.page(r, &info)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	if err := page.Write(out, newHTMLData(r, p.Summary, maxPageOperations).write); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// WriteHTMLFile is [WriteHTML] to a file; see [WriteFile].
func WriteHTMLFile(path string, r *Run, info Info, p HTMLPage) error {
	return WriteFile(path, func(w io.Writer) error { return WriteHTML(w, r, info, p) })
}

// page is the text of the page.
func (p *HTMLPage) page(r *Run, info *Info) (*html.Page, error) {
	var text bytes.Buffer
	if err := p.Summary.WriteTable(&text, false); err != nil {
		return nil, err
	}
	return &html.Page{
		Title: printable(p.Workflow), Outcome: p.Outcome, Good: p.Good, Verdict: p.Verdict,
		Facts: p.facts(r, info), Alarms: p.alarms(r), Notes: p.Simulation, Table: collectiveTable(p.Summary), Explains: explanations(p.Summary), Text: text.String(),
	}, nil
}

func (p *HTMLPage) facts(r *Run, info *Info) []html.Fact {
	facts := []html.Fact{{Name: "ranks", Value: fmt.Sprint(r.Size())}, {Name: "device", Value: printable(info.Device)}}
	optional := func(name, value string) {
		if value != "" {
			facts = append(facts, html.Fact{Name: name, Value: printable(value)})
		}
	}
	optional("preset", info.Preset)
	if p.WallSecs > 0 {
		optional("wall", formatSeconds(p.WallSecs))
	}
	optional("made wrong on purpose", info.Fault)
	optional("run", info.RunID)
	optional("host", info.Host)
	for _, label := range sortedLabels(info.Labels) {
		optional(label, info.Labels[label])
	}
	optional("ccrun", info.ServiceVersion)
	return facts
}

// alarms are sentences on what should not be as it is.
func (p *HTMLPage) alarms(r *Run) []string {
	out := slices.Clone(p.Thresholds)
	s := p.Summary
	for i := range s.Stragglers {
		out = append(out, s.Stragglers[i].Text)
	}
	for i := range s.Collectives {
		out = append(out, s.Collectives[i].alarms()...)
	}
	if len(s.Missing) > 0 {
		out = append(out, fmt.Sprintf("the records of %s are missing, first of rank %d: times are lower bounds", plural(int64(len(s.Missing)), "rank"), s.Missing[0]))
	}
	for _, err := range r.Damaged {
		out = append(out, "left out: "+printable(err.Error()))
	}
	if s.Records.Dropped > 0 {
		out = append(out, plural(s.Records.Dropped, "record")+" had no room and are missing")
	}
	return out
}

// alarms are what is wrong with the collectives of a row.
func (c *CollectiveStats) alarms() []string {
	var out []string
	if c.Incomplete > 0 {
		out = append(out, fmt.Sprintf("%s: %d not completed", c.title(), c.Incomplete))
	}
	var t table
	t.oddities(c)
	for _, line := range linesOf(&t) {
		out = append(out, c.title()+": "+line)
	}
	return out
}

// explanations are what the printed summary says beyond figures, by kind of
// collective.
func explanations(s *Summary) []html.Explanation {
	var out []html.Explanation
	for i := range s.Collectives {
		var t table
		t.explain(&s.Collectives[i])
		if lines := linesOf(&t); len(lines) > 0 {
			out = append(out, html.Explanation{Title: printable(s.Collectives[i].title()), Lines: lines})
		}
	}
	return out
}

// linesOf gives the lines of a table without their indentation.
func linesOf(t *table) []string {
	var out []string
	for line := range strings.Lines(t.String()) {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// collectiveTable is the summary's figures, a row per kind of collective.
func collectiveTable(s *Summary) html.Table {
	table := html.Table{Head: []string{
		"collective", "size", "ranks", "times", "CCT p50", "CCT p99", "RCCT p50", "RCCT p99", "FCT p50", "FCT p99", "algbw", "busbw", "slowest rank",
	}}
	for i := range s.Collectives {
		c := &s.Collectives[i]
		row := []string{printable(c.title()), formatBytes(float64(c.Bytes)), fmt.Sprint(c.Ranks), fmt.Sprint(c.Count)}
		for _, t := range []*Times{c.CCT, c.RCCT, c.FCT} {
			row = append(row, middleAndTail(t)...)
		}
		table.Rows = append(table.Rows, append(row, formatRate(c.AlgBW), formatRate(c.BusBW), slowest(c)))
	}
	return table
}

func middleAndTail(t *Times) []string {
	if t == nil {
		return []string{"–", "–"}
	}
	return []string{formatSeconds(t.P50), formatSeconds(t.P99)}
}

func slowest(c *CollectiveStats) string {
	if c.Count == 0 {
		return "–"
	}
	return fmt.Sprintf("%d (%d of %d)", c.SlowestRank, c.SlowestCount, c.Count)
}
