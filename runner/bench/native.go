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
	Selection  coll.Table // of algorithms
	Out        io.Writer  // for what [Results] reads, used by rank 0
}

// Run does what the guest does, in Go: the same operations in the same order,
// checks among them. It prices the sandbox.
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
			words, err := n.measure(&measured{Row: &rows[i], record: record})
			if err == nil {
				err = w.tell(fmt.Sprint(i, ".", at/variants), words)
			}
			if err != nil {
				return err
			}
		}
	}
	// As in the guest: nobody ends before rank 0 has printed.
	return n.Device.Barrier(device.Forever)
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
	salt          uint64 // makes patterns of one check differ from those of the next
}

// measured is one placement of a row.
type measured struct {
	*Row
	record
	call *op.Call // nil for sendrecv
}

// open allocates what all rows use.
func (w *World) open(o *Options, rows []Row) (*native, error) {
	n := &native{World: w, Options: o, salt: 1}
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
func (n *native) measure(m *measured) ([]int64, error) {
	if err := n.prepare(m); err != nil {
		return nil, err
	}
	words := make([]int64, wordsFixed, n.wordCount(m.Row))
	start := n.Device.Now()
	for range m.Row.Iterations {
		for range n.Aggregated {
			if err := n.submit(m); err != nil {
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
	err := n.stream.Sync(device.Forever)
	words[1] = n.Device.Now() - start
	if err == nil {
		err = n.Device.Barrier(device.Forever)
	}
	if err == nil {
		words[2], err = n.check(m)
	}
	return words, err
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
