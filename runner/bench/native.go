package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// A job is a benchmark without a guest, as it travels to the ranks.
type job struct {
	Options
	Name string // of the collective
}

// Job describes a benchmark for [World.Run].
func (o *Options) Job() (string, error) {
	text, err := json.Marshal(job{*o, o.Collective.Name})
	return string(text), err
}

// World is what a rank has to measure with when no guest is in between.
type World struct {
	Rank, Size int
	Device     device.Device
	Exchange   device.Exchange
	Recorder   *flight.Writer
	Out        io.Writer // for what [Results] reads, used by rank 0
}

// Run does what the guest does, in Go: the same operations in the same order,
// but for the checks. It prices the sandbox.
func (w *World) Run(description string) error {
	var j job
	err := json.Unmarshal([]byte(description), &j)
	if err == nil {
		j.Collective, err = Find(j.Name)
	}
	if err == nil {
		err = j.Check()
	}
	if err != nil {
		return fmt.Errorf("benchmark: %w", err)
	}
	rows := j.Rows()
	n, err := w.open(&j.Options, rows)
	if err != nil {
		return err
	}
	for i := range rows {
		for at, record := range j.recordsOf(&rows[i]) {
			if (at%variants == 1) != (record.root == int64(w.Rank)) {
				continue
			}
			words, err := n.measure(&rows[i], &record)
			if err == nil {
				err = w.tell(fmt.Sprint(i, ".", at/variants), words)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// native is one rank that measures.
type native struct {
	*World
	*Options
	stream        device.Stream
	comm          device.Comm
	input, output op.Buffer
	op            op.Op // that is submitted
	called        uint32
}

// open allocates what all rows use.
func (w *World) open(o *Options, rows []Row) (*native, error) {
	n := &native{World: w, Options: o}
	collectives, ok := w.Device.(device.Collectives)
	if !ok {
		return nil, fmt.Errorf("communicators: %w", device.ErrMissing)
	}
	ranks := make([]int, w.Size)
	for rank := range ranks {
		ranks[rank] = rank
	}
	var err error
	if n.comm, err = collectives.NewComm("bench", ranks, device.Forever); err != nil {
		return nil, err
	}
	if n.stream, err = w.Device.NewStream(); err != nil {
		return nil, err
	}
	bytes := o.BufferBytes(rows) / 2
	if n.input, err = w.Device.Alloc(bytes); err != nil {
		return nil, err
	}
	n.output, err = w.Device.Alloc(bytes)
	return n, err
}

// measure times one placement and gives what the guest would tell.
func (n *native) measure(row *Row, r *record) ([]int64, error) {
	call, err := n.call(row, r)
	if err != nil {
		return nil, err
	}
	err = n.prepare(row, r, call)
	if err != nil {
		return nil, err
	}
	words := make([]int64, wordsFixed, n.wordCount(row))
	start := n.Device.Now()
	for range row.Iterations {
		for range n.Aggregated {
			if err := n.submit(call); err != nil {
				return nil, err
			}
		}
		if err := n.complete(); err != nil {
			return nil, err
		}
		if n.PerIteration {
			words = append(words, n.Device.Now()-start)
		}
	}
	words[0] = n.Device.Now() - start
	err = n.stream.Sync(device.Forever)
	words[1] = n.Device.Now() - start
	if err != nil {
		return nil, err
	}
	return words, n.Device.Barrier(device.Forever)
}

// complete is what comes between iterations.
func (n *native) complete() error {
	if n.Blocking == 0 && !n.PerIteration {
		return nil
	}
	if err := n.stream.Sync(device.Forever); err != nil || n.Blocking != 1 {
		return err
	}
	return n.Device.Barrier(device.Forever)
}

// prepare fills the input and warms up.
func (n *native) prepare(row *Row, r *record, call *op.Call) error {
	in := n.output
	if r.outOfPlace {
		in = n.input
	}
	n.op = op.Op{
		Kind: op.Fill, Type: row.Type, Bytes: r.fillBytes, Value: uint64(1 + n.Rank),
		Dst: op.View{Buf: in, Off: r.fillOff + int64(n.Rank)*r.fillFactor},
	}
	if err := n.stream.Submit(&n.op); err != nil {
		return err
	}
	call.Warmup = true
	for range n.Warmup {
		if err := n.submit(call); err != nil {
			return err
		}
	}
	call.Warmup = false
	if err := n.stream.Sync(device.Forever); err != nil {
		return err
	}
	return n.Device.Barrier(device.Forever)
}

// submit copies the call's operation to where it does not have to be allocated.
func (n *native) submit(call *op.Call) error {
	n.called++
	n.op = op.Op{Kind: op.CollectiveCall, Comm: n.comm, Call: call, Term: op.Term{Collective: n.called}}
	return n.stream.Submit(&n.op)
}

// call plans a record's call as package module plans that of a guest.
func (n *native) call(row *Row, r *record) (*op.Call, error) {
	shape := coll.Shape{
		Collective: row.Collective.Op, Type: row.Type, Ranks: row.Ranks, Root: r.callFields.root, Count: row.Count, InPlace: !r.outOfPlace,
	}
	if shape.InBytes(n.Rank) == 0 && row.Count > 0 {
		shape.InPlace = false
	}
	if err := n.choose(&shape); err != nil {
		return nil, err
	}
	program, err := coll.Plan(shape, n.Rank)
	if err != nil {
		return nil, err
	}
	out := op.View{Buf: n.output, Off: r.outOff + int64(n.Rank)*r.outFactor}
	call := &op.Call{
		Collective: row.Collective.Op, Type: row.Type, Red: row.Red, Root: r.callFields.root, Count: row.Count,
		In: op.View{Buf: n.input, Off: r.inOff}, Out: out,
		Algorithm: uint8(shape.Algorithm), Program: program, Bytes: shape.Bytes(), NameIndex: n.Recorder.Name(program.Name),
	}
	if !r.outOfPlace {
		offset := shape.InPlaceOffset(n.Rank)
		call.In = op.View{Buf: n.output, Off: out.Off + max(offset, 0)}
		call.Out.Off -= min(offset, 0)
	}
	return call, nil
}

// choose picks the algorithm.
func (n *native) choose(shape *coll.Shape) error {
	if n.Algorithm == "" {
		shape.Algorithm = coll.DefaultTable().Select(*shape)
		return nil
	}
	var known bool
	if shape.Algorithm, known = coll.AlgorithmNamed(n.Algorithm); !known {
		return fmt.Errorf("algorithm: there is no %q", n.Algorithm)
	}
	return nil
}

// tell brings what all ranks have measured to rank 0, which prints it.
func (w *World) tell(name string, words []int64) error {
	key := func(rank, part int) string { return fmt.Sprintf("bench/%s/%d.%d", name, rank, part) }
	parts := 0
	for line := range slices.Chunk(words, lineWords) {
		if err := w.Exchange.Set(key(w.Rank, parts), []byte(hexLine(line))); err != nil {
			return err
		}
		parts++
	}
	if w.Rank != 0 {
		return nil
	}
	for rank := range w.Size {
		for part := range parts {
			line, err := w.Exchange.Get(key(rank, part), device.Forever)
			if err != nil {
				return err
			}
			if _, err := w.Out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// hexLine is a line as the guest prints it.
func hexLine(words []int64) string {
	var b strings.Builder
	for _, word := range words {
		fmt.Fprintf(&b, "%016x ", uint64(word))
	}
	return b.String() + "\n"
}
