package cpu

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// callWords is what all ranks of a call must agree on.
type callWords struct {
	what  uint64 // collective, type, operator, algorithm and root
	count uint64
	slice uint64 // bytes of a slice
}

func wordsOf(c *op.Call) callWords {
	w := callWords{count: uint64(c.Count)}
	w.what = uint64(c.Collective) | uint64(c.Type)<<8 | uint64(c.Algorithm)<<24
	if reduces(c.Collective) {
		w.what |= uint64(c.Red) << 16
	}
	if rooted(c.Collective) {
		w.what |= uint64(uint32(c.Root)) << 32
	}
	if c.Collective == op.AllToAllV {
		w.count = 0 // counts differ from rank to rank, and are compared in pairs
	}
	w.slice = uint64(c.Program.SliceBytes)
	if c.Collective == op.BarrierAll {
		return callWords{what: uint64(c.Collective) | uint64(c.Algorithm)<<24}
	}
	return w
}

func reduces(c op.CollectiveOp) bool {
	return c == op.AllReduce || c == op.ReduceScatter || c == op.ReduceTo
}

func rooted(c op.CollectiveOp) bool {
	return c == op.Broadcast || c == op.ReduceTo || c == op.Gather || c == op.Scatter
}

// String is how the call is named when ranks disagree.
func (w callWords) String() string {
	collective := op.CollectiveOp(w.what)
	if collective == op.BarrierAll {
		return collective.String()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", collective, op.Dtype(w.what>>8))
	if reduces(collective) {
		fmt.Fprintf(&text, " %s", op.RedOp(w.what>>16))
	}
	if collective != op.AllToAllV {
		fmt.Fprintf(&text, " of %d elements", int64(w.count))
	}
	if rooted(collective) {
		fmt.Fprintf(&text, ", root %d", uint32(w.what>>32))
	}
	return text.String()
}

// differs is String with what else may differ.
func (w callWords) differs(other callWords) string {
	text := w.String()
	if text == other.String() {
		text = fmt.Sprintf("%s by %s in slices of %d bytes", text, op.Algorithm(w.what>>24), w.slice)
	}
	return text
}

// read gives what the owner of a header has entered.
func (h *callHeader) read() callWords {
	return callWords{atomic.LoadUint64(&h.what), atomic.LoadUint64(&h.count), atomic.LoadUint64(&h.slice)}
}

// compare fails if a peer that has entered a call of that number has entered
// something else than this rank.
func (c *comm) compare(number uint64, mine callWords, peer int) error {
	theirs := c.peers[peer].block.places[number%placeCount].header.read()
	if theirs == mine {
		return nil
	}
	return c.mismatch(number, peer, mine.differs(theirs), theirs.differs(mine))
}

// entered reports whether a peer has entered a call.
func (c *comm) entered(number uint64, peer int) bool {
	return c.peers[peer].block.places[number%placeCount].header.entered.value.Load() >= number
}

// settle waits until all ranks have entered a call, and compares what they have
// called up to then, and later if all have come that far, with what this rank
// has: programs in which not everyone meets everyone leave that to it. What is
// compared is not written over meanwhile, since this rank has not entered
// callsAtOnce calls more.
func (c *comm) settle(number uint64, by *caller) error {
	for i := range len(c.peers) - 1 {
		peer := c.other(i)
		h := c.peers[peer].block.places[number%placeCount].header
		if err := c.await(&h.entered, number, peer, by); err != nil {
			return err
		}
	}
	for g := &c.run; g.settled < number || g.settled < g.last && c.allEntered(g.settled+1); g.settled++ {
		if err := c.compareEntered(g.settled + 1); err != nil {
			return err
		}
	}
	return nil
}

func (c *comm) allEntered(number uint64) bool {
	for i := range len(c.peers) - 1 {
		if !c.entered(number, c.other(i)) {
			return false
		}
	}
	return true
}

// compareEntered compares what this rank has entered with all peers that have
// entered a call of that number.
func (c *comm) compareEntered(number uint64) error {
	mine := c.peers[c.rank].block.places[number%placeCount].header.read()
	for i := range len(c.peers) - 1 {
		peer := c.other(i)
		if !c.entered(number, peer) {
			continue
		}
		if err := c.compare(number, mine, peer); err != nil {
			return err
		}
	}
	return nil
}

// compareRest compares the last calls, which are complete here, with the peers
// that have entered them: of two ranks that differ, the later one notices.
func (c *comm) compareRest() error {
	if c.broken.Load() != nil {
		return nil // as has been told
	}
	for number := c.run.settled + 1; number <= c.submitted; number++ {
		if err := c.compareEntered(number); err != nil {
			return err
		}
	}
	return nil
}

// match compares what peer has entered with what this rank has.
func (c *comm) match(r *callRun, peer int) error {
	p := &c.peers[peer]
	if err := c.compare(r.number, r.words, peer); err != nil {
		return err
	}
	if r.call.Collective != op.AllToAllV {
		return nil
	}
	v := p.block.vector(r.place, c.rank)
	sends, recvs := atomic.LoadInt64(&v.sends), atomic.LoadInt64(&v.recvs)
	if mine := r.call.SendCounts[peer]; mine != recvs {
		return c.mismatch(r.number, peer, fmt.Sprintf("%v that sends it %d elements", r.words, mine),
			fmt.Sprintf("%v that receives %d from it", r.words, recvs))
	}
	if mine := r.call.RecvCounts[peer]; mine != sends {
		return c.mismatch(r.number, peer, fmt.Sprintf("%v that receives %d elements from it", r.words, mine),
			fmt.Sprintf("%v that sends it %d", r.words, sends))
	}
	return nil
}

// mismatch names both sides, the lower rank first, so that all ranks' errors
// read alike.
func (c *comm) mismatch(number uint64, peer int, mine, theirs string) error {
	a, b := c.peers[c.rank].world, c.peers[peer].world
	if b < a {
		a, b, mine, theirs = b, a, theirs, mine
	}
	return fmt.Errorf("call %d of communicator %s: rank %d calls %s, rank %d calls %s: %w",
		number, c.name, a, mine, b, theirs, device.ErrMismatch)
}
