package cpu

// How many there are of each thing in an arena.
const (
	maxStreams     = 64
	maxEvents      = 4096
	maxAllocations = 1 << 16
	signalSlots    = 1024 // per pair of ranks
	sendChannels   = 64   // per pair of ranks
	mailDepth      = 16   // letters under way per channel
	laneCount      = maxStreams + 1
	pinWords       = 16 // buffers that one operation uses at once: 8 sources and a destination
)

// Sizes of what the arena holds. A line is two cache lines, because processors
// fetch pairs of them.
const (
	lineBytes     = 128
	pageBytes     = 4096
	hugePageBytes = 2 << 20
	presenceBytes = 64
)

// layout says where in an arena the parts of the control region begin. It
// depends on nothing but the number of ranks, so that no rank needs to believe
// another's.
type layout struct {
	ranks       int
	generations int64 // one uint32 per allocation slot
	presences   int64 // one line per peer: how many lanes of it may hold pins
	pads        int64 // counters [source][slot], raised by the source
	mail        int64 // letters [sender][channel][depth]
	pins        int64 // words [peer][lane][word]: allocation slots in use by the peer
	heap        int64
}

func layoutOf(ranks int) layout {
	l := layout{ranks: ranks}
	at := int64(pageBytes)
	part := func(bytes int64) int64 {
		start := at
		at += roundUp(bytes, pageBytes)
		return start
	}
	n := int64(ranks)
	l.generations = part(maxAllocations * 4)
	l.presences = part(n * presenceBytes)
	l.pads = part(n * signalSlots * lineBytes)
	l.mail = part(n * sendChannels * mailDepth * lineBytes)
	l.pins = part(n * laneCount * lineBytes)
	l.heap = roundUp(at, hugePageBytes)
	return l
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }
