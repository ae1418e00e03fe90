package pipeline

import (
	"cmp"
	"slices"
)

// takeTurns sets the default order, which is one of rounds: in each, a rank sends
// at most one bucket and receives at most one, as far as there are any for it.
// So with room for a few buckets only, all ranks find that those that they wait
// for are next elsewhere, too. Ranks that have most left to do come first, and
// so no rank is left with many at the end. Rounds are a matching each, found
// greedily, as in list scheduling of open shops.
func (p *Plan) takeTurns() {
	t, most := newTurns(p), looksMax
	if len(t.waiting) > 1<<16 {
		most /= 4 // so many do not stay in caches, and each look takes longer
	}
	t.takeAll(most)
	p.place()
}

// looksMax bounds what the rounds of a plan cost, in ranks that are looked at,
// to a few seconds. A mesh of 64 ranks to 64 others needs two thirds of it for 200
// buckets of each pair.
const looksMax = 1 << 26

// sortedMax is how many channels are sorted in all the rounds together, about: if
// they were more, they are not sorted anew for each round.
const sortedMax = 1 << 21

// takeAll takes round after round, until nothing is left or so many ranks have
// been looked at. What is left then goes in the plainest order.
func (t *turns) takeAll(looksMax int) {
	again := 1 + t.rounds()*len(t.waiting)/sortedMax
	for round := int32(1); len(t.waiting) > 0 || len(t.local) > 0; round++ {
		if (int(round)-1)%again == 0 {
			t.sort()
		}
		if t.looks > looksMax {
			t.takeRest()
			return
		}
		t.takeRound(round, looksMax)
	}
}

// takeRound takes a matching. It ends as soon as all ranks that have anything to
// send do, or all that have anything to receive: the many channels of a rank
// that is everybody's source, or target, are not looked at for each of them.
func (t *turns) takeRound(round int32, looksMax int) {
	senders, receivers := t.sending, t.receiving
	scanned, emptied := 0, 0
	for ; scanned < len(t.waiting) && senders > 0 && receivers > 0 && t.looks <= looksMax; scanned++ {
		if !t.free(&t.waiting[scanned], round) {
			continue
		}
		c := t.waiting[scanned].channel
		senders, receivers = senders-len(t.of[c].senders), receivers-len(t.of[c].receivers)
		t.take(c, round)
		if !t.more(c) {
			emptied++
			t.leave(c)
		}
	}
	if emptied > 0 { // those that have more move up to the ones that were not looked at
		keep := scanned
		for i := scanned - 1; i >= 0; i-- {
			if t.more(t.waiting[i].channel) {
				keep--
				t.waiting[keep] = t.waiting[i]
			}
		}
		t.waiting = t.waiting[keep:]
	}
	local := t.local[:0]
	for _, c := range t.local {
		if t.take(c, round); t.more(c) {
			local = append(local, c)
		}
	}
	t.local = local
}

// takeRest gives what is left in turns: the next bucket of each channel, then the
// one after it; of the channels the first of each source, then the second.
func (t *turns) takeRest() {
	left := make([]int32, 0, len(t.waiting)+len(t.local))
	for i := range t.waiting {
		left = append(left, t.waiting[i].channel)
	}
	left = append(left, t.local...)
	nth, of := make([]int32, len(t.of)), make([]int32, len(t.load))
	for _, c := range left {
		source := t.plan.Channels[c].Source
		nth[c] = of[source]
		of[source]++
	}
	slices.SortStableFunc(left, func(a, b int32) int { return cmp.Compare(nth[a], nth[b]) })
	for len(left) > 0 {
		next := left[:0]
		for _, c := range left {
			if t.take(c, 0); t.more(c) {
				next = append(next, c)
			}
		}
		left = next
	}
	t.waiting, t.local = nil, nil
}

// rounds is how many there are at least: as many as a rank has buckets to send,
// or to receive.
func (t *turns) rounds() int {
	most, sends, receives := 0, make([]int, len(t.load)), make([]int, len(t.load))
	for c := range t.of {
		buckets := len(t.plan.Channels[c].Buckets)
		for _, rank := range t.of[c].senders {
			sends[rank] += buckets
			most = max(most, sends[rank])
		}
		for _, rank := range t.of[c].receivers {
			receives[rank] += buckets
			most = max(most, receives[rank])
		}
	}
	return most
}

// turns is what the rounds are made of.
type turns struct {
	plan    *Plan
	load    []load  // by rank
	of      []turn  // by channel
	waiting []head  // channels that have buckets left; the most urgent first
	local   []int32 // those of them that nobody sends in and nobody receives in, by number
	looks   int     // so many ranks have been looked at

	sending, receiving int // so many ranks have a channel that waits to send in, and to receive in
}

// head is a channel, and two of its ranks: most are passed over because of them,
// and one after the other is read.
type head struct{ channel, sender, receiver int32 }

// load is what a rank has left to do, in bytes and in channels, and the last
// round that it sends and receives in.
type load struct {
	sends, receives    int64
	outs, ins          int32
	sentIn, receivedIn int32
}

// turn is what a channel has: who sends and who receives each of its buckets,
// and which is next.
type turn struct {
	senders, receivers []int32
	next               int
	urgency, second    int64
}

func newTurns(p *Plan) *turns {
	t := &turns{plan: p, load: make([]load, p.Ranks), of: make([]turn, len(p.Channels))}
	p.Order = make([]int32, 0, len(p.Buckets))
	for c := range p.Channels {
		t.of[c] = p.Channels[c].turn()
		for _, b := range p.Channels[c].Buckets {
			t.add(int32(c), p.Buckets[b].Bytes)
		}
		switch {
		case !t.more(int32(c)):
		case len(t.of[c].senders) == 0:
			t.local = append(t.local, int32(c))
		default:
			t.waiting = append(t.waiting, head{int32(c), t.of[c].senders[0], t.of[c].receivers[0]})
			t.enter(int32(c))
		}
	}
	return t
}

// turn finds who sends and who receives: the parts along their chain, the whole
// from its source, or along its own. A rank counts once.
func (ch *Channel) turn() turn {
	var t turn
	pass := func(from, to int32) {
		t.senders, t.receivers = append(t.senders, from), append(t.receivers, to)
	}
	if len(ch.Parts) > 1 {
		last := int32(-1)
		for _, r := range ch.Parts {
			if r == ch.Source {
				continue
			}
			if last >= 0 {
				pass(last, r)
			}
			last = r
		}
		pass(last, ch.Source)
	}
	from := ch.Source
	for _, r := range ch.Destinations {
		if r == ch.Source {
			continue
		}
		pass(from, r)
		if ch.Transport == Chain {
			from = r
		}
	}
	return turn{senders: set(t.senders), receivers: set(t.receivers)}
}

// set sorts ranks and leaves each in once.
func set(ranks []int32) []int32 {
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// more reports whether a channel has a bucket left.
func (t *turns) more(c int32) bool { return t.of[c].next < len(t.plan.Channels[c].Buckets) }

// enter counts a channel that waits, at its ranks.
func (t *turns) enter(c int32) {
	for _, rank := range t.of[c].senders {
		if t.load[rank].outs++; t.load[rank].outs == 1 {
			t.sending++
		}
	}
	for _, rank := range t.of[c].receivers {
		if t.load[rank].ins++; t.load[rank].ins == 1 {
			t.receiving++
		}
	}
}

// leave counts one that waits no more.
func (t *turns) leave(c int32) {
	for _, rank := range t.of[c].senders {
		if t.load[rank].outs--; t.load[rank].outs == 0 {
			t.sending--
		}
	}
	for _, rank := range t.of[c].receivers {
		if t.load[rank].ins--; t.load[rank].ins == 0 {
			t.receiving--
		}
	}
}

func (t *turns) add(c int32, bytes int64) {
	for _, rank := range t.of[c].senders {
		t.load[rank].sends += bytes
	}
	for _, rank := range t.of[c].receivers {
		t.load[rank].receives += bytes
	}
}

// sort puts the channels first whose ranks have most left to do: by the end that
// has more, then by the other, so that a rank which has most of all takes turns.
// Between equals, those come first that go less far, so that neighbours begin
// with different ranks.
func (t *turns) sort() {
	for i := range t.waiting {
		c := t.waiting[i].channel
		sends, receives := int64(0), int64(0)
		for _, rank := range t.of[c].senders {
			sends = max(sends, t.load[rank].sends)
		}
		for _, rank := range t.of[c].receivers {
			receives = max(receives, t.load[rank].receives)
		}
		t.of[c].urgency, t.of[c].second = max(sends, receives), min(sends, receives)
		t.looks += len(t.of[c].senders) + len(t.of[c].receivers)
	}
	slices.SortFunc(t.waiting, func(a, b head) int {
		x, y := &t.of[a.channel], &t.of[b.channel]
		return cmp.Or(cmp.Compare(y.urgency, x.urgency), cmp.Compare(y.second, x.second), cmp.Compare(t.plan.reach(a.channel), t.plan.reach(b.channel)), cmp.Compare(a.channel, b.channel))
	})
}

// reach is how far a channel goes.
func (p *Plan) reach(c int32) int {
	ch := &p.Channels[c]
	return (int(ch.Destinations[0]) - int(ch.Source) + p.Ranks) % p.Ranks
}

// free reports whether no rank of a channel has anything in the round yet.
func (t *turns) free(h *head, round int32) bool {
	t.looks++
	if t.load[h.sender].sentIn == round || t.load[h.receiver].receivedIn == round {
		return false
	}
	c := h.channel
	t.looks += len(t.of[c].senders) + len(t.of[c].receivers)
	for _, rank := range t.of[c].senders {
		if t.load[rank].sentIn == round {
			return false
		}
	}
	for _, rank := range t.of[c].receivers {
		if t.load[rank].receivedIn == round {
			return false
		}
	}
	return true
}

func (t *turns) take(c, round int32) {
	turn := &t.of[c]
	b := t.plan.Channels[c].Buckets[turn.next]
	turn.next++
	t.plan.Order = append(t.plan.Order, b)
	t.add(c, -t.plan.Buckets[b].Bytes)
	for _, rank := range turn.senders {
		t.load[rank].sentIn = round
	}
	for _, rank := range turn.receivers {
		t.load[rank].receivedIn = round
	}
}
