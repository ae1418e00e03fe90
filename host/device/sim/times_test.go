package sim_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/op"
)

// times gives each rank's time, in nanoseconds, when its streams are done. A
// program has lines "RANK[.STREAM] OPERATION ARGUMENTS"; a transfer's are the
// peer and the bytes, a signal's and a wait's the peer and the value, those of a
// reduce the bytes and the ranks that it reads. All can be worked out in the head
// from the numbers of [tiny].
var times = []struct {
	name, set string
	ranks     int
	program   string
	want      string
}{
	// A copy is launched in 2 µs; 1 MB takes 1 ms.
	{"put", "", 2, "0 put 1 1000000", "1002000 0"},
	{"get", "", 2, "0 get 1 1000000", "1002000 0"},
	{"no bytes", "", 2, "0 put 1 0", "2000 0"},
	{"two puts", "", 2, "0 put 1 1000000; 0 put 1 500000", "1504000 0"},
	// 5 µs more on the way to another node.
	{"put to another node", "", 5, "0 put 4 1000000", "1007000 0 0 0 0"},
	{"put past a leaf", "tier.leaf.nodes=4 tier.leaf.latency=3us", 5, "0 put 4 1000000", "1010000 0 0 0 0"},
	{"put past leaves and spine", "tier.leaf.nodes=1 tier.leaf.latency=3us tier.spine.latency=4us", 5, "0 put 4 1000000", "1014000 0 0 0 0"},
	// 2 MB over 10 GB/s.
	{"local copy", "", 1, "0 copy 1000000", "202000"},
	{"two local copies", "", 1, "0 copy 1000000; 0.2 copy 1000000", "402000"},
	{"fill", "", 1, "0 fill 1000000", "101000"},
	// Ports: 1 GB/s out of rank 0, and into rank 3.
	{"a port shared", "", 3, "0.1 put 1 1000000; 0.2 put 2 1000000", "2002000 0 0"},
	{"both ways", "", 2, "0 put 1 1000000; 1 put 0 1000000", "1002000 1002000"},
	{"a port shared for a time", "", 4, "0 put 3 1000000; 1 put 3 2000000", "2002000 3002000 0 0"},
	{"a port shared later", "", 3, "0.1 put 1 1000000; 0.2 copy 1000000; 0.2 put 2 1000000", "2002000 0 0"},
	{"incast", "", 4, "0 put 3 1000000; 1 put 3 1000000; 2 put 3 1000000", "3002000 3002000 3002000 0"},
	{"incast over the network", "", 8, "0 put 4 1000000; 1 put 4 1000000; 2 put 4 1000000", "3007000 3007000 3007000 0 0 0 0 0"},
	{"two ranks share a NIC", "node.nics=2", 8, "0 put 4 1000000; 1 put 5 1000000", "1007000 1007000 0 0 0 0 0 0"},
	{"four ranks to as many share two NICs", "node.nics=2 link.nic.bandwidth=0.5GB/s", 8, "0 put 4 1000000; 1 put 5 1000000", "2007000 2007000 0 0 0 0 0 0"},
	// One copy engine: the second put begins when the first is over.
	{"one engine", "launch.engines=1", 3, "0.1 put 1 1000000; 0.2 put 2 1000000", "2004000 0 0"},
	{"two engines", "launch.engines=2", 4, "0.1 put 1 1000000; 0.2 put 2 1000000; 0.3 put 3 1000000", "3004000 0 0 0"},
	{"an engine is for peers", "launch.engines=1", 2, "0.1 put 1 1000000; 0.2 copy 1000000", "1002000 0"},
	// A flag takes 1 µs to a peer, 5 to another node.
	{"signal", "", 2, "0 signal 1 1; 1 wait 0 1", "0 1000"},
	{"signal to another node", "", 5, "0 signal 4 1; 4 wait 0 1", "0 0 0 0 5000"},
	{"signal to itself", "", 1, "0 signal 0 1; 0 wait 0 1", "0"},
	{"ping-pong", "", 2, "0 signal 1 1; 0 wait 1 1; 0 signal 1 2; 0 wait 1 2; 1 wait 0 1; 1 signal 0 1; 1 wait 0 2; 1 signal 0 2", "4000 3000"},
	{"ping-pong, flags written in 0.5 µs", "launch.signal=0.5us", 2, "0 signal 1 1; 0 wait 1 1; 1 wait 0 1; 1 signal 0 1", "3000 2000"},
	{"put and signal", "", 2, "0 put 1 1000000; 0 signal 1 1; 1 wait 0 1; 1 put 0 1000", "1002000 1006000"},
	// A kernel is launched in 1 µs; two sources and a result pass over memory.
	{"reduce", "", 1, "0 reduce 1000000 0 0", "301000"},
	{"reduce a peer's", "", 2, "0 reduce 1000000 0 1", "1001000 0"},
	{"reduce two peers'", "", 3, "0 reduce 1000000 1 2", "2001000 0 0"},
	{"reduce a peer's, kernels half as fast", "link.nvlink.kernel=0.5GB/s", 2, "0 reduce 1000000 0 1", "2001000 0"},
	{"reduce a peer's of another node", "", 5, "0 reduce 1000000 0 4", "1006000 0 0 0 0"},
	{"reduce from slow memory", "memory.bandwidth=1GB/s", 2, "0 reduce 1000000 0 1", "2001000 0"},
	// 2 Gflop at 1 Tflop/s; 4,008,000 bytes at 10 GB/s.
	// Copies of boxes: as of runs of bytes, 2 µs and two passes over memory at
	// 10 GB/s, but if rows are short.
	{"copy of as many bytes", "", 1, "0 copy 1000000", "202000"},
	{"box", "", 1, "0 box 10 100 1000 8", "202000"},
	{"box of short rows", "memory.row=500B", 1, "0 box 10 1000 100 8", "1002000"},
	{"box of long rows", "memory.row=500B", 1, "0 box 10 200 500 8", "202000"},
	{"box of rows without gaps", "memory.row=500B", 1, "0 box 1 10000 100 0", "202000"},
	{"box of planes without gaps in rows", "memory.row=500B", 1, "0 box 10000 1 100 8", "1002000"},
	{"empty box", "memory.row=500B", 1, "0 box 10 0 100 8", "2000"},
	// From a peer: as a get, 1 GB/s, unless its memory is slower than that.
	{"box of a peer's", "", 2, "0 getbox 1 10 100 1000 8", "1002000 0"},
	{"box of a peer's, of short rows", "memory.row=500B", 2, "0 getbox 1 10 1000 100 8", "1002000 0"},
	{"box of a peer's, of very short rows", "memory.row=2000B", 2, "0 getbox 1 10 1000 100 8", "2002000 0"},
	{"box of a peer's, of rows without gaps", "memory.row=2000B", 2, "0 getbox 1 1 10000 100 0", "1002000 0"},
	{"box of another node's", "memory.row=500B", 5, "0 getbox 4 10 1000 100 8", "1007000 0 0 0 0"},
	{"box of an own one that was looked up", "memory.row=500B", 1, "0 getbox 0 10 1000 100 8", "1002000"},
	{"boxes of two peers'", "", 3, "0 getbox 1 10 100 1000 8; 0.2 getbox 2 10 100 1000 8", "2002000 0 0"},
	{"empty box of a peer's", "memory.row=500B", 2, "0 getbox 1 10 0 100 8", "2000 0"},
	{"product", "", 1, "0 gemm 1000 1000 1000", "2001000"},
	{"product of a vector", "", 1, "0 gemm 1 1000 1000", "401800"},
	{"two products", "", 1, "0 gemm 1000 1000 1000; 0.2 gemm 1000 1000 1000", "4001000"},
	{"product beside a copy", "", 2, "0 gemm 1000 1000 1000; 0.2 put 1 1000000", "2001000 0"},
	// Calls cost the thread 1 µs: making the stream, each operation, and Sync,
	// which a copy that was handed over at 3 µs outlasts.
	{"calls", "host.call=1us", 1, "0 signal 0 1; 0 signal 0 2; 0 signal 0 3", "5000"},
	{"calls and a copy", "host.call=1us", 1, "0 signal 0 1; 0 copy 1000000", "205000"},
	{"done before it looks", "host.call=1us host.wake=5us", 1, "0 signal 0 1", "3000"},
	{"going on", "host.wake=3us", 1, "0 copy 1000000", "205000"},
	{"event", "", 2, "0.1 put 1 1000000; 0.1 record 1; 0.2 after 1; 0.2 copy 1000000", "1204000 0"},
	{"send", "", 2, "0 send 1 1000000; 1 recv 0 1000000", "1002000 1002000"},
	{"late receive", "", 2, "0 send 1 1000000; 1 copy 1000000; 1 recv 0 1000000", "1204000 1204000"},
	{"send to itself", "", 1, "0 send 0 1000000; 0 recv 0 1000000", "202000"},
	{"exchange", "", 2, "0 send 1 1000000; 0 recv 1 1000000; 1 send 0 1000000; 1 recv 0 1000000", "1002000 1002000"},
	// Two of a node's four ranks send; its link to the leaf has 1 GB/s.
	{"leaf of a quarter", "tier.leaf.nodes=2 tier.leaf.oversubscription=4", 8, "0 put 4 1000000; 1 put 5 1000000", "2007000 2007000 0 0 0 0 0 0"},
	{"spine of an eighth", "tier.leaf.nodes=1 tier.spine.oversubscription=8", 8, "0 put 4 1000000; 1 put 5 1000000", "4007000 4007000 0 0 0 0 0 0"},
}

func TestTimes(t *testing.T) {
	for _, c := range times {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, sim.Options{Preset: tiny(t, strings.Fields(c.set)...), Ranks: c.ranks})
			ends := make([]string, c.ranks)
			w.run(func(r *rank) {
				ends[r.n] = fmt.Sprint(newScript(r).run(c.program))
			})
			if got := strings.Join(ends, " "); got != c.want {
				t.Errorf("done at %s ns, want %s", got, c.want)
			}
		})
	}
}

// script is a rank that carries out its lines of a program.
type script struct {
	*rank
	all     []op.Buffer
	own     op.Buffer
	streams []device.Stream // by number
	events  map[int64]device.Event
}

func newScript(r *rank) *script {
	own := r.alloc(16 << 20)
	return &script{rank: r, own: own, all: r.share("memory", own), events: make(map[int64]device.Event), streams: make([]device.Stream, 4)}
}

// run submits everything and waits for it. It gives the time that this took.
func (s *script) run(program string) (nanos int64) {
	began := s.Now()
	for line := range strings.SplitSeq(program, ";") {
		fields := strings.Fields(line)
		who, stream, _ := strings.Cut(fields[0], ".")
		if who != fmt.Sprint(s.n) {
			continue
		}
		at := 1
		if stream != "" {
			at = must(strconv.Atoi(stream))
		}
		if s.streams[at] == nil {
			s.streams[at] = s.stream()
		}
		var args []int64
		for _, text := range fields[2:] {
			args = append(args, must(strconv.ParseInt(text, 10, 64)))
		}
		s.submit(s.streams[at], s.operation(fields[1], args))
	}
	for _, stream := range s.streams {
		if stream != nil {
			s.sync(stream)
		}
	}
	return s.Now() - began
}

// operation is one of a program.
func (s *script) operation(kind string, args []int64) op.Op {
	own := view(s.own, 0)
	switch kind {
	case "put":
		return move(op.Put, view(s.all[args[0]], 0), own, args[1])
	case "get":
		return move(op.Get, own, view(s.all[args[0]], 0), args[1])
	case "copy":
		return move(op.Copy, own, view(s.own, 8<<20), args[0])
	case "getbox": // of a rank, then as box
		o := s.operation("box", args[1:])
		o.Kind, o.Src = op.GetBox, view(s.all[args[0]], 8<<20)
		return o
	case "box": // planes, rows, bytes of a row, and a gap behind each row and plane
		b := op.BoxShape{Planes: args[0], Rows: args[1], RowBytes: args[2], DstRow: args[2], DstPlane: args[1] * args[2]}
		b.SrcRow = args[2] + args[3]
		b.SrcPlane = args[1]*b.SrcRow + args[3]
		return op.Op{Kind: op.CopyBox, Peer: -1, Dst: own, Src: view(s.own, 8<<20), Bytes: b.Bytes(), Box: &b}
	case "fill":
		return op.Op{Kind: op.Fill, Type: op.U8, Peer: -1, Dst: own, Bytes: args[0]}
	case "signal":
		return signal(int(args[0]), 0, uint64(args[1]))
	case "wait":
		return wait(int(args[0]), 0, uint64(args[1]))
	case "send":
		return send(int(args[0]), 0, own, args[1])
	case "recv":
		return recv(int(args[0]), 0, own, args[1])
	case "reduce":
		var sources []op.View
		for _, rank := range args[1:] {
			sources = append(sources, view(s.all[rank], 0))
		}
		return reduce(own, args[0], sources...)
	case "gemm":
		g := &op.GemmShape{M: args[0], N: args[1], K: args[2]}
		o := op.Op{Kind: op.Gemm, Type: op.F32, Peer: -1, Dst: own, Bytes: 4 * g.M * g.N, SourceCount: 2, Gemm: g}
		o.Sources[0], o.Sources[1] = own, own
		return o
	case "record", "after":
		if s.events[args[0]] == nil {
			s.events[args[0]] = s.event()
		}
		o := op.Op{Kind: op.EventRecord, Event: s.events[args[0]], Peer: -1}
		if kind == "after" {
			o.Kind = op.EventWait
		}
		return o
	}
	s.w.tb.Fatalf("no operation %q", kind)
	return op.Op{}
}
