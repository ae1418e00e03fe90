package main

import (
	"encoding/binary"
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// fill writes this rank's parts of all tensors.
func (j *job) fill() error {
	real, err := holdsData(j.source.buffer)
	if err != nil || !real {
		return err
	}
	s := j.site
	stream, rank := s.streams[0], s.world.Rank()
	stream.Hold()
	for i := range j.plan.Moves {
		m := &j.plan.Moves[i]
		box, ok := m.Source.Local(m.Tensor.Shape, rank)
		if !ok {
			continue
		}
		dtype, size := patternType(m), m.Tensor.Dtype.Bytes()
		_, mine, _ := parts(m.Source, rank)
		for r := range runs(m.Tensor.Shape, box) {
			place := j.source.buffer.At(j.source.offsets[i]+r.local*size, r.count*size)
			stream.FillFrom(place, dtype, seed(s.world.Seed(), i, mine), r.global*size)
		}
	}
	return stream.Sync()
}

// patternType is bytes, or numbers where parts are to be added up.
func patternType(m *reshard.Move) ccrun.Dtype {
	if count, _, _ := parts(m.Source, 0); count > 1 {
		return m.Tensor.Dtype
	}
	return ccrun.U8
}

// spoil writes what is not wanted to where tensors are to arrive, so that what
// is found there later has come in this iteration.
func (j *job) spoil(iteration int) error {
	real, err := holdsData(j.target.buffer)
	if err != nil || !real {
		return err
	}
	j.site.streams[0].Fill(j.target.buffer.All(), ccrun.U8, ^seed(j.site.world.Seed(), iteration, 0))
	return j.site.streams[0].Sync()
}

// holdsData reports whether a buffer has bytes: on a simulated machine it may
// have a size only, and then reads as zeros whatever is written.
func holdsData(b *ccrun.Buffer) (bool, error) {
	var before, probe, after [1]byte
	if b.Bytes() == 0 {
		return true, nil
	}
	if err := b.Read(before[:], 0); err != nil {
		return false, err
	}
	probe[0] = before[0] ^ 0xff
	if err := b.Write(probe[:], 0); err != nil {
		return false, err
	}
	if err := b.Read(after[:], 0); err != nil {
		return false, err
	}
	return after == probe, b.Write(before[:], 0)
}

// check compares what has arrived with what was sent, every byte of it.
func (j *job) check(counted *counts) error {
	real, err := holdsData(j.target.buffer)
	if err != nil {
		return err
	}
	for i := range j.plan.Moves {
		m := &j.plan.Moves[i]
		box, ok := m.Target.Local(m.Tensor.Shape, j.site.world.Rank())
		switch {
		case !ok:
		case !real:
			counted.phantom += box.Elements() * m.Tensor.Dtype.Bytes()
		default:
			if err := j.checkTensor(i, m, box, counted); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *job) checkTensor(i int, m *reshard.Move, box reshard.Box, counted *counts) error {
	s := j.site
	count, _, red := parts(m.Source, 0)
	seeds := make([]uint64, count)
	for part := range seeds {
		seeds[part] = seed(s.world.Seed(), i, part)
	}
	dtype, size := patternType(m), m.Tensor.Dtype.Bytes()
	wrong := int64(0)
	for r := range runs(m.Tensor.Shape, box) {
		place := j.target.buffer.At(j.target.offsets[i]+r.local*size, r.count*size)
		var found ccrun.Verification
		var err error
		if count > 1 {
			found, err = s.streams[0].VerifyReduced(place, dtype, red, seeds, r.global*size)
		} else {
			found, err = s.streams[0].Verify(place, dtype, seeds[0], r.global*size)
		}
		if err != nil {
			return err
		}
		if found.Mismatches > 0 && wrong == 0 {
			s.tellWrong(i, m, r.global+found.FirstBad/size)
		}
		counted.verified += place.Bytes
		wrong += int64(found.Mismatches)
	}
	counted.bad += wrong
	return nil
}

// wrongMax is how many wrong tensors a rank tells of one by one.
const wrongMax = 3

// tellWrong says that a tensor is not what it should be, the first few times.
func (s *site) tellWrong(i int, m *reshard.Move, element int64) {
	if s.wrong++; s.wrong <= wrongMax {
		fmt.Fprintf(s.errors, "reshard: rank %d: tensor %d (%s) is wrong, first at element %d\n", s.world.Rank(), i, m.Tensor, element)
	}
}

// countWrong says how many more there were.
func (s *site) countWrong() {
	if s.wrong > wrongMax {
		fmt.Fprintf(s.errors, "reshard: rank %d: and %d more times a tensor was wrong\n", s.world.Rank(), s.wrong-wrongMax)
	}
	s.wrong = 0
}

// digest shows one digest of what has arrived on all ranks, the same on each,
// if all of it is there.
func (j *job) digest() error {
	s := j.site
	own := make([]uint64, 3)
	real, err := holdsData(j.target.buffer)
	if err != nil {
		return err
	}
	if real {
		digest, err := s.streams[0].Digest(j.target.buffer.All(), "")
		if err != nil {
			return err
		}
		own = []uint64{1, digest[0], digest[1]}
	}
	all, err := s.show(own)
	if err != nil {
		return err
	}
	data := make([]byte, 0, 16*len(all))
	for _, words := range all {
		if words[0] == 0 {
			return nil
		}
		data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, words[1]), words[2])
	}
	if err := s.board.Write(data, 0); err != nil {
		return err
	}
	_, err = s.streams[0].Digest(s.board.At(0, int64(len(data))), "out")
	return err
}
