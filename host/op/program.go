package op

// Program is what one rank does of a collective: steps in order, over areas of
// this and other ranks. It is immutable and shared between calls of one shape.
//
// The steps come in this order, each part possibly empty: moves within this
// rank's own areas; Enter; Meet and the collective's work; Leave; Part. A
// program of a communicator of one rank has moves only. A program with Leave
// leaves on all ranks, one without on none: such a program reaches its peers'
// slots and flags only.
type Program struct {
	Name       string // of the algorithm, for traces
	Steps      []Step
	SlotBytes  int64 // of any AreaSlot that the program touches, at most [SlotBytesMax]
	SliceBytes int64 // of a pipelined slice, 0 if chunks are not sliced
	// Met says that whoever has finished the program knows that all ranks have
	// entered the call. Where it is false (the root of a small broadcast waits
	// for nobody) the rank may go on to its next calls. However that may be, the
	// device holds a rank before the first step of a call until all ranks have
	// entered the call four before it, so that slots can be used again.
	Met bool
	// Back is what to do instead of Steps in every other call: the same in about
	// the reverse order, which begins with what is still in the caches. Ranks may
	// mix both in one call. It is nil if there is nothing to gain.
	Back []Step
}

// StepsOf gives the steps for the call of that number on its communicator.
func (p *Program) StepsOf(number uint64) []Step {
	if number%2 != 0 && p.Back != nil {
		return p.Back
	}
	return p.Steps
}

// SlotBytesMax is the size of one rank's slot: memory of the communicator that
// all its ranks can reach, for small payloads.
const SlotBytesMax = 16 << 10

// Area says which memory of a rank a place lies in.
type Area uint8

// Areas. Slot is fresh in every call (there are eight, used in turn): a program
// may write its own rank's slot before Enter, and peers may read it until they
// enter the next call, or the next one that is not in a group with this.
const (
	AreaIn Area = iota
	AreaOut
	AreaSlot
)

// Place is Off bytes into an area of a rank of the communicator.
type Place struct {
	Rank int32
	Area Area
	Off  int64
}

// StepKind says what a step does.
type StepKind uint8

// Steps. Before it has met a rank a program touches none of that rank's areas,
// after Leave none of any peer's.
const (
	// StepMove combines Sources, one for a plain copy, in the order given, into
	// every one of Dests. A source and a destination are the same place or do not
	// overlap.
	StepMove StepKind = iota
	// StepEnter tells all ranks where this rank's areas are and what it calls.
	StepEnter
	// StepMeet waits until rank Peer, or all ranks if Peer is -1, have entered
	// this call, and fails with a mismatch if one calls something else.
	StepMeet
	// StepLeave tells all ranks that this one needs their areas no more.
	StepLeave
	// StepPart waits until rank Peer, or all ranks if Peer is -1, have left this
	// call.
	StepPart
	// StepSignal raises flag Flag at rank Peer to Value. What this rank has done
	// before is visible to the peer first.
	StepSignal
	// StepWait waits until rank Peer has raised flag Flag here to Value.
	StepWait
	// StepTake is of AllToAllV: it moves what rank Peer, which may be this one,
	// sends to this rank to where this rank wants it. That is RecvCounts[Peer]
	// elements to RecvOffsets[Peer] of Out, from the SendOffsets entry that Peer
	// has for this rank in its In, which only Peer knows: it tells as it enters,
	// together with its count.
	StepTake
)

// FlagsMax is how many flags a pair of ranks has. Values begin at 1 in every
// call and stay below [FlagValueMax]. A rank may signal a peer that it has not
// met.
const FlagsMax = 8

// FlagValueMax is more than any flag's value.
const FlagValueMax = 1 << 20

// Step is one step of a program.
type Step struct {
	Kind    StepKind
	Flag    uint8
	Last    bool // of a StepMove: divides by the number of ranks (Avg); earlier moves of the call only add
	Peer    int32
	Value   uint32
	Bytes   int64   // of a StepMove, in whole elements
	Sources []Place // 1 to MaxSources
	Dests   []Place // 1 to MaxSources
	Term    Term    // Collective is filled in by the device
}
