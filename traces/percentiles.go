package traces

import "slices"

// Times are the usual points of a distribution, in seconds. Percentiles are
// exact and by nearest rank: the smallest value that at least that share of
// all values does not exceed.
type Times struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// timesOf sorts the values, in nanoseconds, and gives their points, nil if
// there are none.
func timesOf(nanos []int64) *Times {
	if len(nanos) == 0 {
		return nil
	}
	slices.Sort(nanos)
	return &Times{
		Min: seconds(nanos[0]), P50: seconds(nearestRank(nanos, 50)), P95: seconds(nearestRank(nanos, 95)),
		P99: seconds(nearestRank(nanos, 99)), Max: seconds(nanos[len(nanos)-1]),
	}
}

// raise makes each point at least what it is in other.
func (t *Times) raise(other *Times) {
	t.Min, t.P50, t.P95 = max(t.Min, other.Min), max(t.P50, other.P50), max(t.P95, other.P95)
	t.P99, t.Max = max(t.P99, other.P99), max(t.Max, other.Max)
}

// nearestRank is the given percentile, 1 to 100, of sorted values.
func nearestRank(sorted []int64, percent int) int64 {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

func seconds(nanos int64) float64 { return float64(nanos) / 1e9 }
