// Faulty gathers every rank's chunk on every rank over a ring, twice, in one
// buffer, then passes a receipt around. With -fault NAME one thing is wrong, as
// it could be in a schedule that somebody has written by hand:
//
//	missing_signal     rank 1 puts its last chunk of the second round and tells nobody
//	wrong_peer         rank 1 tells the previous rank of it instead of the next
//	mismatched_count   rank 1 sends a receipt without its last field
//	budget             every rank gives back the buffer of a round after it has got the next one
//	read_before_write  rank 1 passes a chunk on without waiting for it
//
// Without -fault nothing is wrong. It takes three ranks for all of them to show.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const (
	rounds       = 2
	chunkBytes   = 64 << 10
	receiptBytes = 64
	fieldBytes   = 8
	faultyRank   = 1
)

// Signal slots.
const (
	slotChunk = iota // chunks that the previous rank has put here
	slotFree         // rounds whose chunks the next rank is done with
)

func main() {
	fault := flag.String("fault", "", "what is wrong")
	flag.Parse()
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, *fault)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		os.Exit(1)
	}
}

// gather is one rank's side.
type gather struct {
	ring   ccrun.Ring
	own    *ccrun.Buffer // this rank's chunk
	chunks *ccrun.Buffer // everybody's
	next   *ccrun.Buffer // the next rank's chunks
	mail   *ccrun.Buffer // a receipt to send, and one received
	stream *ccrun.Stream
	fault  string
	err    error
}

func run(world *ccrun.World, fault string) error {
	g := &gather{ring: world.Ring(), fault: fault}
	if err := g.open(world); err != nil {
		return err
	}
	for round := range rounds {
		g.gatherRound(round)
	}
	g.passReceipt()
	if g.err != nil {
		return g.err
	}
	fmt.Printf("rank %d: %d rounds\n", g.ring.Rank, rounds)
	return nil
}

func (g *gather) open(world *ccrun.World) error {
	var err1, err2, err3, err4, err5, err6 error
	g.own, err1 = world.Alloc(chunkBytes)
	g.chunks, err2 = world.Alloc(chunkBytes * int64(g.ring.Size))
	g.mail, err3 = world.Alloc(2 * receiptBytes)
	g.stream, err4 = world.NewStream()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	err5 = world.Publish("chunks", 0, g.chunks.All())
	g.next, err6 = world.Lookup(g.ring.Next, "chunks", 0, ccrun.Forever)
	return errors.Join(err5, err6)
}

// has reports whether this rank is the one that does it wrong.
func (g *gather) has(fault string) bool { return g.fault == fault && g.ring.Rank == faultyRank }

// at is the place of a chunk in somebody's buffer.
func (g *gather) at(b *ccrun.Buffer, chunk int) ccrun.Region {
	return b.At(int64(chunk)*chunkBytes, chunkBytes)
}

// gatherRound fills the chunks of all ranks with those of one round.
func (g *gather) gatherRound(round int) {
	if g.fault != "budget" && round > 0 {
		g.giveBack(round)
	}
	g.stream.Fill(g.own.All(), ccrun.U8, uint64(round*g.ring.Size+g.ring.Rank))
	if round > 0 {
		g.awaitBudget(round)
	}
	for step := range g.ring.Steps() {
		g.pushChunk(round, step)
	}
	g.awaitChunk(round, g.ring.Steps())
	if g.fault == "budget" && round > 0 {
		g.giveBack(round)
	}
	g.useChunks()
}

// number counts chunks over all rounds, from 1.
func (g *gather) number(round, step int) uint64 { return uint64(round*g.ring.Steps() + step) }

// pushChunk passes a chunk on: the own one first, then what has come in.
//
//go:noinline
func (g *gather) pushChunk(round, step int) {
	chunk, from := g.ring.Sends(step), g.own.All()
	last := step == g.ring.Steps()-1
	if step > 0 {
		from = g.at(g.chunks, chunk)
		if !g.has("read_before_write") || !last {
			g.awaitChunk(round, step)
		}
	}
	g.stream.Put(g.at(g.next, chunk), from)
	g.tellOfChunk(round, step, last)
}

// tellOfChunk raises the next rank's slot.
//
//go:noinline
func (g *gather) tellOfChunk(round, step int, last bool) {
	to := g.ring.Next
	if last && round == rounds-1 {
		switch {
		case g.has("missing_signal"):
			return
		case g.has("wrong_peer"):
			to = g.ring.Prev
		}
	}
	g.stream.Signal(to, slotChunk, g.number(round, step+1))
}

// awaitChunk waits for as many chunks of a round.
//
//go:noinline
func (g *gather) awaitChunk(round, count int) {
	g.stream.Wait(g.ring.Prev, slotChunk, g.number(round, count))
	g.sync()
}

// sync waits for the stream.
func (g *gather) sync() {
	if g.err == nil {
		g.err = g.stream.Sync()
	}
}

// useChunks reads what was gathered.
//
//go:noinline
func (g *gather) useChunks() {
	for chunk := range g.ring.Size {
		if chunk != g.ring.Rank {
			g.stream.Copy(g.own.All(), g.at(g.chunks, chunk))
		}
	}
}

// giveBack tells the previous rank that the chunks of a round may be
// overwritten.
//
//go:noinline
func (g *gather) giveBack(round int) {
	g.stream.Signal(g.ring.Prev, slotFree, uint64(round))
}

// awaitBudget waits until the next rank is done with the chunks of the round
// before.
//
//go:noinline
func (g *gather) awaitBudget(round int) {
	g.stream.Wait(g.ring.Next, slotFree, uint64(round))
	g.sync()
}

// passReceipt sends a receipt to the next rank and takes one from the previous.
//
//go:noinline
func (g *gather) passReceipt() {
	sent := g.mail.At(0, receiptBytes)
	if g.has("mismatched_count") {
		sent.Bytes -= fieldBytes
	}
	g.stream.Fill(g.mail.At(0, receiptBytes), ccrun.U8, uint64(g.ring.Rank))
	g.stream.Send(g.ring.Next, sent, 0)
	g.stream.Recv(g.ring.Prev, g.mail.At(receiptBytes, receiptBytes), 0)
	g.sync()
}
