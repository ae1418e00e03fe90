package op

// Program is what one rank does of a collective: steps in order, over areas of
// this and other ranks. It is immutable and shared between calls of one shape.
type Program struct {
	Name       string // of the algorithm, for traces
	Steps      []Step
	SlotBytes  int64 // of AreaSlot that every rank uses, at most [SlotBytesMax]
	SliceBytes int64 // of a pipelined slice, 0 if chunks are not sliced
}

// SlotBytesMax is the size of one rank's slot: memory of the communicator that
// all its ranks can reach, for small payloads.
const SlotBytesMax = 16 << 10

// Area says which memory of a rank a place lies in.
type Area uint8

// Areas. Slot is fresh in every call: a program may write its own rank's slot
// before Enter, and peers may read it until they have left the next call.
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

// Steps. Until Meet is done a program touches nothing but its own rank's
// areas; after Leave nothing of its peers'.
const (
	// StepMove combines Sources, one for a plain copy, into every one of Dests.
	StepMove StepKind = iota
	// StepEnter tells all ranks where this rank's areas are and what it calls.
	StepEnter
	// StepMeet waits until all ranks have entered this call, and fails with a
	// mismatch if one calls something else.
	StepMeet
	// StepLeave tells all ranks that this one needs their areas no more.
	StepLeave
	// StepPart waits until all ranks have left this call.
	StepPart
	// StepSignal raises flag Flag at rank Peer to Value.
	StepSignal
	// StepWait waits until rank Peer has raised flag Flag here to Value.
	StepWait
)

// FlagsMax is how many flags a pair of ranks has. Values begin at 1 in every
// call and stay below 2^20.
const FlagsMax = 8

// Step is one step of a program.
type Step struct {
	Kind    StepKind
	Flag    uint8
	Peer    int32
	Value   uint32
	Bytes   int64
	Sources []Place // at most MaxSources
	Dests   []Place // at most MaxSources
	Term    Term    // Collective is filled in by the device
	Last    bool    // of a StepMove: divides by the number of ranks (Avg); earlier moves of the call only add
}
