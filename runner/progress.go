package runner

import (
	"fmt"
	"time"
)

// progressEvery is how often the line on the terminal is redrawn.
const progressEvery = 500 * time.Millisecond

// progress makes the line that says how a run goes.
type progress struct {
	began       time.Time
	last        time.Time
	lastRecords int64
}

// line gives the line, or false if it is not time for one.
func (p *progress) line(now time.Time, records int64, collectives []uint32) (string, bool) {
	if now.Sub(p.last) < progressEvery {
		return "", false
	}
	elapsed := now.Sub(p.last)
	if p.last.IsZero() {
		elapsed = now.Sub(p.began)
	}
	rate := float64(records-p.lastRecords) / max(elapsed.Seconds(), 1e-9)
	p.last, p.lastRecords = now, records
	text := fmt.Sprintf("%s  %s operations/s", now.Sub(p.began).Round(100*time.Millisecond), short(rate))
	if low, high := spread(collectives); high > 0 {
		text += fmt.Sprintf("  collective %d", low)
		if high > low {
			text += fmt.Sprintf(" to %d", high)
		}
	}
	return text, true
}

func spread(numbers []uint32) (low, high uint32) {
	for i, n := range numbers {
		if i == 0 || n < low {
			low = n
		}
		high = max(high, n)
	}
	return low, high
}

// short is a number in three digits or so.
func short(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1fk", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
