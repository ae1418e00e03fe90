package logged

import (
	"slices"

	"github.com/ccrun/ccrun/host/check"
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// submitted reads an operation of a stream.
func (r *reader) submitted(verb string) error {
	a := check.Action{Name: verb, Stream: r.stream()}
	switch verb {
	case "copy", "put", "get":
		to := r.view()
		r.skip("<-")
		from := r.view()
		a.Bytes = r.int64()
		a.Writes, a.Reads = part(to, a.Bytes), part(from, a.Bytes)
	case "copy_box", "get_box":
		r.box(&a)
	case "fill":
		to := r.view()
		a.Bytes = r.int64()
		a.Writes = part(to, a.Bytes)
	case "verify", "digest":
		from := r.view()
		a.Bytes = r.int64()
		a.Reads = part(from, a.Bytes)
	case "signal":
		a.Kind = check.Signal
		a = r.slot(a)
	case "wait":
		a.Kind = check.Wait
		a = r.slot(a)
	case "send", "recv":
		r.message(&a, verb)
	case "reduce":
		r.reduce(&a)
	case "gemm":
		r.gemm(&a)
	case "event_record":
		a.Kind, a.Event = check.Record, r.events[r.next()]
	case "event_wait":
		a.Kind, a.Event = check.WaitEvent, r.events[r.next()]
	case "call":
		a.Kind = check.Collective
		a.Comm = r.names[r.next()]
		r.call(&a)
	default:
		r.fail("%s: not an operation that can be checked", verb)
	}
	r.add(a)
	return nil
}

// slot reads which slot of a pair of ranks, and a value.
func (r *reader) slot(a check.Action) check.Action {
	a.Peer = r.peer()
	r.skip("slot")
	a.Slot = uint32(r.uint64())
	if a.Kind == check.Signal {
		r.skip("=")
	} else {
		r.skip(">=")
	}
	a.Value = r.uint64()
	return a
}

func (r *reader) message(a *check.Action, verb string) {
	a.Peer = r.peer()
	v := r.view()
	a.Bytes = r.int64()
	r.skip("channel")
	a.Slot = uint32(r.uint64())
	if a.Kind = check.Send; verb == "recv" {
		a.Kind = check.Recv
		a.Writes = part(v, a.Bytes)
	} else {
		a.Reads = part(v, a.Bytes)
	}
}

func (r *reader) reduce(a *check.Action) {
	to := r.view()
	r.skip("<-")
	sources := commas(r.next())
	a.Bytes = r.int64()
	a.Writes = part(to, a.Bytes)
	for _, word := range sources {
		a.Reads = append(a.Reads, part(r.place(word), a.Bytes)...)
	}
}

func (r *reader) gemm(a *check.Action) {
	c := r.view()
	r.skip("<-")
	left, right := r.view(), r.view()
	size := int64(dtypeNamed(r.next()).Size())
	m, n, k := r.int64(), r.int64(), r.int64()
	if m > 1<<20 || n > 1<<20 || k > 1<<20 {
		r.fail("matrices larger than can be checked")
		return
	}
	a.Bytes = m * n * size
	a.Writes = part(c, a.Bytes)
	a.Reads = append(part(left, m*k*size), part(right, k*n*size)...)
	if len(r.words) > 0 && r.words[0] == "add" {
		a.Reads = append(a.Reads, part(c, a.Bytes)...)
	}
}

// grouped reads a call of the same operation as the one before.
func (r *reader) grouped() error {
	if len(r.actions) == 0 || r.actions[len(r.actions)-1].Kind != check.Collective {
		r.fail("and: not behind a call")
		return nil
	}
	r.call(&r.actions[len(r.actions)-1])
	return nil
}

// call reads what a rank calls, and adds it to its operation.
func (r *reader) call(a *check.Action) {
	collective, ok := collectiveNamed(r.next())
	for !ok && len(r.words) > 0 { // its place in the field's terms
		collective, ok = collectiveNamed(r.next())
	}
	c := check.Call{Collective: collective, Type: dtypeNamed(r.next()), Red: redOpNamed(r.next())}
	r.skip("root")
	c.Root = int(r.int64())
	r.skip("count")
	c.Count = r.int64()
	r.skip("in")
	in := r.view()
	r.skip("out")
	out := r.view()
	members, known := r.schedule.Comms[a.Comm]
	if known && c.Collective == op.AllToAllV {
		c.Counts = r.parts(a, c, in, out, len(members))
	}
	a.Calls = append(a.Calls, c)
	if !known || c.Collective == op.AllToAllV {
		return
	}
	shape := coll.Shape{Collective: c.Collective, Type: c.Type, Ranks: len(members), Root: c.Root, Count: min(c.Count, 1<<40)}
	rank, ok := r.comms[a.Comm].memberOf[r.rank]
	if !ok {
		rank = -1
	}
	a.Reads = append(a.Reads, part(in, shape.InBytes(rank))...)
	a.Writes = append(a.Writes, part(out, shape.OutBytes(rank))...)
	a.Bytes += shape.Bytes()
}

// parts reads how much of an exchange goes to and comes from each rank, and gives
// the counts, nil if there are none.
func (r *reader) parts(a *check.Action, c check.Call, in, out check.Range, size int) *check.Counts {
	at := slices.Index(r.words, "parts")
	if at < 0 || at+1 == len(r.words) {
		return nil
	}
	var numbers []int64
	for _, word := range commas(r.words[at+1]) {
		numbers = append(numbers, int64(r.parse(word)&(1<<50-1)))
	}
	if len(numbers) != 4*size {
		r.fail("%d parts, not four for each of %d ranks", len(numbers), size)
		return nil
	}
	element := int64(c.Type.Size())
	for peer := range size {
		a.Reads = append(a.Reads, from(in, numbers[size+peer]*element, numbers[peer]*element)...)
		a.Writes = append(a.Writes, from(out, numbers[3*size+peer]*element, numbers[2*size+peer]*element)...)
		a.Bytes += numbers[peer] * element
	}
	return &check.Counts{Sends: numbers[:size], Recvs: numbers[2*size : 3*size]}
}

// from is bytes of a view from an offset on.
func from(v check.Range, off, bytes int64) []check.Range {
	v.Off += off
	v.Bytes -= off
	return part(v, bytes)
}

func collectiveNamed(name string) (op.CollectiveOp, bool) {
	for c := op.CollectiveOp(0); c.Valid(); c++ {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

func dtypeNamed(name string) op.Dtype {
	t := op.Dtype(0)
	for ; t.Valid() && t.String() != name; t++ {
	}
	return t
}

func redOpNamed(name string) op.RedOp {
	red := op.RedOp(0)
	for ; red.Valid() && red.String() != name; red++ {
	}
	return red
}
