package pipeline

import "math/bits"

// Status is how far a machine is.
type Status struct {
	Mine, Admitted, Finished int
	InFlight                 int
	Next                     int // place of the first task that is not admitted; the number of all buckets if none is left
	Published                int // so many buckets of the order have arrived on all their ranks, as far as this one knows
	Stalled                  Stall
	Done                     bool // the run has ended well on all ranks
	Failed                   bool // it has ended because a bucket failed
	FailedRank               int  // where; -1 if none did
	FailedPlace              int  // which; the number of all buckets if it was no bucket, -1 if none did
	HeldBytes                int64
}

// Status says how far the machine is.
func (m *Machine) Status() Status {
	s := Status{
		Mine: len(m.tasks), Admitted: m.admitted, Finished: m.finished, InFlight: m.held.buckets,
		Next: len(m.plan.Buckets), Published: int(m.marks.low), Stalled: m.stall, Done: m.ended && !m.failed,
		Failed: m.failed, FailedRank: m.failedRank, FailedPlace: m.failedPlace, HeldBytes: m.held.bytes,
	}
	if m.first < len(m.tasks) {
		s.Next = int(m.tasks[m.first].Place)
	}
	return s
}

// Stats are the figures of a run, until its end or until now. Means are over
// time.
type Stats struct {
	Nanos                  int64
	Sent, Received, Copied int64 // bytes, of tasks that have arrived; copied: without being sent
	PeakBytes, MeanBytes   int64 // of staging memory
	PeakBuckets            int
	MeanBucketsMilli       int64             // thousandths of buckets in flight
	PeakDescriptors        int               // entries of buckets in flight
	PeakOperations         int               // under way at a time, as the machine was told
	Operations             int64             // in all
	Buckets                int               // finished
	Skipped                int               // admitted before an earlier one
	Stalls                 [StallCount]int64 // nanoseconds that the first task that was not admitted waited for each cause
}

// meter gathers them.
type meter struct {
	begun, last            int64
	sent, received, copied int64
	peakBytes              int64
	peakBuckets            int
	descriptors            int
	peakDescriptors        int
	underWay, peakUnderWay int
	operations             int64
	skipped                int
	bytes, buckets         area
	stalls                 [StallCount]int64
}

// area is a sum of amounts times nanoseconds; 64 bits would not hold it.
type area struct{ high, low uint64 }

func (a *area) add(amount, nanos int64) {
	high, low := bits.Mul64(uint64(amount), uint64(nanos))
	var carry uint64
	a.low, carry = bits.Add64(a.low, low, 0)
	a.high += high + carry
}

// mean is the amount over so many nanoseconds, which are not fewer than those
// that were added.
func (a area) mean(nanos int64) int64 {
	if nanos <= 0 || a.high >= uint64(nanos) {
		return 0
	}
	quotient, _ := bits.Div64(a.high, a.low, uint64(nanos))
	return int64(quotient)
}

func (t *meter) reset(now int64) { *t = meter{begun: now, last: now} }

// account adds up the time since the last event.
func (m *Machine) account(now int64) {
	t := &m.meter
	if m.ended {
		return
	}
	if !m.begun {
		t.begun, t.last = now, now
		return
	}
	if now <= t.last {
		return
	}
	t.span(m, now-t.last)
	t.last = now
}

func (t *meter) span(m *Machine, nanos int64) {
	t.bytes.add(m.held.bytes, nanos)
	t.buckets.add(int64(m.held.buckets)*1000, nanos)
	if m.first < len(m.tasks) {
		t.stalls[m.stall] += nanos
	}
}

// peak notes what is held now.
func (t *meter) peak(m *Machine) {
	t.peakBytes = max(t.peakBytes, m.held.bytes)
	t.peakBuckets = max(t.peakBuckets, m.held.buckets)
	t.peakDescriptors = max(t.peakDescriptors, t.descriptors)
}

// moved notes what a task that has arrived has moved.
func (t *meter) moved(task *Task) {
	wires := int64(len(task.To))
	if task.AddTo.Rank >= 0 {
		wires++
	}
	t.sent += wires * task.Bytes
	for _, e := range [...]Edge{task.From, task.AddFrom} {
		if e.Rank >= 0 {
			t.received += task.Bytes
		}
	}
	if task.Stays {
		t.copied += task.Bytes
	}
}

// AddOperations tells the machine that n more operations are under way, or, if
// n is negative, that so many are not any longer.
func (m *Machine) AddOperations(n int) {
	t := &m.meter
	t.underWay += n
	t.operations += int64(max(0, n))
	t.peakUnderWay = max(t.peakUnderWay, t.underWay)
}

// Stats are the figures of the run up to now.
func (m *Machine) Stats(nowNanos int64) Stats {
	t := m.meter // a copy: looking does not count
	if m.begun && !m.ended && nowNanos > t.last {
		t.span(m, nowNanos-t.last)
		t.last = nowNanos
	}
	nanos := t.last - t.begun
	return Stats{
		Nanos: nanos, Sent: t.sent, Received: t.received, Copied: t.copied,
		PeakBytes: t.peakBytes, MeanBytes: t.bytes.mean(nanos),
		PeakBuckets: t.peakBuckets, MeanBucketsMilli: t.buckets.mean(nanos),
		PeakDescriptors: t.peakDescriptors, PeakOperations: t.peakUnderWay, Operations: t.operations,
		Buckets: m.finished, Skipped: t.skipped, Stalls: t.stalls,
	}
}
