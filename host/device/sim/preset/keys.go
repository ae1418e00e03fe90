package preset

import (
	"slices"
	"strconv"
	"strings"
)

// key is one number of a preset, or one table of numbers: all that there is to
// know for reading, changing, printing and explaining it.
type key struct {
	name     string
	unit     *dimension
	x        *dimension // of the points of a table; nil for a number
	machines uint8      // bits of those that need it
	optional uint8      // bits of those that may do without
	least    float64
	greatest float64
	doc      string
	at       func(p *Preset) any // *float64, *int, *int64 or *[]Point
}

// Sets of machines.
const (
	onGPU   = 1 << GPU
	onCores = 1 << Cores
	onAll   = onGPU | onCores
)

// keys is all keys, in the order of files and lists.
var keys = slices.Concat(nodeKeys, linkKeys, gemmKeys, ncclKeys, cpuKeys)

var nodeKeys = []key{
	{name: "node.ranks", unit: count, machines: onAll, greatest: 4096, doc: "GPUs of a node, or ranks of a cpu node; 0 for as many as there are ranks", at: func(p *Preset) any { return &p.Node.Ranks }},
	{name: "node.nics", unit: count, machines: onGPU, least: 1, greatest: 4096, doc: "NICs of a node, which its GPUs share evenly", at: func(p *Preset) any { return &p.Node.NICs }},
	{name: "memory.size", unit: size, machines: onGPU, optional: onCores, greatest: 1 << 50, doc: "memory of one GPU, or of one rank on cpu; 0 for no limit", at: func(p *Preset) any { return &p.Memory.Bytes }},
	{name: "memory.bandwidth", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "rate at which one pass reads or writes the memory", at: func(p *Preset) any { return &p.Memory.Bandwidth }},
	{name: "memory.row", unit: size, optional: onGPU, greatest: 1 << 20, doc: "a copy of a box gets memory.bandwidth if its rows have so many bytes, and as much less as they have fewer; 0: always", at: func(p *Preset) any { return &p.Memory.Row }},
	{name: "host.call", unit: duration, machines: onAll, greatest: 1, doc: "what handing one operation over costs the rank's own thread", at: func(p *Preset) any { return &p.Host.Call }},
	{name: "host.wake", unit: duration, machines: onAll, greatest: 1, doc: "from the end of what the rank's thread waits for to its going on", at: func(p *Preset) any { return &p.Host.Wake }},
	{name: "launch.kernel", unit: duration, machines: onGPU, greatest: 1, doc: "from a kernel's turn in its stream to its first byte", at: func(p *Preset) any { return &p.Launch.Kernel }},
	{name: "launch.copy", unit: duration, machines: onGPU, greatest: 1, doc: "from a copy's turn in its stream to its first byte", at: func(p *Preset) any { return &p.Launch.Copy }},
	{name: "launch.signal", unit: duration, machines: onGPU, greatest: 1, doc: "of a flag's write, from its turn in its stream to its leaving and to the stream's next operation", at: func(p *Preset) any { return &p.Launch.Signal }},
	{name: "launch.engines", unit: count, machines: onGPU, least: 1, greatest: 1024, doc: "copies between GPUs that one GPU carries out at a time", at: func(p *Preset) any { return &p.Launch.Engines }},
}

var linkKeys = []key{
	{name: "link.nvlink.bandwidth", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "what copies get between two GPUs of a node, per GPU and direction", at: func(p *Preset) any { return &p.NVLink.Bandwidth }},
	{name: "link.nvlink.kernel", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "the same for kernels that load from and store to another GPU", at: func(p *Preset) any { return &p.NVLink.Kernel }},
	{name: "link.nvlink.latency", unit: duration, machines: onGPU, greatest: 1, doc: "from a flag's being raised to its being seen by another GPU of the node", at: func(p *Preset) any { return &p.NVLink.Latency }},
	{name: "link.nic.bandwidth", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "what copies get to a GPU of another node, per GPU and direction, if all of a node's send", at: func(p *Preset) any { return &p.NIC.Bandwidth }},
	{name: "link.nic.kernel", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "the same for messages that kernels send", at: func(p *Preset) any { return &p.NIC.Kernel }},
	{name: "link.nic.latency", unit: duration, machines: onGPU, greatest: 1, doc: "of a message from a GPU to another node's, without the switches'", at: func(p *Preset) any { return &p.NIC.Latency }},
	{name: "tier.leaf.nodes", unit: count, machines: onGPU, greatest: 1 << 20, doc: "nodes below one leaf switch; 0: one switch connects all, and takes no time", at: func(p *Preset) any { return &p.Leaf.Nodes }},
	{name: "tier.leaf.oversubscription", unit: ratio, machines: onGPU, least: 1, greatest: 1000, doc: "what the nodes below a leaf can send, to what the leaf passes on", at: func(p *Preset) any { return &p.Leaf.Oversubscription }},
	{name: "tier.leaf.latency", unit: duration, machines: onGPU, greatest: 1, doc: "added to a message that goes through a leaf", at: func(p *Preset) any { return &p.Leaf.Latency }},
	{name: "tier.spine.oversubscription", unit: ratio, machines: onGPU, least: 1, greatest: 1000, doc: "what the nodes below a spine can send, to what the spine passes on", at: func(p *Preset) any { return &p.Spine.Oversubscription }},
	{name: "tier.spine.latency", unit: duration, machines: onGPU, greatest: 1, doc: "added to a message that goes through a spine: the spine and another leaf", at: func(p *Preset) any { return &p.Spine.Latency }},
}

var gemmKeys = []key{
	{name: "gemm.f32", unit: speed, machines: onAll, least: 1e6, greatest: 1e18, doc: "peak of matrix products of 32-bit numbers, of one GPU or one core", at: func(p *Preset) any { return &p.Gemm.F32 }},
	{name: "gemm.f64", unit: speed, machines: onAll, least: 1e6, greatest: 1e18, doc: "the same of 64-bit numbers", at: func(p *Preset) any { return &p.Gemm.F64 }},
	{name: "gemm.bf16", unit: speed, machines: onAll, least: 1e6, greatest: 1e18, doc: "the same of 16-bit numbers, summed in 32 bits, without sparsity; operations have 32 and 64 bits only, so to compare with it say gemm.f32=989TFLOP/s", at: func(p *Preset) any { return &p.Gemm.BF16 }},
	{name: "gemm.efficiency", unit: ratio, x: work, machines: onAll, least: 1e-6, greatest: 1, doc: "fraction of the peak that a product gets, by its operations", at: func(p *Preset) any { return &p.Gemm.Efficiency }},
}

var cpuKeys = []key{
	{name: "cpu.cores", unit: count, machines: onCores, least: 1, greatest: 4096, doc: "processor cores that ranks share", at: func(p *Preset) any { return &p.CPU.Cores }},
	{name: "cpu.op", unit: duration, machines: onCores, greatest: 1, doc: "one operation, from its turn to its record, without its bytes", at: func(p *Preset) any { return &p.CPU.Op }},
	{name: "cpu.signal", unit: duration, machines: onCores, greatest: 1, doc: "from a signal to its waiter's going on, on another core", at: func(p *Preset) any { return &p.CPU.Signal }},
	{name: "cpu.switch", unit: duration, machines: onCores, greatest: 1, doc: "to give a core to another of the ranks that share it", at: func(p *Preset) any { return &p.CPU.Switch }},
	{name: "cpu.pattern", unit: rate, machines: onCores, least: 1e6, greatest: 1e15, doc: "rate at which one core fills a buffer with a pattern, or verifies one", at: func(p *Preset) any { return &p.CPU.Pattern }},
	{name: "cpu.copy", unit: rate, x: size, machines: onCores, least: 1e6, greatest: 1e15, doc: "rate of a copy of what another core has written, one core busy, by the bytes of buffers in use for each core", at: func(p *Preset) any { return &p.CPU.Copy }},
	{name: "cpu.reduce", unit: rate, x: size, machines: onCores, least: 1e6, greatest: 1e15, doc: "the same of a reduction, counted by its result", at: func(p *Preset) any { return &p.CPU.Reduce }},
	{name: "cpu.local", unit: rate, x: size, machines: onCores, least: 1e6, greatest: 1e15, doc: "the same of a copy or a reduction of what no other core has written since this one had it", at: func(p *Preset) any { return &p.CPU.Local }},
	{name: "cpu.sharing", unit: ratio, x: size, machines: onCores, least: 1e-3, greatest: 4096, doc: "rate of all cores copying at once, in rates of one, by the same bytes", at: func(p *Preset) any { return &p.CPU.Sharing }},
}

// pointsMax keeps tables small.
const pointsMax = 256

// find is the key of a name, or nil.
func find(name string) *key {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// on reports whether presets of a machine have the key, and whether they may do
// without.
func (k *key) on(m Machine) (has, needs bool) {
	return (k.machines|k.optional)>>m&1 != 0, k.machines>>m&1 != 0
}

// points is the table that the key stands for, or nil.
func (k *key) points(p *Preset) *[]Point {
	points, _ := k.at(p).(*[]Point)
	return points
}

// number is what the key stands for, if not a table.
func (k *key) number(p *Preset) float64 {
	switch at := k.at(p).(type) {
	case *float64:
		return *at
	case *int:
		return float64(*at)
	case *int64:
		return float64(*at)
	}
	return 0
}

// put sets the number.
func (k *key) put(p *Preset, value float64) {
	switch at := k.at(p).(type) {
	case *float64:
		*at = value
	case *int:
		*at = int(value)
	case *int64:
		*at = int64(value)
	}
}

// bounds says what is wrong with a value, if anything.
func (k *key) bounds(value float64) (problem, hint string) {
	switch {
	case value < k.least || value > k.greatest:
		return k.unit.format(value) + " is out of range", "from " + k.unit.format(k.least) + " to " + k.unit.format(k.greatest)
	case k.unit.whole && value != float64(int64(value)):
		return strconv.FormatFloat(value, 'g', -1, 64) + " is not whole", ""
	}
	return "", ""
}

// text is the value as files have it.
func (k *key) text(p *Preset) string {
	points := k.points(p)
	if points == nil {
		return k.unit.format(k.number(p))
	}
	parts := make([]string, len(*points))
	for i, point := range *points {
		parts[i] = "[" + k.x.format(point.X) + ", " + k.unit.format(point.Y) + "]"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// nearest is the name that was probably meant, or "".
func nearest(name string, names []string) string {
	const differencesMax = 5
	best, least := "", min(len(name)/3+1, differencesMax)
	for _, candidate := range names {
		if strings.HasSuffix(candidate, "."+name) {
			return candidate
		}
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace.
func distance(a, b string) int {
	const lengthMax = 64 // of anything that is worth a guess
	if len(a) > lengthMax || len(b) > lengthMax {
		return lengthMax
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func keyNames() []string {
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].name
	}
	return names
}
