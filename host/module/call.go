package module

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// handler carries a call out whose arguments have been decoded. An error
// becomes an errno; nothing of the guest's memory is written with one.
type handler func(c *call) error

// function is one host function: a row of the table, made ready to run. Its
// Call is the only place where errnos are made.
type function struct {
	row    *abi.Row
	checks []check
	sized  []uint8 // parameters of role Size, which are many and seldom wrong
	sizes  []check // the same
	direct handler // nil, or handle for parameters with which nothing is wrong, else errIndirect
	handle handler
	waits  bool // it has a timeout
	counts bool // its output, a count, is written on failure too
	points bool // it has a pointer
}

// call is one call in progress: the raw arguments, and by role what they were
// decoded to.
type call struct {
	*Instance
	stack  []uint64
	stream device.Stream
	event  device.Event
	comm   *comm
	pipe   *pipe
	placed bool         // the sides of op are where they must be, and need not be checked
	buffer [2]op.Buffer // in the order of the parameters
	in     []byte       // the In or InStruct parameter
	out    [2][]byte    // in the order of the parameters
}

// errIndirect says that the parameters must be decoded one by one, to find what
// is wrong with them. It never leaves the package.
var errIndirect = errors.New("indirect")

// check is how one parameter is decoded.
type check struct {
	role     abi.Role
	param    uint8
	position uint8  // among the parameters of its role
	length   int8   // parameter that holds the length, -1 if it is one
	name     string // of the parameter
	unit     uint64 // bytes of one
	align    uint64
	values   uint64 // of an Enum: how many there are
	tooLarge *refusal
}

var (
	errNegative = &refusal{abi.Range, "negative, or over 2^63-1"}
	errSize     = &refusal{abi.Invalid, "negative, or over 2^63-1"}
	errEnum     = &refusal{abi.Invalid, "not a value of the enumeration"}
	errRank     = &refusal{abi.NoRank, "no such rank"}
)

// Call runs the handler and leaves the errno where wazero expects it.
func (f *function) Call(ctx context.Context, guest api.Module, stack []uint64) {
	i := instanceOf(ctx)
	if f.points && guest != i.guest {
		i.adopt(guest)
	}
	if i.aborted.Load() != nil {
		panic(&UnwindError{Call: f.row.Name, Err: i.abortError()})
	}
	c := &i.call
	c.stack = stack
	err := f.run(c)
	if err == nil {
		stack[0] = uint64(abi.OK)
		return
	}
	stack[0] = uint64(i.fail(f.row, err))
}

func (f *function) run(c *call) error {
	if f.direct != nil {
		if err := f.direct(c); err != errIndirect {
			return err
		}
	}
	for n := range f.checks {
		k := &f.checks[n]
		if err := c.decode(k); err != nil {
			return inField(k.name, err)
		}
		if f.counts && k.role == abi.Out {
			put32(c.out[0], 0)
		}
	}
	if err := f.checkSizes(c.stack); err != nil {
		return err
	}
	if f.waits {
		c.config.Recorder.CountHostCall()
	}
	return f.handle(c)
}

// checkSizes looks at all sizes at once, and for the bad one only if there is
// one.
func (f *function) checkSizes(stack []uint64) error {
	all := uint64(0)
	for _, param := range f.sized {
		all |= stack[param]
	}
	if all <= math.MaxInt64 {
		return nil
	}
	for n := range f.sizes {
		if k := &f.sizes[n]; stack[k.param] > math.MaxInt64 {
			return inField(k.name, k.tooLarge)
		}
	}
	return nil
}

// fail keeps the error for last_error and gives its errno, or unwinds the
// guest if the call cannot return.
func (i *Instance) fail(row *abi.Row, err error) abi.Errno {
	var abort *AbortError
	if errors.As(err, &abort) {
		panic(abort)
	}
	i.failure = lastFailure{row.Name, err}
	i.note(row.Name, err)
	if errors.Is(err, device.ErrAborted) {
		panic(&UnwindError{Call: row.Name, Err: err})
	}
	errno, ok := listed(row, errnoOf(err))
	if !ok {
		panic(&UnwindError{Call: row.Name, Err: err})
	}
	i.config.Recorder.CountBadCall()
	return errno
}

// decode checks one parameter. Scalars and timeouts may have any value;
// handlers check those that may not.
func (c *call) decode(k *check) (err error) {
	v := c.stack[k.param]
	switch k.role {
	case abi.Stream:
		s := c.streams.find(v)
		if s == nil {
			return c.streams.refusal(v)
		}
		c.stream = s.value
	case abi.EventH:
		c.event, err = c.events.get(v)
	case abi.Comm:
		c.comm, err = c.comms.get(v)
	case abi.Pipeline:
		c.pipe, err = c.pipes.get(v)
	case abi.Buffer:
		s := c.buffers.find(v)
		if s == nil {
			return c.buffers.refusal(v)
		}
		c.buffer[k.position] = s.value.Buffer
	case abi.Rank:
		if uint64(uint32(v)) >= uint64(c.config.Size) {
			return errRank
		}
	case abi.Enum:
		if uint64(uint32(v)) >= k.values {
			return errEnum
		}
	case abi.In, abi.InStruct:
		c.in, err = c.region(v, c.bytes(k), k.align)
	case abi.Out:
		c.out[k.position], err = c.region(v, c.bytes(k), k.align)
	}
	return err
}

func (c *call) bytes(k *check) uint64 {
	if k.length < 0 {
		return k.unit
	}
	return k.unit * uint64(uint32(c.stack[k.length]))
}

// Parameter n, by its type.

func (c *call) uint32(n int) uint32 { return uint32(c.stack[n]) }
func (c *call) int64(n int) int64   { return int64(c.stack[n]) }
func (c *call) rank(n int) int      { return int(uint32(c.stack[n])) }

func (c *call) timeout(n int) time.Duration {
	return max(time.Duration(c.stack[n]), device.Forever)
}
