package bench

// Outcome is what the whole table comes to.
type Outcome struct {
	OutOfBounds int     // times that a rank found wrong elements
	BusBW       float64 // mean over all placements of all rows, in GB/s
	MinBusBW    float64 // what is asked for, negative for nothing
	BufferBytes int64   // of each rank

	placements int
}

// Add counts a row in.
func (s *Outcome) Add(timings ...*Timing) {
	for _, t := range timings {
		if t == nil {
			continue
		}
		s.placements++
		s.BusBW += (t.BusBW - s.BusBW) / float64(s.placements)
		if t.Wrong > 0 {
			s.OutOfBounds++
		}
	}
}

// tolerance is how much of the bandwidth asked for is enough.
const tolerance = 0.9

func (s *Outcome) tooSlow() bool { return s.MinBusBW >= 0 && s.BusBW < s.MinBusBW*tolerance }

// Good reports whether numbers are right and the bandwidth is enough.
func (s *Outcome) Good() bool { return s.OutOfBounds == 0 && !s.tooSlow() }

// Exit codes of nccl-tests, which its users' scripts know.
const (
	ExitOK             = 0
	ExitInternal       = 1
	ExitCommunication  = 3
	ExitTimeout        = 4
	ExitNotImplemented = 5
	ExitUsage          = 6
	ExitWrong          = 7 // wrong numbers, or too little bandwidth
)
