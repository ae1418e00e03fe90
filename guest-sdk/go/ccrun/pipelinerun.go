package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Run is Start and Wait: it returns when all buckets have arrived on all ranks.
func (p *Pipeline) Run(streams []*Stream, timeout time.Duration) error {
	if err := p.Start(streams...); err != nil {
		return err
	}
	status, err := p.Wait(timeout)
	if err == nil && !status.Done {
		return &Error{Call: "pipeline_wait", Errno: ErrInvalid, Text: "a scripted pipeline waits for AdmitBefore: set PipelineOptions.Admit, or call Start and Wait"}
	}
	return err
}

// Start begins to move all buckets, each on one of the streams, which have
// nothing else to do until all have arrived. Poll and Wait go on with it.
func (p *Pipeline) Start(streams ...*Stream) error {
	p.streams = p.streams[:0]
	for _, s := range streams {
		s.Flush()
		if s.err != nil {
			return s.err
		}
		p.streams = append(p.streams, s.handle)
	}
	p.limit = 0
	count := uint32(len(p.streams))
	if count == 0 {
		p.streams = append(p.streams, 0) // so that there is a first one to point to
	}
	return p.world.check("pipeline_start", p.world.host.PipelineStart(p.handle, &p.streams[0], count))
}

// Poll does what can be done now, without waiting, and says how far this rank
// is. A script of PipelineOptions.Admit is asked once.
func (p *Pipeline) Poll() (PipelineStatus, error) {
	status, err := p.poll()
	if err != nil || p.admit == nil || status.Done {
		return status, err
	}
	raised, err := p.consult(status)
	if err != nil || !raised {
		return status, err
	}
	return p.poll()
}

func (p *Pipeline) poll() (PipelineStatus, error) {
	err := p.world.check("pipeline_poll", p.world.host.PipelinePoll(p.handle, &p.status))
	return statusOf(&p.status), err
}

// consult asks the script for a limit, and reports whether it is a higher one.
func (p *Pipeline) consult(status PipelineStatus) (bool, error) {
	limit := p.admit(status)
	if limit <= p.limit {
		return false, nil
	}
	p.limit = limit
	return true, p.AdmitBefore(limit)
}

// Wait waits until all buckets have arrived on all ranks, asking the script, if
// there is one, whenever this rank has come to its limit. Without one it returns
// there, under the policy Scripted: the status is not Done then. It can be
// repeated after [ErrTimedOut]; [ErrFailed] is the end of the run on all ranks,
// and the error says which bucket of which rank failed.
func (p *Pipeline) Wait(timeout time.Duration) (PipelineStatus, error) {
	if p.admit == nil {
		return p.wait(timeout)
	}
	began, err := p.world.Now()
	if err != nil {
		return PipelineStatus{}, err
	}
	status, err := p.poll()
	for left := timeout; err == nil && !status.Done; {
		if _, err = p.consult(status); err != nil {
			break
		}
		if status, err = p.wait(left); err != nil || status.Done || timeout < 0 {
			continue
		}
		var now time.Duration
		if now, err = p.world.Now(); err == nil && now-began >= timeout {
			err = &Error{Call: "pipeline_wait", Errno: ErrTimedOut, Text: "the script has not admitted all buckets"}
		}
		left = timeout - (now - began)
	}
	return status, err
}

func (p *Pipeline) wait(timeout time.Duration) (PipelineStatus, error) {
	err := p.world.check("pipeline_wait", p.world.host.PipelineWait(p.handle, int64(timeout), &p.status))
	return statusOf(&p.status), err
}

// AdmitBefore lets this rank admit the buckets before a place of the order, and
// no others, under the policy Scripted. A limit never goes back.
func (p *Pipeline) AdmitBefore(place int) error {
	return p.world.check("pipeline_admit", p.world.host.PipelineAdmit(p.handle, hostIndex(place)))
}

func statusOf(s *raw.PipelineStatus) PipelineStatus {
	return PipelineStatus{
		Mine: int(s.Mine), Admitted: int(s.Admitted), Finished: int(s.Finished), Next: int(s.Next),
		Published: int(s.Published), Stalled: Stall(s.Stalled), Done: s.Done != 0, HeldBytes: int64(s.HeldBytes),
	}
}
