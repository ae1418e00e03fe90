package module

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// sums are the digests of what a bucket sends and receives: computed on both
// sides, sent behind the bucket, and compared by who receives, hop by hop.
type sums struct {
	out, in []sum
	sent    bool // the digests themselves
	buffer  op.Buffer
}

// sum is the digest of what is sent to, or received from, one rank.
type sum struct {
	edge    pipeline.Edge
	results []*op.Result // of its pieces
}

const sumBytes = 16

func (s *sums) reset() { s.out, s.in, s.sent = s.out[:0], s.in[:0], false }

// sum has the device compute the digests of pieces, if they are to be compared.
func (m *movement) sum(list *[]sum, edge pipeline.Edge, pieces []piece) error {
	if !m.pipe.checksum {
		return nil
	}
	s := sum{edge: edge}
	for n, p := range pieces {
		result := new(op.Result)
		m.op = op.Op{Kind: op.Digest, Peer: -1, Dst: p.View, Bytes: p.bytes, Result: result}
		if err := m.submit(&m.op, stepSum, n); err != nil {
			return err
		}
		s.results = append(s.results, result)
	}
	*list = append(*list, s)
	return nil
}

// digest is one digest of all pieces.
func (s *sum) digest() (b [sumBytes]byte) {
	const odd = 0x9e3779b97f4a7c15
	var low, high uint64
	for _, r := range s.results {
		low, high = low*odd+r.Digest[0], high*odd+r.Digest[1]
	}
	put64(b[:], low)
	put64(b[8:], high)
	return b
}

// makeSums gives lanes the memory that digests travel from and to.
func (r *pipeRun) makeSums() error {
	if !r.pipe.checksum {
		return nil
	}
	edges := 3 // AddFrom, AddTo, From
	for i := range r.pipe.tasks {
		edges = max(edges, 3+len(r.pipe.tasks[i].To))
	}
	for i := range r.lanes {
		s := &r.lanes[i].sums
		if s.buffer != nil {
			continue
		}
		b, err := r.config.Device.Alloc(int64(edges) * sumBytes)
		if err != nil {
			return fmt.Errorf("memory for digests: %w", err)
		}
		s.buffer = b
	}
	return nil
}

// exchangeSums sends and receives the digests of a lane's bucket.
func (r *pipeRun) exchangeSums(l *lane) error {
	l.sums.sent = true
	m, at := r.movement(l), int64(0)
	for n := range l.sums.out {
		s := &l.sums.out[n]
		digest := s.digest()
		v := op.View{Buf: l.sums.buffer, Off: at}
		if err := r.config.Device.Write(v, digest[:]); err != nil {
			return err
		}
		m.op = op.Op{Kind: op.Send, Peer: s.edge.Rank, Slot: m.wire(s.edge), Src: v, Bytes: sumBytes}
		if err := m.submit(&m.op, stepSum, n); err != nil {
			return err
		}
		at += sumBytes
	}
	for n := range l.sums.in {
		s := &l.sums.in[n]
		m.op = op.Op{Kind: op.Recv, Peer: s.edge.Rank, Slot: m.wire(s.edge), Dst: op.View{Buf: l.sums.buffer, Off: at}, Bytes: sumBytes}
		if err := m.submit(&m.op, stepSum, n); err != nil {
			return err
		}
		at += sumBytes
	}
	return m.record()
}

// compareSums compares what came with what was sent. A difference counts as one
// wrong element, and is noted: the run's exit code says that verification failed.
func (r *pipeRun) compareSums(l *lane) error {
	at := int64(len(l.sums.out)) * sumBytes
	bytes := r.pipe.tasks[l.task].Bytes
	for n := range l.sums.in {
		s := &l.sums.in[n]
		var theirs [sumBytes]byte
		if err := r.config.Device.Read(theirs[:], op.View{Buf: l.sums.buffer, Off: at}); err != nil {
			return err
		}
		if mine := s.digest(); mine != theirs {
			r.config.Recorder.CountVerified(bytes, 1)
			return fmt.Errorf("%w: what came from rank %d has another digest", errCorrupt, s.edge.Rank)
		}
		r.config.Recorder.CountVerified(bytes, 0)
		at += sumBytes
	}
	return nil
}

var errCorrupt = errors.New("bytes are not what was sent")

// dropSums gives the memory of digests back.
func (r *pipeRun) dropSums(d device.Device) error {
	for i := range r.lanes {
		s := &r.lanes[i].sums
		if s.buffer == nil {
			continue
		}
		if err := d.Free(s.buffer); err != nil {
			return err
		}
		s.buffer = nil
	}
	return nil
}
