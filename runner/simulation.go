package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
)

// Simulation says what a simulated run stands for.
type Simulation struct {
	Preset   *preset.Preset
	Nodes    int           // that the ranks are on
	Virtual  time.Duration // from the first rank's start to the last one's end
	Stats    sim.Stats
	Memory   []sim.MemoryUse // of each rank's buffers
	Real     bool            // there were buffers with data
	Phantoms bool            // there were buffers without
}

// isSimulated reports whether a device is the simulator.
func isSimulated(name string) bool { return name == "sim" || strings.HasPrefix(name, "sim:") }

// realBytesMax is how much data the buffers of all ranks together hold unless
// the run asks for more: past it they are phantoms.
const realBytesMax = 1 << 30

// target is the machine that a run is simulated on.
type target struct {
	preset      *preset.Preset
	ranks       int
	ranksOfNode int
}

// SimulatedRanks is how many ranks a run has on a simulated device, with numbers
// of its preset changed as [Config.Set] does, unless it asks for others.
func SimulatedRanks(device string, set []string) (int, error) {
	t, err := findTarget(&Config{Device: device, Set: set})
	if err != nil {
		return 0, err
	}
	return t.ranks, nil
}

// findTarget finds the machine that a run asks for, and how many ranks it has.
func findTarget(c *Config) (*target, error) {
	name, nodes, err := preset.ParseTarget(c.Device)
	if err != nil {
		text, hint, _ := strings.Cut(err.Error(), "; ")
		return nil, refuse(hint+"; `ccrun devices` lists presets", "--device %s: %s", c.Device, text)
	}
	p, err := preset.Find(name)
	if err != nil {
		return nil, refusePreset("--device "+c.Device, err)
	}
	for _, assignment := range c.Set {
		if err := p.Set(assignment); err != nil {
			return nil, refusePreset("--set "+assignment, err)
		}
	}
	t := &target{preset: p, ranks: c.Ranks, ranksOfNode: p.Node.Ranks}
	most := max(nodes, 1) * t.ranksOfNode
	switch {
	case t.ranks == 0 && most == 0:
		t.ranks = DefaultRanks * max(nodes, 1)
	case t.ranks == 0:
		t.ranks = most
	case nodes > 0 && most > 0 && t.ranks > most:
		return nil, refuse("ask for more nodes, or leave the number of nodes out", "-n %d: %s has %d ranks", t.ranks, c.Device, most)
	}
	if t.ranks > SimulatedRanksMax {
		hint := fmt.Sprintf("give -n 1 to %d", SimulatedRanksMax)
		if c.Ranks == 0 {
			hint = "ask for fewer nodes, or give -n"
		}
		return nil, refuse(hint, "%d ranks: at most %d can be simulated", t.ranks, SimulatedRanksMax)
	}
	if t.ranksOfNode == 0 {
		t.ranksOfNode = (t.ranks + max(nodes, 1) - 1) / max(nodes, 1)
	}
	return t, nil
}

// refusePreset turns down a preset or a change to one.
func refusePreset(asked string, err error) *Error {
	var problem *preset.Problem
	if !errors.As(err, &problem) {
		text, hint, _ := strings.Cut(err.Error(), "; ")
		var path *fs.PathError
		if errors.As(err, &path) {
			hint = "give the path of a preset of your own, which may begin with one of ccrun's: base: h100"
		}
		return refuse(cmp.Or(hint, "`ccrun devices` lists presets"), "%s: %s", asked, text)
	}
	plain := *problem
	plain.Hint = ""
	return refuse(problem.Hint, "%s: %v", asked, &plain)
}

// nodes is how many nodes the ranks are on.
func (t *target) nodes() int { return (t.ranks + t.ranksOfNode - 1) / t.ranksOfNode }

// place gives a rank's place on its node.
func (t *target) place(rank int) (localRank, localSize int) {
	first := rank - rank%t.ranksOfNode
	return rank - first, min(t.ranksOfNode, t.ranks-first)
}

// runIDOf names a run by all that its records depend on, so that the same run
// has the same name, and its spans the same identifiers.
func (t *target) runIDOf(c *Config, wasm []byte) string {
	sum := sha256.Sum256(wasm)
	text, err := json.Marshal([]any{
		hex.EncodeToString(sum[:]), c.Args, t.preset.String(), t.ranks, t.ranksOfNode, c.Seed, c.Fault,
		c.Algorithms.String(), c.TraceLevel, c.MemoryBytes, c.BufferMemoryBytes, c.Data,
	})
	if err != nil {
		panic(err) // words and numbers
	}
	sum = sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// simulation describes the run when it is over. Of one that goes on beside, since
// a guest does not end, nothing is known that it may still change.
func (s *simulator) simulation() *Simulation {
	out := &Simulation{
		Preset: s.target.preset, Nodes: s.target.nodes(), Virtual: time.Duration(s.endNanos),
	}
	if s.stuck {
		return out
	}
	out.Stats, out.Memory = s.cluster.Stats(), make([]sim.MemoryUse, len(s.ranks))
	for rank := range out.Memory {
		out.Memory[rank] = s.cluster.Memory(rank)
	}
	out.Real = slices.ContainsFunc(out.Memory, func(m sim.MemoryUse) bool { return m.RealTotalBytes > 0 })
	out.Phantoms = slices.ContainsFunc(out.Memory, func(m sim.MemoryUse) bool { return m.PhantomTotalBytes > 0 })
	return out
}

// simulatedTime is a rank's virtual time, for its guest.
type simulatedTime struct {
	cluster *sim.Cluster
	rank    *rank
}

// Now is the time of the rank's own thread.
func (t simulatedTime) Now() int64 { return t.rank.device.Now() }

// Sleep lets the other ranks go on meanwhile.
func (t simulatedTime) Sleep(nanos int64) error {
	if err := t.cluster.Sleep(t.rank.spec.Rank, nanos); err != nil {
		return fmt.Errorf("sleep: %w", err)
	}
	return nil
}
