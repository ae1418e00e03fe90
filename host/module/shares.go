package module

import (
	"errors"
	"fmt"
	"time"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Shares need no barrier: an exporter sets a key once and goes on, an importer
// pulls it and waits for nobody else. See "Why do shares carry a name and an
// epoch?" in host/RATIONALE.md.

// shareKey is what a looked-up buffer is remembered by.
type shareKey struct {
	peer  int
	epoch uint64
	name  string
}

// share is a looked-up buffer that the guest has a handle to.
type share struct {
	key    shareKey
	handle uint64
}

// publication is what this rank has published: never twice.
type publication struct {
	name  string
	epoch uint64
}

const (
	maxPublications = 1 << 20
	// lookupRound is the longest that a look-up waits without looking at its
	// deadline, at the run's end and without telling the flight recorder.
	lookupRound = 50 * time.Millisecond
)

func exchangeKey(rank int, name string, epoch uint64) string {
	return fmt.Sprintf("share/%d/%s/%d", rank, name, epoch)
}

// sharePublish exports a region of an own buffer and sets its key. invalid: a
// bad name, one published before in this epoch, or a peer's buffer; range: the
// region is not inside the buffer.
func sharePublish(c *call) error {
	p := publication{string(c.in), c.stack[2]}
	v, bytes := op.View{Buf: c.buffer[0], Off: c.int64(4)}, c.int64(5)
	if err := c.checkPublication(p, v, bytes); err != nil {
		return err
	}
	h, err := c.config.Device.Export(v, bytes)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := c.config.Exchange.Set(exchangeKey(c.config.Rank, p.name, p.epoch), h.Encode()); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	c.published[p] = struct{}{}
	return nil
}

func (c *call) checkPublication(p publication, v op.View, bytes int64) error {
	if err := checkName(c.in); err != nil {
		return inField("name", err)
	}
	if v.Buf.Peer() >= 0 {
		return refuse(abi.Invalid, "buffer: was looked up, and only its owner can publish it")
	}
	if err := checkView(v, bytes); err != nil {
		return err
	}
	if _, twice := c.published[p]; twice {
		return refuse(abi.Invalid, "%q was published before in epoch %d", p.name, p.epoch)
	}
	if len(c.published) >= maxPublications {
		return refuse(abi.Limit, "%d shares are published already", maxPublications)
	}
	return nil
}

// shareLookup writes a handle to a peer's region and its size. A region that
// the guest holds a good handle to is found without a message, and has the
// same handle. stale: the peer has freed it; timed_out: not yet published.
func shareLookup(c *call) error {
	peer, epoch := c.rank(0), c.stack[3]
	if s, ok := c.shares[shareKey{peer, epoch, string(c.in)}]; ok {
		if b, ok := c.alive(s); ok {
			c.config.Recorder.CountShare(true)
			c.writeShare(s.handle, b)
			return nil
		}
		c.dropShare(s)
	}
	if err := checkName(c.in); err != nil {
		return inField("name", err)
	}
	if err := c.buffers.full(); err != nil {
		return err
	}
	return c.pull(shareKey{peer, epoch, string(c.in)}, c.timeout(4))
}

func (c *call) writeShare(handle uint64, b op.Buffer) {
	put64(c.out[0], handle)
	put64(c.out[1], uint64(b.Size()))
}

// alive gives the buffer of a share unless its owner has freed it: reading
// none of its bytes is how a device is asked.
func (i *Instance) alive(s *share) (op.Buffer, bool) {
	b, err := i.buffers.get(s.handle)
	if err != nil || i.config.Device.Read(nil, op.View{Buf: b.Buffer}) != nil {
		return nil, false
	}
	return b.Buffer, true
}

// dropShare makes the next look-up a miss.
func (i *Instance) dropShare(s *share) {
	if s != nil && i.shares[s.key] == s {
		delete(i.shares, s.key)
	}
}

// pull asks the exchange and imports what it finds. A region that its owner
// has freed has no later publication in the same epoch, so the import is then
// refused as stale.
func (c *call) pull(key shareKey, timeout time.Duration) error {
	c.config.Recorder.CountShare(false)
	start := c.config.Device.Now()
	value, err := c.await(key, start, timeout)
	if err != nil {
		return fmt.Errorf("%q of rank %d in epoch %d: %w", key.name, key.peer, key.epoch, err)
	}
	h, err := decodeHandle(value)
	if err != nil {
		return err
	}
	b, err := c.config.Device.Import(key.peer, h)
	if err != nil {
		return fmt.Errorf("import %q of rank %d in epoch %d: %w", key.name, key.peer, key.epoch, err)
	}
	s := &share{key: key}
	s.handle = c.buffers.add(buffer{b, s})
	c.shares[key] = s
	c.recordLookup(key, b.Size(), start)
	c.writeShare(s.handle, b)
	return nil
}

func (c *call) recordLookup(key shareKey, bytes, start int64) {
	r := c.config.Recorder
	if r.Level < flight.LevelSlice {
		return
	}
	r.Append(&flight.Record{
		Start: start, End: c.config.Device.Now(), Bytes: uint64(bytes),
		Peer: int32(key.peer), Kind: uint8(op.ShareLookup),
	})
}

// await gets the share's value, telling the flight recorder what the guest
// waits for.
func (c *call) await(key shareKey, start int64, timeout time.Duration) ([]byte, error) {
	return c.awaitKey(exchangeKey(key.peer, key.name, key.epoch), timeout, flight.Wait{
		Kind: uint8(op.ShareLookup), Peer: key.peer, Value: key.epoch, Since: start, Name: key.name,
	})
}

// awaitKey gets the value of a key of the exchange in rounds, telling the
// flight recorder that the guest waits and still looks.
func (c *call) awaitKey(name string, timeout time.Duration, wait flight.Wait) ([]byte, error) {
	r := c.config.Recorder
	wait.Limited = timeout >= 0
	r.BeginWait(0, wait)
	defer r.EndWait(0)
	began := c.moment()
	for {
		waited := c.moment() - began
		round, expired := c.lookupRound(timeout, waited), timeout >= 0 && waited >= timeout
		value, err := c.config.Exchange.Get(name, round)
		if !errors.Is(err, device.ErrTimeout) {
			return value, err
		}
		r.CheckWait(0, 0)
		if err := c.giveUp(waited, expired); err != nil {
			return nil, err
		}
	}
}

// lookupRound is how long a look-up that has waited for some time waits before
// it looks around. In virtual time there is nothing to see meanwhile, and a
// wait that looks up now and then would never count as one that cannot end.
func (c *call) lookupRound(timeout, waited time.Duration) time.Duration {
	until := timeout // since the wait began
	if limit := c.config.OpTimeout; limit > 0 && (until < 0 || limit < until) {
		until = limit
	}
	if next := waited + lookupRound; !c.facts.Virtual && (until < 0 || next < until) {
		until = next
	}
	if until < 0 {
		return device.Forever
	}
	return max(0, until-waited)
}

// giveUp is why a look-up must not wait on: the run is given up, the guest's
// own deadline has passed, or the run's for one operation has.
func (c *call) giveUp(waited time.Duration, expired bool) error {
	if err := c.abortError(); err != nil {
		return err
	}
	if expired {
		return device.ErrTimeout
	}
	if limit := c.config.OpTimeout; limit > 0 && waited >= limit {
		return refuse(abi.Failed, "not published within the run's operation timeout of %v", limit)
	}
	return nil
}

// decodeHandle trusts nothing: the value comes from another process.
func decodeHandle(b []byte) (device.Handle, error) {
	h, err := device.DecodeHandle(b)
	if err != nil {
		return h, refuse(abi.Failed, "a share: %v", err)
	}
	return h, nil
}
