package ccruntest

import (
	"math/rand/v2"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// stream is a queue of operations and the goroutine that carries them out.
type stream struct {
	rank   *rank
	queue  []pending
	busy   bool
	closed bool
	delays *rand.Rand // nil for none
	errno  raw.Errno  // of the first operation that failed
}

// pending is an operation with what its pointers pointed to.
type pending struct {
	raw.Op
	sources  [8]raw.View
	calls    []*call
	gemm     *raw.Gemm
	box      *raw.Box
	recorded int // of an event: which of its records
}

// event counts its records.
type event struct{ submitted, complete int }

func (r *rank) StreamCreate(handle *uint64) raw.Errno {
	defer r.lock()()
	s := &stream{rank: r}
	*handle = r.handle()
	r.streams[*handle] = s
	if delays := r.world.delays; delays != nil {
		s.delays = delays(r.number, *handle)
	}
	r.world.workers.Go(s.work)
	return raw.OK
}

func (r *rank) StreamDestroy(handle uint64) raw.Errno {
	defer r.lock()()
	errno := r.sync(handle, -1)
	if s := r.streams[handle]; s != nil {
		s.closed = true
		r.world.changed.Broadcast()
		delete(r.streams, handle)
	}
	return errno
}

func (r *rank) StreamSync(handle uint64, timeout int64) raw.Errno {
	defer r.lock()()
	return r.sync(handle, time.Duration(timeout))
}

func (r *rank) StreamQuery(handle uint64, done *uint32) raw.Errno {
	defer r.lock()()
	s, errno := find(r, r.streams, handle)
	if errno == raw.OK {
		*done = 0
		if s.idle() {
			*done = 1
		}
		return s.failure()
	}
	return errno
}

// sync waits, the lock held, until a stream has nothing to do.
func (r *rank) sync(handle uint64, timeout time.Duration) raw.Errno {
	s, errno := find(r, r.streams, handle)
	if errno != raw.OK {
		return errno
	}
	if errno := r.world.await(timeout, s.idle); errno != raw.OK {
		return errno
	}
	return s.failure()
}

func (s *stream) idle() bool { return len(s.queue) == 0 && !s.busy }

func (s *stream) failure() raw.Errno {
	if s.errno != raw.OK {
		return s.rank.fail(raw.ErrnoFailed, "an operation failed: "+s.errno.Text())
	}
	return raw.OK
}

// work carries operations out until the stream is closed.
func (s *stream) work() {
	w := s.rank.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(s.queue) == 0 && !s.closed {
			w.changed.Wait()
		}
		if len(s.queue) == 0 {
			return
		}
		o := s.queue[0]
		s.queue, s.busy = s.queue[1:], true
		s.hold()
		if s.errno == raw.OK {
			s.errno = s.carryOut(&o)
		}
		s.busy = false
		w.changed.Broadcast()
	}
}

func (s *stream) carryOut(o *pending) raw.Errno {
	if isMessage(o.Kind) {
		return s.converse(o)
	}
	if o.Kind == raw.KindCall {
		return s.rank.meet(o.calls)
	}
	return s.rank.execute(o)
}

func (r *rank) Submit(handle uint64, ops *raw.Op, opsLen uint32, accepted *uint32) raw.Errno {
	defer r.lock()()
	*accepted = 0
	s, errno := find(r, r.streams, handle)
	if errno != raw.OK {
		return errno
	}
	for _, o := range opsAt(ops, opsLen) {
		if errno := r.enqueue(s, o); errno != raw.OK {
			return errno
		}
		*accepted++
	}
	return raw.OK
}

// enqueue appends an operation to a stream if it is one that can be done.
func (r *rank) enqueue(s *stream, o raw.Op) raw.Errno {
	p := pending{Op: o}
	if o.Kind == raw.KindReduce {
		if o.Sources == 0 || int(o.Sources) > len(r.views) || o.SourceCount == 0 || o.SourceCount > 8 {
			return r.fail(raw.ErrnoInvalid, "no sources")
		}
		p.sources = *r.views[o.Sources-1]
	}
	switch o.Kind {
	case raw.KindCall:
		if o.Sources == 0 || int(o.Sources) > len(r.calls) {
			return r.fail(raw.ErrnoFault, "no call")
		}
		read, errno := r.readCall(r.calls[o.Sources-1])
		if errno != raw.OK {
			return errno
		}
		p.calls = []*call{read}
	case raw.KindGemm:
		if o.Sources == 0 || int(o.Sources) > len(r.gemms) {
			return r.fail(raw.ErrnoFault, "no matrices")
		}
		g := *r.gemms[o.Sources-1]
		p.gemm = &g
	case raw.KindCopyBox, raw.KindGetBox:
		if o.Sources == 0 || int(o.Sources) > len(r.boxes) {
			return r.fail(raw.ErrnoFault, "no box")
		}
		b := *r.boxes[o.Sources-1]
		p.box = &b
	}
	return r.append(s, p)
}

// append puts an operation that has been read into a stream's queue.
func (r *rank) append(s *stream, p pending) raw.Errno {
	o := p.Op
	if errno := s.failure(); errno != raw.OK {
		return errno
	}
	if errno := r.check(&p); errno != raw.OK {
		return errno
	}
	for _, c := range p.calls {
		c.number = c.comm.calls
		c.comm.calls++
		r.world.result.Calls[r.number] = append(r.world.result.Calls[r.number], c.Call)
	}
	if o.Kind == raw.KindEventRecord {
		r.events[o.Event].submitted++
	}
	if e := r.events[o.Event]; e != nil {
		p.recorded = e.submitted
	}
	r.world.result.Ops[r.number] = append(r.world.result.Ops[r.number], o)
	s.queue = append(s.queue, p)
	r.world.changed.Broadcast()
	return raw.OK
}

// submitOne is Submit for a function that has its operation's fields as
// parameters; it belongs where tag says.
func (r *rank) submitOne(stream uint64, o raw.Op) raw.Errno {
	o.Collective, o.Chunk, o.Slice = r.tag.Collective, uint32(r.tag.Chunk), uint32(r.tag.Slice)
	o.Flow, o.Step, o.Message = uint16(r.tag.Flow), uint16(r.tag.Step), uint32(r.tag.Message)
	var accepted uint32
	return r.Submit(stream, &o, 1, &accepted)
}

func (r *rank) EventCreate(handle *uint64) raw.Errno {
	defer r.lock()()
	*handle = r.handle()
	r.events[*handle] = &event{}
	return raw.OK
}

func (r *rank) EventDestroy(handle uint64) raw.Errno {
	defer r.lock()()
	_, errno := find(r, r.events, handle)
	delete(r.events, handle)
	return errno
}

func (r *rank) EventSync(handle uint64, timeout int64) raw.Errno {
	defer r.lock()()
	e, errno := find(r, r.events, handle)
	if errno != raw.OK {
		return errno
	}
	latest := e.submitted
	return r.world.await(time.Duration(timeout), func() bool { return e.complete >= latest })
}

func (r *rank) EventQuery(handle uint64, done *uint32) raw.Errno {
	defer r.lock()()
	e, errno := find(r, r.events, handle)
	if errno != raw.OK {
		return errno
	}
	*done = 0
	if e.complete == e.submitted {
		*done = 1
	}
	return raw.OK
}
