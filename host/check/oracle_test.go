package check

import (
	"fmt"
	"slices"
	"strings"
)

// The oracle goes through every order of a tiny schedule, one step of one guest
// or stream at a time, and knows no clocks: operations race if there is a state
// in which both could be under way. It shares the types of a schedule with the
// package, and nothing else.

// oracleState is a state in all its parts.
type oracleState struct {
	guest   []int             // by rank: actions that are done
	entered map[[2]int]bool   // rank and action: is in a barrier or collective
	left    map[[2]int]bool   // rank and action: a collective that is complete here
	head    map[[2]int]int    // rank and stream: operations that are complete
	next    map[[2]int]int    // rank and stream: operations that are begun
	slot    map[[3]int]uint64 // from, to, slot
	sends   map[[3]int][][2]int
	recvs   map[[3]int][][2]int // from, to, channel: rank and action, as they came
	done    map[[2]int]bool     // rank and action: records and messages
	public  map[string]bool
}

func (o *oracleState) clone() *oracleState {
	c := &oracleState{guest: slices.Clone(o.guest), entered: copyMap(o.entered), left: copyMap(o.left), head: copyMap(o.head), next: copyMap(o.next),
		slot: copyMap(o.slot), done: copyMap(o.done), public: copyMap(o.public), sends: map[[3]int][][2]int{}, recvs: map[[3]int][][2]int{}}
	for k, v := range o.sends {
		c.sends[k] = slices.Clone(v)
	}
	for k, v := range o.recvs {
		c.recvs[k] = slices.Clone(v)
	}
	return c
}

func copyMap[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func (o *oracleState) key() string {
	return fmt.Sprint(o.guest, o.entered, o.left, o.head, o.next, o.slot, o.sends, o.recvs, o.done, o.public) // maps are printed in order
}

// oracle is what goes through the states.
type oracle struct {
	s       *Schedule
	streams map[[2]int][]int // rank and stream: actions
	seen    map[string]bool
	most    int

	deadlock, mismatch, race bool
}

// ask gives what the oracle finds, and false if there are too many states.
func ask(s *Schedule, most int) (*oracle, bool) {
	o := &oracle{s: s, streams: map[[2]int][]int{}, seen: map[string]bool{}, most: most}
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Actions {
			if a := &s.Ranks[rank].Actions[i]; a.onStream() {
				key := [2]int{rank, a.Stream}
				o.streams[key] = append(o.streams[key], i)
			}
		}
	}
	start := (&oracleState{guest: make([]int, len(s.Ranks))}).clone()
	return o, o.visit(start)
}

func (o *oracle) action(at [2]int) *Action { return &o.s.Ranks[at[0]].Actions[at[1]] }

func (o *oracle) visit(st *oracleState) bool {
	key := st.key()
	if o.seen[key] {
		return true
	}
	o.seen[key] = true
	if len(o.seen) > o.most {
		return false
	}
	o.race = o.race || o.hasRace(st)
	wrong := o.hasMismatch(st)
	o.mismatch = o.mismatch || wrong
	nexts := o.successors(st)
	if len(nexts) == 0 && !wrong && !o.finished(st) {
		o.deadlock = true
	}
	for _, n := range nexts {
		if !o.visit(n) {
			return false
		}
	}
	return true
}

func (o *oracle) finished(st *oracleState) bool {
	for rank := range o.s.Ranks {
		if st.guest[rank] < len(o.s.Ranks[rank].Actions) {
			return false
		}
	}
	for key, actions := range o.streams {
		if st.head[key] < len(actions) {
			return false
		}
	}
	return true
}

func (o *oracle) successors(st *oracleState) []*oracleState {
	var out []*oracleState
	for rank := range o.s.Ranks {
		if i := st.guest[rank]; i < len(o.s.Ranks[rank].Actions) {
			if n := o.stepGuest(st, rank, i); n != nil {
				out = append(out, n)
			}
		}
	}
	for key, actions := range o.streams {
		if at := st.next[key]; at < len(actions) && actions[at] < st.guest[key[0]] {
			if n := o.stepStream(st, key, actions[at]); n != nil {
				out = append(out, n)
			}
		}
	}
	for ch, sends := range st.sends {
		for i := range min(len(sends), len(st.recvs[ch])) {
			send, recv := sends[i], st.recvs[ch][i]
			if !st.done[send] && o.action(send).Bytes == o.action(recv).Bytes {
				n := st.clone()
				n.done[send], n.done[recv] = true, true
				for key, actions := range o.streams { // pass complete messages
					for n.head[key] < n.next[key] && n.done[[2]int{key[0], actions[n.head[key]]}] {
						n.head[key]++
					}
				}
				out = append(out, n)
			}
		}
	}
	return out
}

func (o *oracle) stepGuest(st *oracleState, rank, i int) *oracleState {
	a, n := o.action([2]int{rank, i}), st.clone()
	n.guest[rank]++
	if a.onStream() {
		return n
	}
	switch a.Kind {
	case SyncStream:
		before := 0
		for _, at := range o.streams[[2]int{rank, a.Stream}] {
			if at < i {
				before++
			}
		}
		if st.head[[2]int{rank, a.Stream}] < before {
			return nil
		}
	case SyncEvent:
		if !o.recorded(st, rank, i) {
			return nil
		}
	case Barrier, LateBarrier:
		return o.barrier(st, n, rank, i)
	case Seen:
		if st.slot[[3]int{a.Peer, rank, int(a.Slot)}] < a.Value {
			return nil
		}
	case Publish:
		n.public[fmt.Sprint(rank, "/", a.Key)] = true
	case Lookup:
		if !st.public[fmt.Sprint(a.Peer, "/", a.Key)] {
			return nil
		}
	}
	return n
}

func (o *oracle) barrier(st, n *oracleState, rank, i int) *oracleState {
	at := [2]int{rank, i}
	if !st.entered[at] {
		n.entered[at] = true
		if o.action(at).Kind == Barrier {
			n.guest[rank]--
		}
		return n
	}
	number := o.count(rank, i)
	for other := range o.s.Ranks {
		entered := false
		for k := range o.s.Ranks[other].Actions {
			entered = entered || st.entered[[2]int{other, k}] && !o.action([2]int{other, k}).onStream() && o.count(other, k) == number
		}
		if !entered {
			return nil
		}
	}
	return n
}

// count is how many barriers a rank has called ahead of an action.
func (o *oracle) count(rank, i int) int {
	n := 0
	for _, a := range o.s.Ranks[rank].Actions[:i] {
		if a.Kind == Barrier || a.Kind == LateBarrier {
			n++
		}
	}
	return n
}

// recorded reports whether the last record ahead of an action is done.
func (o *oracle) recorded(st *oracleState, rank, i int) bool {
	for k := i - 1; k >= 0; k-- {
		if a := o.action([2]int{rank, k}); a.Kind == Record && a.Event == o.action([2]int{rank, i}).Event {
			return st.done[[2]int{rank, k}]
		}
	}
	return true
}

func (o *oracle) stepStream(st *oracleState, key [2]int, i int) *oracleState {
	at := [2]int{key[0], i}
	a, n := o.action(at), st.clone()
	n.next[key]++
	if a.isMessage() {
		if a.Kind == Send {
			ch := [3]int{key[0], a.Peer, int(a.Slot)}
			n.sends[ch] = append(n.sends[ch], at)
		} else {
			ch := [3]int{a.Peer, key[0], int(a.Slot)}
			n.recvs[ch] = append(n.recvs[ch], at)
		}
		return n
	}
	if st.head[key] < st.next[key] {
		return nil
	}
	n.head[key]++
	switch a.Kind {
	case Signal:
		slot := [3]int{key[0], a.Peer, int(a.Slot)}
		n.slot[slot] = max(n.slot[slot], a.Value)
	case Wait:
		if st.slot[[3]int{a.Peer, key[0], int(a.Slot)}] < a.Value {
			return nil
		}
	case Record:
		n.done[at] = true
	case WaitEvent:
		if !o.recorded(st, key[0], i) {
			return nil
		}
	case Collective:
		return o.collective(st, key, at)
	}
	return n
}

// calls lists the collectives of a rank.
func (o *oracle) calls(rank int) (calls [][2]int) {
	for i := range o.s.Ranks[rank].Actions {
		if o.s.Ranks[rank].Actions[i].Kind == Collective {
			calls = append(calls, [2]int{rank, i})
		}
	}
	return calls
}

func (o *oracle) mayEnter(st *oracleState, at [2]int) (number int, ok bool) {
	calls := o.calls(at[0])
	number = slices.Index(calls, at)
	return number, number == 0 || st.left[calls[number-1]]
}

func (o *oracle) collective(st *oracleState, key, at [2]int) *oracleState {
	number, ok := o.mayEnter(st, at)
	if !ok {
		return nil
	}
	n := st.clone()
	if !st.entered[at] {
		n.entered[at] = true
		return n
	}
	for rank := range o.s.Ranks {
		calls := o.calls(rank)
		if number >= len(calls) || !st.entered[calls[number]] {
			return nil
		}
		for other := range rank + 1 {
			if !o.agree(calls[number], o.calls(other)[number]) {
				return nil
			}
		}
	}
	n.left[at] = true
	n.next[key]++
	n.head[key]++
	return n
}

func (o *oracle) callOf(at [2]int) Call { return o.action(at).Calls[0] }

// agree reports whether two ranks, or one by itself, call the same, and send
// what is received.
func (o *oracle) agree(one, other [2]int) bool {
	a, b := o.callOf(one), o.callOf(other)
	mine, theirs := a.Counts, b.Counts
	a.Counts, b.Counts = nil, nil
	if a != b || mine == nil {
		return a == b
	}
	return mine.Sends[other[0]] == theirs.Recvs[one[0]] && theirs.Sends[one[0]] == mine.Recvs[other[0]]
}

func (o *oracle) hasMismatch(st *oracleState) bool {
	for ch, sends := range st.sends {
		for i := range min(len(sends), len(st.recvs[ch])) {
			if o.action(sends[i]).Bytes != o.action(st.recvs[ch][i]).Bytes {
				return true
			}
		}
	}
	for one := range o.s.Ranks {
		for other := range one + 1 {
			a, b := o.calls(one), o.calls(other)
			for i := range min(len(a), len(b)) {
				if st.entered[a[i]] && st.entered[b[i]] && !o.agree(a[i], b[i]) {
					return true
				}
			}
		}
	}
	return false
}

// under is something that could be under way.
type under struct {
	reads, writes []Range
}

func (o *oracle) hasRace(st *oracleState) bool {
	var all []under
	add := func(at [2]int) { all = append(all, under{o.action(at).Reads, o.action(at).Writes}) }
	for rank := range o.s.Ranks {
		if i := st.guest[rank]; i < len(o.s.Ranks[rank].Actions) {
			if a := o.action([2]int{rank, i}); !a.onStream() && a.Kind == Work {
				add([2]int{rank, i})
			}
		}
	}
	for key, actions := range o.streams {
		head := st.head[key]
		if head != st.next[key] || head == len(actions) || actions[head] >= st.guest[key[0]] {
			continue
		}
		at := [2]int{key[0], actions[head]}
		switch o.action(at).Kind {
		case Work:
			add(at)
		case Collective:
			if _, ok := o.mayEnter(st, at); ok {
				add(at)
			}
		}
	}
	for ch, sends := range st.sends {
		for i := range min(len(sends), len(st.recvs[ch])) {
			send, recv := sends[i], st.recvs[ch][i]
			if !st.done[send] && o.action(send).Bytes == o.action(recv).Bytes {
				all = append(all, under{o.action(send).Reads, o.action(recv).Writes})
			}
		}
	}
	for i := range all {
		for j := range i {
			if touching(all[i].writes, all[j].writes) || touching(all[i].writes, all[j].reads) || touching(all[i].reads, all[j].writes) {
				return true
			}
		}
	}
	return false
}

func touching(a, b []Range) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Owner == y.Owner && x.Allocation == y.Allocation && x.Off < y.Off+y.Bytes && y.Off < x.Off+x.Bytes {
				return true
			}
		}
	}
	return false
}

// describe is a schedule in lines, to look at one that fails.
func describe(s *Schedule) string {
	var b strings.Builder
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Actions {
			a := &s.Ranks[rank].Actions[i]
			fmt.Fprintf(&b, "rank %d, stream %d: kind %d %s %v %v\n", rank, a.Stream, a.Kind, a.Words(), a.Reads, a.Writes)
		}
	}
	return b.String()
}
