package oplog

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Planner completes a call as the guest's host had: it finds the program of the
// algorithm that is named by call.Algorithm, in slices of so many bytes, 0 if
// chunks are not sliced, and with it what the record says of the call.
type Planner func(call *op.Call, comm device.Comm, sliceBytes int64) error

// Stage is what one rank of a replay has.
type Stage struct {
	Rank, Ranks int
	Device      device.Device
	Exchange    device.Exchange
	Recorder    *flight.Writer // for collectives and marks of the guest; nil for none
	Plan        Planner        // nil if there are no calls of collectives
	// Verify says that buffers hold what they held in the run, so that what was
	// verified there can be. It is only looked at otherwise.
	Verify bool
	// Stopped says why the rank is to give up waiting for a key of the exchange,
	// nil while it is not; nil if the exchange knows by itself.
	Stopped func() error
}

// Body gives what carries a program out on a device, as the rank that recorded
// it or, if it is shared, as any rank. It may be called once, and returns when
// all that was submitted is complete. An error is a [*LineError], or of the end.
//
// Ranks find what others export in the exchange, under keys that begin with
// "replay/".
func Body(p *Program, s Stage) func() error {
	return func() error {
		r := newPlayer(p, s)
		for r.at = 0; r.at < len(p.lines); r.at++ {
			if err := r.line(&p.lines[r.at]); err != nil {
				return r.failed(err)
			}
		}
		return r.drain()
	}
}

// LineError is a line that could not be carried out.
type LineError struct {
	Line     int    // of the rank, from 1
	Text     string // what it says for the rank
	Function string // of the guest that made the call, "" for unknown
	Err      error
}

// Error names the line.
func (e *LineError) Error() string {
	return fmt.Sprintf("line %d of its operations (%s): %v", e.Line, e.Text, e.Err)
}

// Unwrap gives what the device said.
func (e *LineError) Unwrap() error { return e.Err }

// failed says in which line.
func (r *player) failed(err error) error {
	return &LineError{r.at + 1, r.program.Line(r.at, r.Rank, r.Ranks), r.program.names[r.program.lines[r.at].function], err}
}

// player is a rank on its way through a program.
type player struct {
	Stage
	program *Program
	virtual bool
	at      int // line

	// By number, as the lines name them.
	buffers []op.Buffer
	streams []device.Stream
	events  []device.Event
	comms   []device.Comm
	marks   []flight.Record
	open    []flight.Record // collectives of the guest

	aside   device.Stream // for waits of the guest, made when needed
	scratch []int64       // arguments
	bytes   []byte        // that are read or written
	op      op.Op
	gemm    op.GemmShape
	box     op.BoxShape
	calls   []op.Call // of the group that is submitted
	parts   map[int][]int64
}

func newPlayer(p *Program, s Stage) *player {
	return &player{
		Stage: s, program: p, virtual: s.Device.Facts().Virtual,
		buffers: make([]op.Buffer, p.high[bufferLetter]+1),
		streams: make([]device.Stream, p.high[streamLetter]+1),
		events:  make([]device.Event, p.high[eventLetter]+1),
		comms:   make([]device.Comm, p.high[commLetter]+1),
		marks:   make([]flight.Record, p.high[markLetter]+1),
	}
}

// line carries out one line.
func (r *player) line(l *line) error {
	args := r.program.argsOf(l, r.Rank, r.Ranks, &r.scratch)
	if l.verb.submits() {
		return r.submit(l.verb, args)
	}
	switch l.verb {
	case verbSync:
		return r.streams[args[0]].Sync(device.Forever)
	case verbEventSync:
		return r.events[args[0]].Sync(device.Forever)
	case verbBarrier:
		return r.Device.Barrier(device.Forever)
	case verbBarrierLate:
		if err := r.Device.Barrier(0); !errors.Is(err, device.ErrTimeout) {
			return err
		}
		return nil
	case verbSeen:
		return r.await(args)
	case verbCollective, verbCollectiveEnd, verbMark, verbMarkEnd:
		r.tell(l.verb, args)
		return nil
	case verbAnd:
		return nil // the call ahead of it has submitted it
	}
	return r.hold(l.verb, args)
}

// hold makes and gives back what lines name.
func (r *player) hold(v verb, args []int64) (err error) {
	switch v {
	case verbAlloc:
		r.buffers[args[0]], err = r.Device.Alloc(args[1])
	case verbFree:
		err = r.Device.Free(r.buffers[args[0]])
		r.buffers[args[0]] = nil
	case verbRead:
		err = r.pass(args, r.Device.Read)
	case verbWrite:
		err = r.pass(args, func(b []byte, v op.View) error { return r.Device.Write(v, b) })
	case verbExport:
		err = r.export(args)
	case verbImport:
		err = r.imported(args)
	case verbStream:
		r.streams[args[0]], err = r.Device.NewStream()
	case verbClose:
		err = r.streams[args[0]].Close()
		r.streams[args[0]] = nil
	case verbEvent:
		r.events[args[0]], err = r.Device.NewEvent()
	case verbEventClose:
		err = r.events[args[0]].Close()
		r.events[args[0]] = nil
	case verbComm:
		err = r.join(args)
	case verbCommClose:
		err = r.comms[args[0]].Close()
		r.comms[args[0]] = nil
	}
	return err
}

// passBytesMax is how much of a buffer is read or written at a time.
const passBytesMax = 1 << 20

// pass reads bytes that nobody looks at, or writes zeros: what the guest wrote
// is not in the log.
func (r *player) pass(args []int64, move func([]byte, op.View) error) error {
	v, left := r.view(args), args[2]
	for left > 0 {
		n := min(left, passBytesMax)
		if int64(len(r.bytes)) < n {
			r.bytes = make([]byte, n)
		}
		clear(r.bytes[:n])
		if err := move(r.bytes[:n], v); err != nil {
			return err
		}
		v.Off += n
		left -= n
	}
	return nil
}

// view reads a view's two arguments.
func (r *player) view(args []int64) op.View {
	return op.View{Buf: r.buffers[args[0]], Off: args[1]}
}

// exportKey is where a rank tells of what it exports.
func exportKey(rank int, name string) string { return fmt.Sprintf("replay/%d/%s", rank, name) }

func (r *player) export(args []int64) error {
	h, err := r.Device.Export(r.view(args[1:]), args[3])
	if err != nil {
		return err
	}
	return r.Exchange.Set(exportKey(r.Rank, r.program.names[args[0]]), h.Encode())
}

func (r *player) imported(args []int64) error {
	peer, name := int(args[1]), r.program.names[args[2]]
	start := r.Device.Now()
	encoded, err := r.key(peer, name, start)
	if err != nil {
		return err
	}
	h, err := device.DecodeHandle(encoded)
	if err != nil {
		return err
	}
	b, err := r.Device.Import(peer, h)
	if err != nil {
		return err
	}
	r.buffers[args[0]] = b
	if w := r.Recorder; w != nil {
		w.CountShare(false)
		if w.Level >= flight.LevelSlice {
			w.Append(&flight.Record{Start: start, End: r.Device.Now(), Bytes: uint64(b.Size()), Peer: int32(peer), Kind: uint8(op.ShareLookup)})
		}
	}
	return nil
}

// keyRound is the longest wait for a key without looking whether the run was
// given up, where waiting takes real time.
const keyRound = 50 * time.Millisecond

// key waits for what a peer exports.
func (r *player) key(peer int, name string, since int64) ([]byte, error) {
	if w := r.Recorder; w != nil {
		w.BeginWait(0, flight.Wait{Kind: uint8(op.ShareLookup), Peer: peer, Since: since, Name: "x" + name})
		defer w.EndWait(0)
	}
	round := keyRound
	if r.virtual {
		round = device.Forever
	}
	for {
		encoded, err := r.Exchange.Get(exportKey(peer, name), round)
		if !errors.Is(err, device.ErrTimeout) {
			return encoded, err
		}
		if r.Recorder != nil {
			r.Recorder.CheckWait(0, 0)
		}
		if r.Stopped != nil {
			if err := r.Stopped(); err != nil {
				return nil, err
			}
		}
	}
}

func (r *player) join(args []int64) error {
	collectives, ok := r.Device.(device.Collectives)
	if !ok {
		return fmt.Errorf("communicators: %w", device.ErrMissing)
	}
	members := make([]int, 0, max(int(args[2]), 1))
	for _, rank := range args[3:] {
		members = append(members, int(rank))
	}
	if len(members) == 0 {
		for rank := range r.Ranks {
			members = append(members, rank)
		}
	}
	c, err := collectives.NewComm(r.program.names[args[1]], members, device.Forever)
	r.comms[args[0]] = c
	return err
}

// await looks at a slot as the guest did, and waits in its place until it has
// the value that the guest saw.
func (r *player) await(args []int64) error {
	v, err := r.Device.SignalValue(int(args[0]), uint32(args[1]))
	if err != nil || v >= uint64(args[2]) {
		return err
	}
	if r.aside == nil {
		if r.aside, err = r.Device.NewStream(); err != nil {
			return err
		}
	}
	o := r.begin(op.Wait)
	o.Peer, o.Slot, o.Value = int32(args[0]), uint32(args[1]), uint64(args[2])
	if err := r.aside.Submit(o); err != nil {
		return err
	}
	return r.aside.Sync(device.Forever)
}

// tell records what the guest said of its own doings.
func (r *player) tell(v verb, args []int64) {
	w := r.Recorder
	if w == nil {
		return
	}
	switch v {
	case verbCollective:
		r.open = append(r.open, flight.Record{
			Start: r.Device.Now(), Collective: uint32(args[0]), Red: uint8(args[1]), Type: uint8(args[2]), Step: uint16(args[3]),
			Bytes: uint64(args[4]), Slice: uint32(args[5]), Chunk: uint32(args[6]), Group: uint16(args[7]),
			Aux: uint32(w.Name(r.program.names[args[8]])) | uint32(args[9])<<31, Peer: -1, Kind: uint8(op.Collective),
		})
		w.BeginCollective(uint32(args[0]), uint8(args[1]))
	case verbCollectiveEnd:
		at := slices.IndexFunc(r.open, func(c flight.Record) bool { return c.Collective == uint32(args[0]) })
		if at >= 0 {
			r.append(&r.open[at], flight.StatusOK)
			r.open = slices.Delete(r.open, at, at+1)
		}
	case verbMark:
		r.marks[args[0]] = flight.Record{Start: r.Device.Now(), Peer: -1, Aux: uint32(w.Name(r.program.names[args[1]])), Kind: uint8(op.Mark)}
	case verbMarkEnd:
		r.append(&r.marks[args[0]], flight.StatusOK)
		r.marks[args[0]] = flight.Record{}
	}
}

// append writes the record of something that ends now.
func (r *player) append(record *flight.Record, status uint8) {
	if r.Recorder.Level < flight.LevelCollective {
		return
	}
	record.End, record.Status = r.Device.Now(), status
	r.Recorder.Append(record)
}

// drain waits for what is under way, which peers may wait for.
func (r *player) drain() error {
	for _, s := range r.streams {
		if s == nil {
			continue
		}
		if err := s.Sync(device.Forever); err != nil {
			return fmt.Errorf("at its end: %w", err)
		}
	}
	for _, c := range r.comms {
		if c == nil {
			continue
		}
		if err := c.Close(); err != nil {
			return fmt.Errorf("at its end: %w", err)
		}
	}
	if r.Recorder == nil {
		return nil
	}
	for i := range r.open {
		r.append(&r.open[i], flight.StatusAborted)
	}
	for i := range r.marks {
		if r.marks[i].Kind != 0 {
			r.append(&r.marks[i], flight.StatusAborted)
		}
	}
	return nil
}
