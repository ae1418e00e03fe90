package coll

import "github.com/ccrun/ccrun/host/op"

// Traffic is how many bytes of inputs and outputs all ranks together load and
// store: what bounds a call on a node whose memory they share. Slots are left
// out: they stay in caches.
type Traffic struct{ Read, Written int64 }

// TrafficOf adds up the moves of all ranks. It is zero for AllToAllV, whose
// program does not know its counts: it reads and writes each byte once.
func TrafficOf(s Shape) (Traffic, error) {
	var t Traffic
	for rank := range s.Ranks {
		program, err := Plan(s, rank)
		if err != nil {
			return Traffic{}, err
		}
		for i := range program.Steps {
			t.count(&program.Steps[i])
		}
	}
	return t, nil
}

func (t *Traffic) count(s *op.Step) {
	t.Read += s.Bytes * outsideSlots(s.Sources)
	t.Written += s.Bytes * outsideSlots(s.Dests)
}

func outsideSlots(places []op.Place) (n int64) {
	for _, place := range places {
		if place.Area != op.AreaSlot {
			n++
		}
	}
	return n
}
