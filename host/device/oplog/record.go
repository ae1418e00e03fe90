package oplog

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Options say where a recording goes.
type Options struct {
	Rank, Ranks int
	// Out gets whole lines, many at a time; nil to keep them for
	// [Recorder.Program].
	Out io.Writer
	// Function names the guest's function that makes the current call; nil if
	// nobody knows.
	Function func() string
}

// Recorder is a device that writes down what is asked of it, and has another
// carry it out. It is a device of one rank as others are, and hears of the
// guest's collectives and marks as well.
type Recorder struct {
	device.Device
	options Options
	out     output
	names   map[string]uint32

	numbers   [letterCount]numbering
	buffers   map[op.Buffer]uint32
	marks     map[uint64]uint32
	seen      map[slotOf]uint64
	args      []int64
	points    []device.Point
	recording bool
}

// slotOf is a signal slot that a rank raises here.
type slotOf struct {
	peer int
	slot uint32
}

// Record puts a recorder around a device, before anything was asked of it.
// Other decorators go inside it, if a replay is not to repeat what they do.
func Record(d device.Device, o Options) *Recorder {
	r := &Recorder{
		Device: d, options: o, names: map[string]uint32{"": 0}, recording: true,
		buffers: make(map[op.Buffer]uint32), marks: make(map[uint64]uint32), seen: make(map[slotOf]uint64),
	}
	r.out.program.names = []string{""}
	if o.Out != nil {
		r.out.to = o.Out
		r.out.text = append(r.out.text, rankWord+strconv.Itoa(o.Rank)+"\n"...)
	}
	return r
}

// Wrapped is the recorder as the device it is wrapped around: with the faults
// of that, if it can have any.
func (r *Recorder) Wrapped() device.Device {
	if faults, ok := r.Device.(device.Faults); ok {
		return &failing{r, faults}
	}
	return r
}

type failing struct {
	*Recorder
	device.Faults
}

// End ends the recording: what is asked of the device from here on is not the
// guest's doing. It gives the first error of the output.
func (r *Recorder) End() error {
	if r.recording {
		r.recording = false
		r.out.end()
	}
	return r.out.err
}

// Flush passes on to the output what was written so far.
func (r *Recorder) Flush() error {
	r.out.flush()
	return r.out.err
}

// Program is what was recorded, if there is no output.
func (r *Recorder) Program() *Program { return &r.out.program }

// Close passes on what was written and closes the device.
func (r *Recorder) Close() error {
	_ = r.Flush() // who wants to know of its errors calls End
	return r.Device.Close()
}

// output takes lines, as text or as a program.
type output struct {
	to      io.Writer
	text    []byte
	program Program // its names only, if there is a writer
	err     error
}

const flushBytes = 64 << 10

func (o *output) add(v verb, function uint32, args []int64) {
	if o.to == nil {
		o.program.add(v, function, args)
		return
	}
	o.text = appendLine(o.text, &line{verb: v, function: function}, args, nil, o.program.names)
	if len(o.text) >= flushBytes {
		o.flush()
	}
}

func (o *output) flush() {
	if o.to != nil && len(o.text) > 0 && o.err == nil {
		_, o.err = o.to.Write(o.text)
	}
	o.text = o.text[:0]
}

func (o *output) end() {
	o.program.Ended = true
	if o.to != nil {
		o.text = append(o.text, endWord+"\n"...)
		o.flush()
	}
}

// numbering gives names: the number that was given back last comes first, so
// that there are no more than were in use together.
type numbering struct {
	last uint32
	free []uint32
}

func (n *numbering) take() uint32 {
	if last := len(n.free) - 1; last >= 0 {
		number := n.free[last]
		n.free = n.free[:last]
		return number
	}
	n.last++
	return n.last
}

func (n *numbering) giveBack(number uint32) { n.free = append(n.free, number) }

// begin starts a line: arguments are appended to what it gives.
func (r *Recorder) begin() []int64 { return r.args[:0] }

// add writes a line.
func (r *Recorder) add(v verb, args []int64) {
	r.args = args
	if !r.recording {
		return
	}
	function := uint32(0)
	if r.options.Function != nil {
		function = r.name(r.options.Function())
	}
	r.out.add(v, function, args)
}

// name gives the index of a name.
func (r *Recorder) name(name string) uint32 {
	if i, ok := r.names[name]; ok {
		return i
	}
	if len(name) > nameBytesMax {
		name = name[:nameBytesMax]
	}
	i := uint32(len(r.out.program.names))
	r.names[name] = i
	r.out.program.names = append(r.out.program.names, name)
	return i
}

// asked reports whether a call that may wait is to be written: one that was
// not carried out did nothing, but one in which the run was given up is what
// the rank waited in. From then on nothing may come that has the rest written.
func (r *Recorder) asked(err error) bool {
	return err == nil || errors.Is(err, device.ErrAborted)
}

// settle has everything written if the run was given up.
func (r *Recorder) settle(err error) {
	if errors.Is(err, device.ErrAborted) {
		r.out.flush()
	}
}

// Alloc implements device.Device.
func (r *Recorder) Alloc(bytes int64) (op.Buffer, error) {
	b, err := r.Device.Alloc(bytes)
	if err == nil {
		r.add(verbAlloc, append(r.begin(), int64(r.adopt(b)), bytes))
	}
	return b, err
}

// adopt names a buffer.
func (r *Recorder) adopt(b op.Buffer) uint32 {
	number := r.numbers[bufferLetter].take()
	r.buffers[b] = number
	return number
}

// Free implements device.Device.
func (r *Recorder) Free(b op.Buffer) error {
	err := r.Device.Free(b)
	if number, ok := r.buffers[b]; ok && err == nil {
		delete(r.buffers, b)
		r.numbers[bufferLetter].giveBack(number)
		r.add(verbFree, append(r.begin(), int64(number)))
	}
	return err
}

// view appends a view's arguments.
func (r *Recorder) view(args []int64, v op.View) []int64 {
	if v.Buf == nil {
		return append(args, 0, 0)
	}
	return append(args, int64(r.buffers[v.Buf]), v.Off)
}

// Read implements device.Device. Reading nothing is how somebody asks whether
// a buffer is still there.
func (r *Recorder) Read(dst []byte, src op.View) error {
	err := r.Device.Read(dst, src)
	if err == nil && len(dst) > 0 {
		r.add(verbRead, append(r.view(r.begin(), src), int64(len(dst))))
	}
	return err
}

// Write implements device.Device.
func (r *Recorder) Write(dst op.View, src []byte) error {
	err := r.Device.Write(dst, src)
	if err == nil && len(src) > 0 {
		r.add(verbWrite, append(r.view(r.begin(), dst), int64(len(src))))
	}
	return err
}

// exportName is what a handle is called: the same by its owner and by those who
// import it, and no other handle of the owner.
func exportName(h device.Handle) string {
	return fmt.Sprintf("%d.%d+%d:%d", h.Allocation, h.Generation, h.Offset, h.Bytes)
}

// Export implements device.Device.
func (r *Recorder) Export(v op.View, bytes int64) (device.Handle, error) {
	h, err := r.Device.Export(v, bytes)
	if err == nil {
		args := append(r.begin(), int64(r.name(exportName(h))))
		r.add(verbExport, append(r.view(args, v), bytes))
	}
	return h, err
}

// Import implements device.Device.
func (r *Recorder) Import(peer int, h device.Handle) (op.Buffer, error) {
	b, err := r.Device.Import(peer, h)
	if err == nil {
		r.add(verbImport, append(r.begin(), int64(r.adopt(b)), int64(peer), int64(r.name(exportName(h)))))
	}
	return b, err
}

// Barrier implements device.Device. One that timed out counts all the same.
func (r *Recorder) Barrier(timeout time.Duration) error {
	err := r.Device.Barrier(timeout)
	switch {
	case r.asked(err):
		r.add(verbBarrier, r.begin())
	case errors.Is(err, device.ErrTimeout):
		r.add(verbBarrierLate, r.begin())
	}
	r.settle(err)
	return err
}

// SignalValue implements device.Device. A value that the guest sees for the
// first time is one that it may have waited for.
func (r *Recorder) SignalValue(peer int, slot uint32) (uint64, error) {
	v, err := r.Device.SignalValue(peer, slot)
	if at := (slotOf{peer, slot}); err == nil && v > r.seen[at] {
		r.seen[at] = v
		r.add(verbSeen, append(r.begin(), int64(peer), int64(slot), int64(v)))
	}
	return v, err
}

// WaitAny implements device.Device. What it has found is written as a wait for
// that alone, which is what a replay does; what was never found, because the run
// was given up, as a wait for the first.
func (r *Recorder) WaitAny(points []device.Point, timeout time.Duration) (int, error) {
	r.points = append(r.points[:0], points...)
	for i := range r.points {
		if e, ok := points[i].Event.(*event); ok {
			r.points[i].Event = e.Event
		}
	}
	i, err := r.Device.WaitAny(r.points, timeout)
	clear(r.points)
	if r.asked(err) && len(points) > 0 {
		r.found(&points[max(i, 0)])
	}
	r.settle(err)
	return i, err
}

// found writes a point that a rank has reached.
func (r *Recorder) found(p *device.Point) {
	if p.Event != nil {
		if e, ok := p.Event.(*event); ok {
			e.settle()
		}
		return
	}
	if at := (slotOf{p.Peer, p.Slot}); p.Value > r.seen[at] {
		r.seen[at] = p.Value
		r.add(verbSeen, append(r.begin(), int64(p.Peer), int64(p.Slot), int64(p.Value)))
	}
}

// NewComm implements device.Collectives.
func (r *Recorder) NewComm(name string, members []int, timeout time.Duration) (device.Comm, error) {
	collectives, ok := r.Device.(device.Collectives)
	if !ok {
		return nil, fmt.Errorf("communicators: %w", device.ErrMissing)
	}
	c, err := collectives.NewComm(name, members, timeout)
	if err != nil {
		r.settle(err)
		return nil, err
	}
	n := &comm{Comm: c, recorder: r, number: r.numbers[commLetter].take()}
	args := append(r.begin(), int64(n.number), int64(r.name(name)), 0)
	if !isWorld(members, r.options.Ranks) {
		args[2] = int64(len(members))
		for _, rank := range members {
			args = append(args, int64(rank))
		}
	}
	r.add(verbComm, args)
	return n, nil
}

// CollectiveBegun is told of a collective that the guest begins.
func (r *Recorder) CollectiveBegun(c *flight.Record, name string) {
	r.add(verbCollective, append(r.begin(),
		int64(c.Collective), int64(c.Red), int64(c.Type), int64(c.Step), int64(c.Bytes), int64(c.Slice), int64(c.Chunk), int64(c.Group),
		int64(r.name(name)), int64(c.Aux>>31)))
}

// CollectiveEnded is told of a collective that the guest ends.
func (r *Recorder) CollectiveEnded(number uint32) {
	r.add(verbCollectiveEnd, append(r.begin(), int64(number)))
}

// MarkBegun is told of a mark that the guest begins.
func (r *Recorder) MarkBegun(handle uint64, name string) {
	number := r.numbers[markLetter].take()
	r.marks[handle] = number
	r.add(verbMark, append(r.begin(), int64(number), int64(r.name(name))))
}

// MarkEnded is told of a mark that the guest ends.
func (r *Recorder) MarkEnded(handle uint64) {
	number, ok := r.marks[handle]
	if !ok {
		return
	}
	delete(r.marks, handle)
	r.numbers[markLetter].giveBack(number)
	r.add(verbMarkEnd, append(r.begin(), int64(number)))
}
