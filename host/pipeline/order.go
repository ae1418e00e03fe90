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
	t := turns{plan: p, load: make([]load, p.Ranks), of: make([]turn, len(p.Channels))}
	waiting := make([]int32, 0, len(p.Channels))
	for c := range p.Channels {
		t.of[c] = p.turnOf(int32(c))
		for _, b := range p.Channels[c].Buckets {
			t.add(int32(c), p.Buckets[b].Bytes)
		}
		if len(p.Channels[c].Buckets) > 0 {
			waiting = append(waiting, int32(c))
		}
	}
	p.Order = make([]int32, 0, len(p.Buckets))
	again := 1 + t.rounds()*len(waiting)/sortedMax
	for round := int32(1); len(waiting) > 0; round++ {
		if (int(round)-1)%again == 0 {
			t.sort(waiting)
		}
		left := waiting[:0]
		for _, c := range waiting {
			if t.free(c, round) {
				t.take(c, round)
			}
			if t.of[c].next < len(p.Channels[c].Buckets) {
				left = append(left, c)
			}
		}
		waiting = left
	}
	p.place()
}

// sortedMax is how many channels are sorted in all the rounds together, about: if
// they were more, they are not sorted anew for each round.
const sortedMax = 1 << 21

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
	plan *Plan
	load []load // by rank
	of   []turn // by channel
}

// load is what a rank has left to do, and the last round that it sends and
// receives in.
type load struct {
	sends, receives    int64
	sentIn, receivedIn int32
}

// turn is what a channel has: who sends and who receives each of its buckets,
// and which is next.
type turn struct {
	senders, receivers []int32
	next               int
	urgency, second    int64
}

func (p *Plan) turnOf(c int32) turn {
	ch := &p.Channels[c]
	var t turn
	for _, rank := range ch.ranks() {
		role := ch.role(rank)
		if len(role.To) > 0 || role.AddTo.Rank >= 0 {
			t.senders = append(t.senders, rank)
		}
		if role.From.Rank >= 0 || role.AddFrom.Rank >= 0 {
			t.receivers = append(t.receivers, rank)
		}
	}
	return t
}

// ranks are those that have a part in a channel, each once.
func (ch *Channel) ranks() []int32 {
	all := append([]int32{ch.Source}, ch.Destinations...)
	all = append(all, ch.Parts...)
	slices.Sort(all)
	return slices.Compact(all)
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
func (t *turns) sort(channels []int32) {
	for _, c := range channels {
		sends, receives := int64(0), int64(0)
		for _, rank := range t.of[c].senders {
			sends = max(sends, t.load[rank].sends)
		}
		for _, rank := range t.of[c].receivers {
			receives = max(receives, t.load[rank].receives)
		}
		t.of[c].urgency, t.of[c].second = max(sends, receives), min(sends, receives)
	}
	slices.SortFunc(channels, func(a, b int32) int {
		x, y := &t.of[a], &t.of[b]
		return cmp.Or(cmp.Compare(y.urgency, x.urgency), cmp.Compare(y.second, x.second), cmp.Compare(t.plan.reach(a), t.plan.reach(b)), cmp.Compare(a, b))
	})
}

// reach is how far a channel goes.
func (p *Plan) reach(c int32) int {
	ch := &p.Channels[c]
	return (int(ch.Destinations[0]) - int(ch.Source) + p.Ranks) % p.Ranks
}

func (t *turns) free(c, round int32) bool {
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
