package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/oracle"
)

// soak is one rank's side. What is given back and made anew is its sites.
type soak struct {
	options
	world       *ccrun.World
	whole       *ccrun.Comm
	stream      *ccrun.Stream // for what ranks agree on
	word        *ccrun.Buffer // likewise, one element for each rank
	collectives []oracle.Collective
	sites       []*site
	end         time.Duration // on rank 0
	calls       uint64
	drawn       uint64 // hash of all calls
}

func open(world *ccrun.World, o options) (*soak, error) {
	s := &soak{options: o, world: world, collectives: oracle.Collectives()}
	now, err := world.Now()
	if err != nil {
		return nil, err
	}
	s.end = now + o.duration
	if s.whole, err = world.Comm(); err != nil {
		return nil, err
	}
	if s.stream, err = world.NewStream(); err != nil {
		return nil, err
	}
	if s.word, err = world.Alloc(8 * int64(world.Size())); err != nil {
		return nil, err
	}
	return s, s.openSites()
}

// checkEvery is how many rounds there are between two looks at the time.
const checkEvery = 16

// goesOn reports whether there is one more round, as rank 0 sees it.
func (s *soak) goesOn(round int) (bool, error) {
	if s.rounds > 0 {
		return round < s.from+s.rounds, nil
	}
	if round%checkEvery != 0 {
		return true, nil
	}
	now, err := s.world.Now()
	if err != nil {
		return false, err
	}
	var word [8]byte
	if now < s.end {
		word[0] = 1
	}
	if err := s.word.Write(word[:], 0); err != nil {
		return false, err
	}
	s.whole.Options = ccrun.CallOptions{}
	s.stream.Broadcast(s.whole, ccrun.U8, 0, s.word.At(0, 8), ccrun.Region{})
	if err := s.stream.Sync(); err != nil {
		return false, err
	}
	err = s.word.Read(word[:], 0)
	return word[0] == 1, err
}

// note adds a call to what has been drawn.
func (s *soak) note(call *oracle.Call) {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, s.drawn)
	io.WriteString(h, call.String())
	s.drawn = h.Sum64()
	s.calls++
}

// close reports the hashes of what all ranks have drawn, so that a replay can
// be told from another run.
func (s *soak) close(out io.Writer, round int) error {
	me := s.word.At(8*int64(s.world.Rank()), 8)
	if err := s.word.Write(binary.LittleEndian.AppendUint64(nil, s.drawn), me.Offset); err != nil {
		return err
	}
	s.whole.Options = ccrun.CallOptions{}
	s.stream.AllGather(s.whole, ccrun.I64, s.word.All(), ccrun.Region{})
	digest, err := s.stream.Digest(s.word.All(), "drawn")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "soak: %d calls of rank 0 in %d rounds, drawn %016x%016x\n", s.calls, round-s.from, digest[0], digest[1])
	return errors.Join(s.closeSites(), s.stream.Close(), s.word.Free(), s.whole.Free())
}
