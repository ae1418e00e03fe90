package ccruntest

import (
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// comm is a communicator as one of its ranks sees it.
type comm struct {
	name   string // the same on all its ranks
	rank   int
	ranks  []int // of the world
	group  uint32
	calls  int // submitted so far
	splits int
}

// vote is what a rank asks of a split; nil has not asked yet.
type vote struct{ color, key int32 }

func (r *rank) addComm(c *comm) uint64 {
	handle := r.handle()
	r.comms[handle] = c
	return handle
}

func (r *rank) CommWorld(_ int64, handle *uint64) raw.Errno {
	defer r.lock()()
	if r.worldComm == 0 {
		all := make([]int, len(r.world.ranks))
		for i := range all {
			all[i] = i
		}
		r.worldComm = r.addComm(&comm{name: "world", rank: r.number, ranks: all})
	}
	*handle = r.worldComm
	return raw.OK
}

func (r *rank) CommSplit(parent uint64, color, key int32, timeout int64, handle *uint64) raw.Errno {
	defer r.lock()()
	p, errno := find(r, r.comms, parent)
	if errno != raw.OK {
		return errno
	}
	w, name := r.world, fmt.Sprintf("%s/%d", p.name, p.splits)
	votes := w.votes[name]
	if votes == nil {
		votes = make([]*vote, len(p.ranks))
		w.votes[name] = votes
	}
	votes[p.rank] = &vote{color, key}
	w.changed.Broadcast()
	if errno := w.await(time.Duration(timeout), func() bool { return !slices.Contains(votes, nil) }); errno != raw.OK {
		return r.fail(errno, "split of "+p.name)
	}
	p.splits++
	*handle = 0
	if color >= 0 {
		*handle = r.addComm(r.part(p, fmt.Sprintf("%s:%d", name, color), votes))
	}
	return raw.OK
}

// part is the communicator of those that vote as this rank does.
func (r *rank) part(p *comm, name string, votes []*vote) *comm {
	mine := votes[p.rank]
	var members []int // by rank of p
	for rank, v := range votes {
		if v.color == mine.color {
			members = append(members, rank)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return int(votes[a].key) - int(votes[b].key) })
	groups := r.world.groups
	if groups[name] == 0 {
		groups[name] = uint32(len(groups) + 1)
	}
	c := &comm{name: name, rank: slices.Index(members, p.rank), group: groups[name]}
	for _, rank := range members {
		c.ranks = append(c.ranks, p.ranks[rank])
	}
	return c
}

func (r *rank) CommFree(handle uint64) raw.Errno {
	defer r.lock()()
	_, errno := find(r, r.comms, handle)
	delete(r.comms, handle)
	return errno
}

func (r *rank) CommInfo(handle uint64, info *raw.Comm) raw.Errno {
	defer r.lock()()
	c, errno := find(r, r.comms, handle)
	if errno == raw.OK {
		*info = raw.Comm{Rank: uint32(c.rank), Size: uint32(len(c.ranks)), Group: c.group}
	}
	return errno
}

func (r *rank) CommWorldRank(handle uint64, number uint32, world *uint32) raw.Errno {
	defer r.lock()()
	c, errno := find(r, r.comms, handle)
	switch {
	case errno != raw.OK:
		return errno
	case int(number) >= len(c.ranks):
		return r.fail(raw.ErrnoNoRank, "no such rank")
	}
	*world = uint32(c.ranks[number])
	return raw.OK
}
