package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"text/tabwriter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/op"
)

// The ping-pong is the one of guest-sdk/tck/cases/pingpong: a put of 64 bytes
// and its signal, there and back, between two ranks.
const (
	ballBytes     = 64
	pingpongTurns = 50   // measured one by one
	tripsPerTurn  = 2000 // round trips of a turn
)

// pingpong is the native protocol's name.
const pingpong = "pingpong"

// pingpongContestants is everyone who plays.
func pingpongContestants(m *mpi, n *native, g *guest) []contestant {
	return []contestant{
		{"Open MPI, ping-pong", func(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
			return m.run(ctx, 2, pingpong, int64(size), pingpongTurns, 1)
		}},
		{"native, ping-pong", func(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
			nanos, err := n.run(ctx, rankConfig{size: 2, protocol: pingpong, chunkBytes: int64(size), iters: pingpongTurns, warmup: 1})
			return nanosBy{"native": nanos / tripsPerTurn}, err
		}},
		{"guest, ping-pong", g.pingpong},
	}
}

// pingpong passes the ball between two native ranks and gives the times of
// each turn.
func (r *ring) pingpong() (*rankTimes, error) {
	times := &rankTimes{}
	peer := int32(r.place.Next)
	sequence := uint64(0)
	for turn := range r.warmup + r.iters {
		start := r.device.Now()
		for range tripsPerTurn {
			sequence++
			wait := op.Op{Kind: op.Wait, Peer: peer, Value: sequence}
			if r.rank == 1 {
				r.submit(wait)
			}
			r.submit(op.Op{Kind: op.Put, Peer: peer, Bytes: r.chunkBytes, Dst: r.view(r.peer, 1, 0), Src: r.view(r.out, 0, 0)})
			r.submit(op.Op{Kind: op.Signal, Peer: peer, Value: sequence})
			if r.rank == 0 {
				r.submit(wait)
			}
			if err := r.sync(); err != nil {
				return nil, err
			}
		}
		if turn >= r.warmup {
			times.Start, times.End = append(times.Start, start), append(times.End, r.device.Now())
		}
	}
	return times, nil
}

// pingpongLine is what the guest prints.
var pingpongLine = regexp.MustCompile(`(?m)^(\d+) bytes there and back: min \d+ ns, median (\d+) ns$`)

func (g *guest) pingpong(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	text, err := output(exec.CommandContext(ctx, g.command, "-n", "2", "--trace", "slice", g.ball))
	if err != nil {
		return nil, err
	}
	nanos, err := parsePingpong(text, int64(size))
	return nanosBy{"ccrun": nanos}, err
}

func parsePingpong(text []byte, size int64) (nanos float64, err error) {
	found := pingpongLine.FindSubmatch(text)
	if found == nil || string(found[1]) != strconv.FormatInt(size, 10) {
		return 0, fmt.Errorf("not the result of a ping-pong of %d bytes: %q", size, text)
	}
	return strconv.ParseFloat(string(found[2]), 64)
}

// writePingpong prints the table of the ping-pong.
func (r rounds) writePingpong(out io.Writer, size ccrun.ByteSize) {
	fmt.Fprintf(out, "%s there and back between 2 ranks, median of turns of %d\n", size, tripsPerTurn)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tmicroseconds\tmpi/this\tnative/this\t")
	for _, row := range []struct{ name, what string }{
		{"round trip", "mpi: MPI_Send, MPI_Recv"},
		{"native", "native: put, signal, wait, each recorded"},
		{"ccrun", "ccrun: the same from a Wasm guest"},
	} {
		fmt.Fprintf(w, "%s\t%.3f\t%s\t%s\t\n", row.what, r.nanos(row.name)/1e3, r.ratioText("round trip", row.name), r.ratioText("native", row.name))
	}
	w.Flush()
}
