// Package preset holds the numbers of the machines that the simulator knows,
// each with the source it was taken from. [Find] gives one by name or reads the
// user's own file; [Preset.Set] changes a number, as --set does. The package
// is pure but for reading the file that it is told to read.
package preset

import (
	"slices"

	"github.com/ccrun/ccrun/host/device/sim/nccl"
)

// Preset is the numbers of one kind of machine. Times are seconds, rates bytes
// or operations per second, all per GPU and direction unless a comment says
// otherwise.
type Preset struct {
	Name    string // or path, of the user's own
	About   string // one line
	Base    string // name of the preset that its file began with, or empty
	Machine Machine

	Node   Node
	Memory Memory
	Host   Host
	Launch Launch
	NVLink Link  // between GPUs of a node
	NIC    Link  // from a GPU to another node's, through the NIC that is nearest; its share if GPUs share NICs
	Leaf   Tier  // switches that nodes are attached to
	Spine  Spine // switches that leaves are attached to
	Gemm   Gemm
	NCCL   nccl.Params
	CPU    CPU

	Validation []Band            // what the numbers were checked against, and how far off they were
	Outside    []string          // what nothing was checked for
	Sources    map[string]string // by key, as in the file
	Changed    []string          // keys that [Preset.Set] has changed, in order
}

// Machine is what carries operations out.
type Machine uint8

// Machines.
const (
	GPU   Machine = iota // streams of GPUs with copy engines, linked by NVLink and NICs
	Cores                // processor cores that ranks share, over shared memory
)

var machines = [...]string{GPU: "gpu", Cores: "cores"}

// String is how files name it.
func (m Machine) String() string { return machines[m] }

func parseMachine(text string) (Machine, bool) {
	i := slices.Index(machines[:], text)
	return Machine(max(i, 0)), i >= 0
}

// Node is what ranks share a node's resources.
type Node struct {
	Ranks int // GPUs, or ranks of a cpu node: 0 for as many as there are
	NICs  int // NICs, shared by the GPUs evenly
}

// Memory is a GPU's own.
type Memory struct {
	Bytes     int64
	Bandwidth float64 // of one pass over it, read or written
	Row       float64 // bytes of a box's row from which on a copy of it gets that
}

// Host is what calls cost the rank's own thread.
type Host struct {
	Call float64 // one operation handed over
	Wake float64 // from the end of what the thread waits for to its going on
}

// Launch is the time from an operation's turn in its stream to its first byte.
type Launch struct {
	Kernel  float64
	Copy    float64
	Signal  float64 // of the write of a flag
	Engines int     // copies between GPUs that one GPU carries out at a time
}

// Link is a way between two ranks.
type Link struct {
	Bandwidth float64 // of copies
	Kernel    float64 // of kernels that load and store through it
	Latency   float64 // of a flag raised at the other end
}

// Tier is a level of switches.
type Tier struct {
	Nodes            int     // nodes below one switch; 0 for all
	Oversubscription float64 // sum of what nodes can send to what the switch passes on
	Latency          float64 // added to a message that goes through the level
}

// Spine is the level of switches above leaves, each of which reaches all leaves.
type Spine struct {
	Oversubscription float64 // sum of what leaves can send to what the spine passes on
	Latency          float64 // added to a message that goes through it: the spine and another leaf
}

// Gemm is matrix products: a roofline under the efficiency of their size.
type Gemm struct {
	F32, F64, BF16 float64 // peak operations per second
	Efficiency     []Point // of products by their operations: fraction of the peak, between the points by logarithm
}

// CPU is what operations of the cpu device cost on this machine; see
// `ccrun calibrate`.
type CPU struct {
	Cores   int
	Op      float64 // one operation, from its turn to its record
	Signal  float64 // from a signal to its waiter's going on, on another core
	Switch  float64 // to give a core to another of the ranks that share it
	Pattern float64 // rate at which one core makes patterns, for Fill and Verify

	// Rates of one core, by the bytes of buffers in use for each core that ranks
	// run on.
	Copy    []Point // of a copy of what another core has written last
	Reduce  []Point // of a reduction with it, by the bytes of the result
	Local   []Point // of either if the core has all of it in its own cache, or had
	Sharing []Point // of all cores copying at once, in rates of one
}

// Point is one of a table: at X (bytes, or operations) the value is Y.
type Point struct{ X, Y float64 }

// Band says how far the simulator was from what somebody measured.
type Band struct {
	What    string  // "NCCL all_reduce, 8 GPUs, 16 MiB to 4 GiB"
	Error   float64 // largest relative error, 0.1 for 10 %
	HeldOut bool    // nothing was fitted to it
	Source  string
}
