package module

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// sums are the digests of what a bucket sends and receives: computed on both
// sides, sent behind the bucket, and compared by who receives, hop by hop. They
// are exchanged in the order of the transfers, and a rank that has got something
// else than was sent sends no digest on: so nobody behind it takes the bucket for
// right either.
type sums struct {
	list   []sum
	next   int // the first of the list that is not under way, nor done
	buffer op.Buffer
}

// sum is the digest of what is sent to, or received from, one rank.
type sum struct {
	edge    pipeline.Edge
	comes   bool         // it is received
	results []*op.Result // of its pieces
}

const sumBytes = 16

func (s *sums) reset() { s.list, s.next = s.list[:0], 0 }

// sum has the device compute the digests of pieces, if they are to be compared.
func (m *movement) sum(edge pipeline.Edge, comes bool, pieces []piece) error {
	if !m.pipe.checksum {
		return nil
	}
	s := sum{edge: edge, comes: comes}
	for n, p := range pieces {
		result := new(op.Result)
		m.op = op.Op{Kind: op.Digest, Peer: -1, Dst: p.View, Bytes: p.bytes, Result: result}
		if err := m.submit(&m.op, stepSum, n); err != nil {
			return err
		}
		s.results = append(s.results, result)
	}
	m.lane.sums.list = append(m.lane.sums.list, s)
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

// exchangeSums goes on with the digests of a lane's bucket, up to the next one
// that has to come and be compared before others are sent; done tells that there
// are no more.
func (r *pipeRun) exchangeSums(l *lane) (done bool, err error) {
	s := &l.sums
	if s.next > 0 && s.list[s.next-1].comes {
		if err := r.compareSum(l, s.next-1); err != nil {
			return false, err
		}
	}
	if s.next == len(s.list) {
		return true, nil
	}
	m := r.movement(l)
	for comes := false; s.next < len(s.list) && !comes; s.next++ {
		comes = s.list[s.next].comes
		if err := m.exchangeSum(s.next); err != nil {
			return false, err
		}
	}
	return false, m.record()
}

// exchangeSum sends or receives one digest.
func (m *movement) exchangeSum(n int) error {
	s, at := &m.lane.sums.list[n], m.lane.sums.at(n)
	m.op = op.Op{Kind: op.Recv, Peer: s.edge.Rank, Slot: m.wire(s.edge), Dst: at, Bytes: sumBytes}
	if !s.comes {
		digest := s.digest()
		if err := m.config.Device.Write(at, digest[:]); err != nil {
			return err
		}
		m.op = op.Op{Kind: op.Send, Peer: s.edge.Rank, Slot: m.wire(s.edge), Src: at, Bytes: sumBytes}
	}
	return m.submitBare(&m.op)
}

// at is where a digest of the list is sent from, or comes to.
func (s *sums) at(n int) op.View { return op.View{Buf: s.buffer, Off: int64(n) * sumBytes} }

// compareSum compares what came with what was sent. A difference counts as one
// wrong element, and is noted: the run's exit code says that verification failed.
func (r *pipeRun) compareSum(l *lane, n int) error {
	s, bytes := &l.sums.list[n], r.pipe.tasks[l.task].Bytes
	var theirs [sumBytes]byte
	if err := r.config.Device.Read(theirs[:], l.sums.at(n)); err != nil {
		return err
	}
	if mine := s.digest(); mine != theirs {
		r.config.Recorder.CountVerified(bytes, 1)
		return fmt.Errorf("%w: what came from rank %d has another digest", errCorrupt, s.edge.Rank)
	}
	r.config.Recorder.CountVerified(bytes, 0)
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
