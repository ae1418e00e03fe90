package module

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// What ranks compare of a pipeline: words of 64 bits, of which all must be the
// same.
var pactWords = [...]string{
	"number of entries", "bucket_bytes", "plan", "publish", "policy", "checksum flag", "first_slot", "first_channel", "channels",
}

const pactEntriesMax = 1 << 16 // hashes that are compared one by one; entries beyond are compared in groups

// pact is what this rank has.
func (p *pipe) pact() []byte {
	words := [...]uint64{
		uint64(len(p.entries)), uint64(p.bucketBytes), p.plan.Hash(), uint64(p.limits.Publish),
		uint64(p.limits.Policy), uint64(word(p.checksum)), uint64(p.firstSlot), uint64(p.firstWire), uint64(p.channels),
	}
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// pipelineAgree compares the plan with all ranks': rank 0 hears all and tells
// what it found. mismatch: with the first difference. timed_out: it can be
// called again.
func pipelineAgree(c *call) error {
	p := c.pipe
	if p.plan == nil {
		return errNotBuilt
	}
	if p.agreed || p.differs != nil {
		return p.differs
	}
	p.proposed = true
	a := agreement{call: c, pipe: p, timeout: c.timeout(1), began: c.moment()}
	odd, err := a.verdict()
	if err != nil {
		return err
	}
	if odd >= 0 {
		text, err := a.difference(odd)
		if err != nil {
			return err
		}
		p.differs = fmt.Errorf("%w: %s", device.ErrMismatch, text)
		return p.differs
	}
	if err := a.reach(); err != nil {
		return err
	}
	p.agreed = true
	return nil
}

// agreement is one call of pipeline_agree.
type agreement struct {
	*call
	pipe    *pipe
	timeout time.Duration
	began   time.Duration
}

func (a *agreement) key(what string, rank int) string {
	return fmt.Sprintf("pipeline/%d/%s/%d", a.pipe.number, what, rank)
}

func (a *agreement) set(key string, value []byte) error {
	if err := a.config.Exchange.Set(key, value); err != nil {
		return fmt.Errorf("agree on the pipeline: %w", err)
	}
	return nil
}

func (a *agreement) get(what string, rank int) ([]byte, error) {
	value, err := a.awaitKey(a.key(what, rank), a.remaining(a.timeout, a.began), flight.Wait{
		Kind: uint8(op.ShareLookup), Peer: rank, Since: a.config.Device.Now(), Name: "pipeline_agree",
	})
	if err != nil {
		return nil, fmt.Errorf("agree on the pipeline with rank %d: %w", rank, err)
	}
	return value, nil
}

// partBytes is how much of a long value one key of the exchange holds.
const partBytes = 32 << 10

// setLong publishes a value of any length, in parts, the first of which begins
// with the length.
func (a *agreement) setLong(what string, value []byte) error {
	value = append(binary.LittleEndian.AppendUint64(nil, uint64(len(value))), value...)
	for part := 0; part == 0 || part*partBytes < len(value); part++ {
		key := a.key(fmt.Sprintf("%s/%d", what, part), a.config.Rank)
		if err := a.set(key, value[part*partBytes:min(len(value), (part+1)*partBytes)]); err != nil {
			return err
		}
	}
	return nil
}

// getLong waits for a value that a rank has published so.
func (a *agreement) getLong(what string, rank int) ([]byte, error) {
	value, err := a.get(what+"/0", rank)
	if err != nil {
		return nil, err
	}
	if len(value) < 8 || get64(value) > maxLongBytes {
		return nil, malformed(value, -1)
	}
	length := int(get64(value))
	value = slices.Clone(value[8:])
	for part := 1; len(value) < length; part++ {
		more, err := a.get(fmt.Sprintf("%s/%d", what, part), rank)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return nil, malformed(more, -1)
		}
		value = append(value, more...)
	}
	return value[:length], nil
}

// maxLongBytes is more than any rank has to publish.
const maxLongBytes = maxPipelineEntries * 256

// verdict is the first rank whose pipeline is not that of rank 0, -1 if there
// is none.
//
// Besides, ranks tell what the guests have raised the pipeline's slots to: runs
// begin beyond.
func (a *agreement) verdict() (odd int, err error) {
	raised, err := a.raised()
	if err != nil {
		return 0, err
	}
	if a.config.Rank != 0 {
		if err := a.set(a.key("pact", a.config.Rank), binary.LittleEndian.AppendUint64(a.pipe.pact(), raised)); err != nil {
			return 0, err
		}
		value, err := a.get("verdict", 0)
		if err != nil || len(value) != 16 {
			return 0, errors.Join(err, malformed(value, 16))
		}
		a.beginBeyond(get64(value[8:]))
		return int(int64(get64(value))), nil
	}
	mine := a.pipe.pact()
	odd = -1
	for rank := 1; rank < a.config.Size && odd < 0; rank++ {
		theirs, err := a.get("pact", rank)
		if err != nil {
			return 0, err
		}
		if len(theirs) != len(mine)+8 {
			return 0, malformed(theirs, len(mine)+8)
		}
		raised = max(raised, get64(theirs[len(mine):]))
		if string(theirs[:len(mine)]) != string(mine) {
			odd = rank
		}
	}
	a.beginBeyond(raised)
	verdict := binary.LittleEndian.AppendUint64(nil, uint64(int64(odd)))
	return odd, a.set(a.key("verdict", 0), binary.LittleEndian.AppendUint64(verdict, raised))
}

// raised is the highest value that a peer has raised a slot of the pipeline to.
func (a *agreement) raised() (most uint64, err error) {
	for peer := range a.config.Size {
		for slot := range uint32(pipelineSlots) {
			v, err := a.config.Device.SignalValue(peer, a.pipe.firstSlot+slot)
			if err != nil {
				return 0, err
			}
			most = max(most, v)
		}
	}
	return most, nil
}

// beginBeyond has runs begin beyond what slots hold already.
func (a *agreement) beginBeyond(raised uint64) {
	for slot := a.pipe.firstSlot; slot < a.pipe.firstSlot+pipelineSlots; slot++ {
		a.slotBases[slot] = max(a.slotBases[slot], raised)
	}
}

func malformed(value []byte, bytes int) error {
	if value == nil || len(value) == bytes {
		return nil
	}
	return refuse(abi.Failed, "what a rank says of its pipeline has %d bytes", len(value))
}

// difference is how the odd rank's pipeline differs from rank 0's: the two find
// it, all get the text.
func (a *agreement) difference(odd int) (string, error) {
	var err error
	switch a.config.Rank {
	case 0:
		err = a.compare(odd)
	case odd:
		err = a.disclose()
	}
	if err != nil {
		return "", err
	}
	text, err := a.get("difference", 0)
	return string(text), err
}

// disclose has the odd rank say what its entries are.
func (a *agreement) disclose() error {
	if err := a.setLong("hashes", a.pipe.entryHashes()); err != nil {
		return err
	}
	at, err := a.get("first", 0)
	if err != nil {
		return err
	}
	if len(at) != 8 {
		return malformed(at, 8)
	}
	return a.set(a.key("has", a.config.Rank), []byte(a.pipe.has(int(get64(at)))))
}

// compare has rank 0 find the first difference.
func (a *agreement) compare(odd int) error {
	theirs, err := a.get("pact", odd)
	if err != nil {
		return err
	}
	mine := a.pipe.pact()
	if len(theirs) != len(mine)+8 {
		return malformed(theirs, len(mine)+8)
	}
	hashes, err := a.getLong("hashes", odd)
	if err != nil {
		return err
	}
	at := firstEntry(a.pipe.entryHashes(), hashes) * a.pipe.group()
	if err := a.set(a.key("first", 0), binary.LittleEndian.AppendUint64(nil, uint64(at))); err != nil {
		return err
	}
	has, err := a.get("has", odd)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("rank 0 has %s; rank %d has %s", a.pipe.has(at), odd, has)
	if mineHas := a.pipe.has(at); mineHas == string(has) { // the entries are the same: it is something else
		text = "pipelines differ"
		for n, name := range pactWords {
			if x, y := get64(mine[8*n:]), get64(theirs[8*n:]); x != y {
				text = fmt.Sprintf("%s: rank 0 has %d, rank %d has %d", name, x, odd, y)
				break
			}
		}
	}
	return a.set(a.key("difference", 0), []byte(text))
}

// group is how many entries one of the compared hashes stands for.
func (p *pipe) group() int { return (len(p.entries) + pactEntriesMax - 1) / pactEntriesMax }

// entryHashes are the hashes of all entries, or of groups of them: first of the
// entries alone, then with the places of their buckets.
func (p *pipe) entryHashes() []byte {
	var b []byte
	group := p.group()
	for _, hash := range [...]func(int) uint64{p.plan.AloneHash, p.plan.EntryHash} {
		for from := 0; from < len(p.entries); from += group {
			h := uint64(0)
			for i := from; i < min(from+group, len(p.entries)); i++ {
				h = h*0x9e3779b97f4a7c15 + hash(i)
			}
			b = binary.LittleEndian.AppendUint64(b, h)
		}
	}
	return b
}

// firstEntry is the first entry, or group, that differs between two lists of
// [pipe.entryHashes]: in itself, or else in its place.
func firstEntry(mine, theirs []byte) int {
	n, m := len(mine)/16*8, len(theirs)/16*8
	at := firstDifference(mine[:n], theirs[:m])
	if n == m && at == n/8 {
		at = firstDifference(mine[n:], theirs[n:])
	}
	return at
}

// firstDifference is the first word that differs, or the end of the shorter.
func firstDifference(a, b []byte) int {
	n := min(len(a), len(b)) / 8
	for i := range n {
		if get64(a[8*i:]) != get64(b[8*i:]) {
			return i
		}
	}
	return n
}

// has describes an entry, for the text of a difference.
func (p *pipe) has(entry int) string {
	if entry >= len(p.entries) {
		return fmt.Sprintf("%d entries only", len(p.entries))
	}
	return p.plan.Describe(entry)
}
