package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Config is what one rank's guest is given. Device, Exchange and Recorder must
// be set and outlive the [Instance].
type Config struct {
	Rank, Size           int
	LocalRank, LocalSize int
	Seed                 uint64
	Device               device.Device
	Exchange             device.Exchange
	Recorder             *flight.Writer
	MaxHandles           int           // live handles of each kind, 0 for the default of 65,536
	Selection            coll.Table    // which algorithm carries out a collective for which the guest names none; nil for the default
	OpTimeout            time.Duration // a share_lookup that waits longer fails, whatever its own timeout; 0 for never
	Notes                Notes         // nil for nobody
}

const defaultHandles = 1 << 16

// Instance is the state of one rank's guest: its handles, shares, tags and
// open collectives. All methods but [Instance.Abort], [Instance.Desync] and
// [Instance.Corrupt] are
// for the goroutine that runs the guest.
type Instance struct {
	config Config
	facts  device.Facts
	began  time.Time // when it was made

	buffers    table[buffer]
	streams    table[device.Stream]
	events     table[device.Event]
	marks      table[openMark]
	comms      table[*comm]
	pipes      table[*pipe]
	pipesMade  int
	signals    device.Stream     // of pipelines, made by the first run
	burnt      []pipeParams      // of pipelines that failed and were destroyed
	slotBases  map[uint32]uint64 // of pipelines: what signal slots may hold by now
	world      worldComm
	splitsMade uint32 // ballots cast
	planSteps  int    // of all communicators' plans

	shares    map[shareKey]*share
	published map[publication]struct{}
	digests   map[string]string
	trace     trace

	failure lastFailure
	desync  atomic.Pointer[lastFailure] // the first that shows that ranks disagree, nil while none has
	corrupt atomic.Pointer[lastFailure] // and that bytes were corrupted
	aborted atomic.Pointer[error]       // why the run was given up, nil while it is not

	// The scratch of the call in progress: a guest makes one at a time, and
	// what is handed to an interface would otherwise be allocated each time.
	guest   api.Module
	memory  api.Memory // guest's, nil if it has none
	call    call
	op      op.Op
	shape   op.GemmShape
	box     op.BoxShape
	group   group
	repeats repeats
	result  *op.Result
}

// lastFailure is the call that failed last, kept as it is: its text is made
// when somebody asks.
type lastFailure struct {
	call string
	err  error
}

// Results is what a guest leaves behind beside its exit code.
type Results struct {
	Digests       map[string]string `json:"digests"`        // by the name given to buffer_digest, 32 hex digits
	VerifiedBytes int64             `json:"verified_bytes"` // bytes that verify operations have looked at
	Mismatches    int64             `json:"mismatches"`     // elements of them that were wrong
	Collectives   uint32            `json:"collectives"`    // collectives begun
}

type instanceKey struct{}

// New makes the state of one rank.
func New(c Config) *Instance {
	if c.MaxHandles <= 0 {
		c.MaxHandles = defaultHandles
	}
	if c.Selection == nil {
		c.Selection = coll.DefaultTable()
	}
	i := &Instance{
		config: c, facts: c.Device.Facts(), began: time.Now(),
		buffers:   table[buffer]{kind: bufferHandle, limit: c.MaxHandles},
		streams:   table[device.Stream]{kind: streamHandle, limit: c.MaxHandles},
		events:    table[device.Event]{kind: eventHandle, limit: c.MaxHandles},
		marks:     table[openMark]{kind: markHandle, limit: min(c.MaxHandles, maxOpenMarks)},
		comms:     table[*comm]{kind: commHandle, limit: c.MaxHandles},
		pipes:     table[*pipe]{kind: pipelineHandle, limit: min(c.MaxHandles, maxPipelines)},
		slotBases: make(map[uint32]uint64),
		shares:    make(map[shareKey]*share),
		published: make(map[publication]struct{}),
		digests:   make(map[string]string),
		trace:     trace{names: make(map[string]uint16)},
		result:    new(op.Result),
	}
	i.call.Instance = i
	return i
}

// Context is what the guest's functions must be called with: host calls find
// the instance in it, at once if it is passed on as it is.
func (i *Instance) Context(ctx context.Context) context.Context {
	return &guestContext{ctx, i}
}

// guestContext is a context with an instance. Every host call looks for it, and
// a context's value of the usual kind takes three times as long to find.
type guestContext struct {
	context.Context
	instance *Instance
}

// Value is the instance or a value of the context around it.
func (g *guestContext) Value(key any) any {
	if key == (instanceKey{}) {
		return g.instance
	}
	return g.Context.Value(key)
}

func instanceOf(ctx context.Context) *Instance {
	if g, ok := ctx.(*guestContext); ok {
		return g.instance
	}
	i, ok := ctx.Value(instanceKey{}).(*Instance)
	if !ok {
		panic(errors.New("guest called without the context of its module.Instance"))
	}
	return i
}

// Abort gives the run up for this rank: every host call, present and future,
// unwinds the guest with an [UnwindError] that wraps [device.ErrAborted] and
// cause. The first call counts. Any goroutine may call it.
func (i *Instance) Abort(cause error) {
	i.aborted.CompareAndSwap(nil, &cause)
	i.config.Device.Abort(cause)
}

func (i *Instance) abortError() error {
	if cause := i.aborted.Load(); cause != nil {
		return fmt.Errorf("%w: %w", device.ErrAborted, *cause)
	}
	return nil
}

// Results is to be read after the guest has ended and before the recorder is
// closed.
func (i *Instance) Results() Results {
	counters := i.config.Recorder.Counters()
	return Results{
		Digests: i.digests, VerifiedBytes: counters.Verified, Mismatches: counters.Mismatches,
		Collectives: i.trace.sequence,
	}
}

// LastError is the text of the guest's last call that failed, empty if none
// did: the call's name, the parameter at fault and what was wrong.
func (i *Instance) LastError() string {
	if i.failure.err == nil {
		return ""
	}
	return i.failure.text()
}

func (f *lastFailure) text() string { return f.call + ": " + f.err.Error() }

// Desync is the text of the first failure that shows that ranks disagree: one
// that wraps [device.ErrMismatch], of a call or found by [Instance.Drain]. It
// is empty if there was none. Any goroutine may call it.
func (i *Instance) Desync() string {
	if f := i.desync.Load(); f != nil {
		return f.text()
	}
	return ""
}

// Corrupt is the text of the first failure that shows that bytes have not come
// as they were sent, empty if there was none. Any goroutine may call it.
func (i *Instance) Corrupt() string {
	if f := i.corrupt.Load(); f != nil {
		return f.text()
	}
	return ""
}

// note remembers a failure if it shows that ranks disagree, or that bytes were
// corrupted: the guest need not look at it, and may go on.
func (i *Instance) note(call string, err error) {
	if i.desync.Load() == nil && errors.Is(err, device.ErrMismatch) {
		i.desync.Store(&lastFailure{call, err})
	}
	if i.corrupt.Load() == nil && errors.Is(err, errCorrupt) {
		i.corrupt.Store(&lastFailure{call, err})
	}
}

// Drain waits until everything that the guest submitted is complete: a guest
// may end with operations under way that its peers wait for. It gives the
// first error; a stream that has failed does not hold up the others. If all
// have ended, communicators are closed, where ranks that called different
// collectives, and waited for nobody in them, find out.
func (i *Instance) Drain(timeout time.Duration) error {
	var first error
	for _, s := range i.streams.all() {
		err := s.Sync(timeout)
		if err == nil {
			continue
		}
		i.note("at its end", err)
		if first == nil {
			first = fmt.Errorf("drain: %w", err)
		}
	}
	if errors.Is(first, device.ErrTimeout) || errors.Is(first, device.ErrAborted) {
		return first
	}
	for h, c := range i.comms.all() {
		if err := c.Close(); err != nil {
			i.note("at its end", err)
			first = cmp.Or(first, fmt.Errorf("drain: %w", err))
		}
		_ = i.comms.remove(h)
	}
	return first
}

// Close gives back what the guest left: it records open collectives and marks
// as aborted, closes events, idle streams and communicators and frees buffers,
// which peers cannot reach from then on. A stream that is still busy is left to
// the device's own Close, and so are all communicators then, since closing one
// waits for its calls. Call it when all ranks have ended, after [Instance.Drain]
// if the guest ended well.
func (i *Instance) Close() error {
	i.closeTrace()
	idle := i.closeStreams()
	for h, c := range i.comms.all() {
		if idle {
			_ = c.Close() // its failure, too
		}
		_ = i.comms.remove(h)
	}
	for h, p := range i.pipes.all() {
		_ = p.close(i) // operations under way still finish
		_ = i.pipes.remove(h)
	}
	if i.signals != nil && idle {
		_ = i.signals.Close()
	}
	for h, e := range i.events.all() {
		_ = e.Close()
		_ = i.events.remove(h)
	}
	var first error
	for h, b := range i.buffers.all() {
		if err := i.config.Device.Free(b.Buffer); err != nil && first == nil {
			first = fmt.Errorf("free buffer: %w", err)
		}
		_ = i.buffers.remove(h)
	}
	clear(i.shares)
	return first
}

// closeStreams closes the streams that are idle, and says whether all were.
func (i *Instance) closeStreams() (idle bool) {
	idle = true
	for h, s := range i.streams.all() {
		if done, err := s.Query(); done || err != nil {
			_ = s.Close() // its failure was the guest's to see
		} else {
			idle = false
		}
		_ = i.streams.remove(h)
	}
	return idle
}

// adopt notes which module calls, so that its memory need not be looked up
// each time. A module without memory has a nil pointer in its api.Memory.
func (i *Instance) adopt(guest api.Module) {
	i.guest, i.memory = guest, nil
	if m := guest.Memory(); m != nil && !reflect.ValueOf(m).IsNil() {
		i.memory = m
	}
}
