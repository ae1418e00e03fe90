package bench

import (
	"bytes"
	"fmt"
	"strconv"
)

// Results reads what the guest prints, as an [io.Writer] that is given whole
// lines, and tells of each row when it is complete.
type Results struct {
	options *Options
	rows    []Row
	told    func(row *Row, outOfPlace, inPlace *Timing)
	at      int // the row that is being measured
	words   []int64
	timings [2]*Timing // of its placements
	done    int        // of them
	err     error
}

// NewResults makes a reader that calls told for each row, in order.
func (o *Options) NewResults(rows []Row, told func(row *Row, outOfPlace, inPlace *Timing)) *Results {
	return &Results{options: o, rows: rows, told: told}
}

// Write takes lines of numbers. It never fails: what is wrong with them is what
// [Results.Err] says.
func (r *Results) Write(lines []byte) (int, error) {
	for _, text := range bytes.Fields(lines) {
		number, err := strconv.ParseUint(string(text), 16, 64)
		switch {
		case r.err != nil:
		case err != nil:
			r.err = fmt.Errorf("results: %q is no number", text)
		case r.at == len(r.rows):
			r.err = fmt.Errorf("results: more than of %d rows", len(r.rows))
		default:
			r.words = append(r.words, int64(number))
			r.take()
		}
	}
	return len(lines), nil
}

// Err says what is wrong with what was read, nil if all rows are complete.
func (r *Results) Err() error {
	switch {
	case r.err != nil:
		return r.err
	case r.at < len(r.rows):
		return fmt.Errorf("results: row %d of %d is not complete", r.at+1, len(r.rows))
	}
	return nil
}

// take completes a placement when all its numbers are there.
func (r *Results) take() {
	row := &r.rows[r.at]
	if len(r.words) < r.options.wordCount(row)*row.Ranks {
		return
	}
	layouts := row.layouts()
	timing := r.options.Combine(row, r.rankTimings(row))
	r.words = r.words[:0]
	if layouts[r.done] == together && row.Collective.inPlace == unchecked {
		timing.Checked = false
	}
	r.timings[layouts[r.done]] = timing
	if r.done++; r.done < len(layouts) {
		return
	}
	r.told(row, r.timings[outOfPlace], r.timings[together])
	r.timings, r.done = [2]*Timing{}, 0
	r.at++
}

func (r *Results) rankTimings(row *Row) []RankTiming {
	n := r.options.wordCount(row)
	ranks := make([]RankTiming, row.Ranks)
	for i := range ranks {
		w := r.words[i*n : (i+1)*n]
		ranks[i] = RankTiming{IssueNanos: w[0], TotalNanos: w[1], Wrong: w[2], EndNanos: append([]int64(nil), w[wordsFixed:]...)}
	}
	return ranks
}
