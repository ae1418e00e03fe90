package ccruntest

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// post is what a send has put up for its receiver.
type post struct {
	data  []byte
	taken bool
	errno raw.Errno // what became of it
}

// message is a send, which has a post, or a receive that is not complete.
type message struct {
	*post
	from channel
	dst  []byte
}

func isMessage(kind uint32) bool { return kind == raw.KindSend || kind == raw.KindRecv }

// converse carries out o and the sends and receives behind it, those that are
// submitted meanwhile too, all at once: each rank may send before it receives,
// and none is done with a send that nobody has received.
func (s *stream) converse(o *pending) raw.Errno {
	first, errno := s.rank.open(o)
	if errno != raw.OK {
		return errno
	}
	group := []*message{first}
	var failed raw.Errno
	errno = s.rank.world.await(-1, func() bool {
		group, failed = s.advance(group)
		return failed != raw.OK || len(group) == 0
	})
	if failed != raw.OK {
		return failed
	}
	return errno
}

// advance adds what has been submitted to a group and takes every message of
// it as far as it can go; it returns those that are not complete.
func (s *stream) advance(group []*message) ([]*message, raw.Errno) {
	for len(s.queue) > 0 && isMessage(s.queue[0].Kind) {
		m, errno := s.rank.open(&s.queue[0])
		if errno != raw.OK {
			return group, errno
		}
		s.queue = s.queue[1:]
		group = append(group, m)
	}
	var rest []*message
	for _, m := range group {
		if m.post == nil {
			s.rank.receive(m)
		}
		if m.post == nil || !m.taken {
			rest = append(rest, m)
		} else if m.errno != raw.OK {
			return group, m.errno
		}
	}
	return rest, raw.OK
}

// open makes a message of an operation; a send's receiver can see it from then
// on.
func (r *rank) open(o *pending) (*message, raw.Errno) {
	if errno := r.check(o); errno != raw.OK {
		return nil, errno
	}
	w := r.world
	if o.Kind == raw.KindRecv {
		dst, _ := r.region(o.Dst, o.DstOffset, o.Bytes)
		return &message{from: channel{int(o.Peer), r.number, o.Slot}, dst: dst}, raw.OK
	}
	src, _ := r.region(o.Src, o.SrcOffset, o.Bytes)
	sent := &post{data: src}
	to := channel{r.number, int(o.Peer), o.Slot}
	w.posts[to] = append(w.posts[to], sent)
	w.changed.Broadcast()
	return &message{post: sent}, raw.OK
}

// receive takes the next post of the channel, if there is one.
func (r *rank) receive(m *message) {
	w := r.world
	posts := w.posts[m.from]
	if len(posts) == 0 {
		return
	}
	m.post, w.posts[m.from] = posts[0], posts[1:]
	m.taken = true
	if len(m.data) != len(m.dst) {
		m.errno = raw.ErrnoMismatch
	}
	copy(m.dst, m.data)
	w.changed.Broadcast()
}
