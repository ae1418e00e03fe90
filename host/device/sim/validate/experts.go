package main

import (
	"math/rand/v2"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// The setting of all published low-latency figures.
const (
	tokensPerRank = 128
	hidden        = 7168
	topK          = 8
	experts       = 256
)

// exchangeStyle is what a library puts on the wire.
type exchangeStyle struct {
	messageBytes int64
	perRank      bool // a token goes once to each rank, and not once to each expert
	rowBytes     int64
	combine      bool // back from the experts
}

// Bytes of one token's row, and with the libraries' headers and scales.
const (
	rowBF16       = 2 * hidden
	rowFP8        = hidden + 4*hidden/128
	deepEPHeader  = 16
	ncclEPHeader  = 32
	deepEPMessage = deepEPHeader + rowFP8
	ncclEPMessage = ncclEPHeader + rowBF16
)

var (
	deepEPDispatch = exchangeStyle{messageBytes: deepEPMessage, rowBytes: rowFP8}
	deepEPCombine  = exchangeStyle{messageBytes: rowBF16, rowBytes: rowBF16, combine: true}
	ncclEPDispatch = exchangeStyle{messageBytes: ncclEPMessage, rowBytes: rowBF16, perRank: true}
	ncclEPCombine  = exchangeStyle{messageBytes: rowBF16, rowBytes: rowBF16, combine: true}
)

// expertMicros times a dispatch or a combine.
func expertMicros(style exchangeStyle, ranks int) func(*preset.Preset) (float64, error) {
	messages := style.messages(ranks)
	return micros(ranks, func(r *rank) func() { return r.exchange(style, messages) })
}

// expertRate is the same as the libraries count it: bytes of all rows that a
// rank has for experts, its own included, whether or not a message carries
// several.
func expertRate(style exchangeStyle, ranks int) func(*preset.Preset) (float64, error) {
	timed := expertMicros(style, ranks)
	return func(p *preset.Preset) (float64, error) {
		us, err := timed(p)
		return tokensPerRank * topK * float64(style.rowBytes) / us / 1e3, err
	}
}

// messages draws the experts of every token, each as likely as any other, and
// counts the messages from rank to rank.
func (style exchangeStyle) messages(ranks int) [][]int64 {
	random := rand.New(rand.NewPCG(uint64(ranks), 1))
	counts := make([][]int64, ranks)
	for i := range counts {
		counts[i] = make([]int64, ranks)
	}
	for from := range ranks {
		for range tokensPerRank {
			last := make(map[int]bool)
			for _, expert := range random.Perm(experts)[:topK] {
				to := expert * ranks / experts
				if style.perRank && last[to] {
					continue
				}
				last[to] = true
				if style.combine {
					counts[to][from]++
				} else {
					counts[from][to]++
				}
			}
		}
	}
	return counts
}

// exchange is one kernel that prepares and sends, and one that receives. Before
// the puts, a dispatch reads its tokens and writes what it sends, and a combine
// copies the rows that leave by the NIC; rows for peers of the node are stored
// there at once. Behind them, a dispatch sorts what came by expert, and a
// combine adds each token's rows up.
func (r *rank) exchange(style exchangeStyle, messages [][]int64) func() {
	slotBytes := tokensPerRank * topK * style.messageBytes
	came, leave := int64(0), int64(0)
	for peer := range r.size {
		came += messages[peer][r.number]
		if !r.near(peer) {
			leave += messages[r.number][peer]
		}
	}
	before, behind := int64(tokensPerRank*(rowBF16+style.rowBytes)), came*2*style.rowBytes
	if style.combine {
		before, behind = leave*2*style.rowBytes, (came+tokensPerRank)*style.rowBytes
	}
	s, lanes := r.stream(), r.lanes(r.size-1)
	inboxes, scratch := r.share("inbox", int64(r.size)*slotBytes), r.buffer(before+behind+slotBytes)
	return func() {
		r.pass(s, scratch, before)
		lanes.fork(s)
		for i, peer := range r.peers() {
			r.submit(lanes.of(i), op.Op{
				Kind: op.Put, Bytes: messages[r.number][peer] * style.messageBytes, Src: op.View{Buf: scratch},
				Dst: op.View{Buf: inboxes[peer], Off: int64(r.number) * slotBytes},
			})
			r.signal(lanes.of(i), peer, readySlot)
		}
		for _, peer := range r.peers() {
			r.wait(s, peer, readySlot)
		}
		r.pass(s, scratch, behind)
		lanes.join(s)
	}
}

// near reports whether a peer is on the same node.
func (r *rank) near(peer int) bool {
	perNode := r.cluster.Preset().Node.Ranks
	return perNode == 0 || peer/perNode == r.number/perNode
}
