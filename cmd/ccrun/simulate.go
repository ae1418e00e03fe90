package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/device/fault"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/runner"
)

// isSim reports whether --device asks for the simulator.
func (o *runOptions) isSim() bool { return simulated(o.device) }

// simulated reports whether a device is the simulator.
func simulated(device string) bool { return device == "sim" || strings.HasPrefix(device, "sim:") }

// checkSim refuses flags that the simulator has no use for, and those that only
// it has a use for.
func (o *runOptions) checkSim(s *state) error {
	if !o.isSim() {
		return onlySimulated(o.device, o.data, o.set)
	}
	if o.outputs.names(prometheusOutput) {
		return usageError{"-o prometheus is for runs that last: a simulated one is not in the time of who watches it", "-o otlp, or --json"}
	}
	if o.opTimeoutGiven && o.opTimeout > 0 {
		s.warn("--op-timeout is not used on %s: a wait that cannot end is found at once", o.device)
	}
	return nil
}

// onlySimulated refuses flags of simulated runs on another device.
func onlySimulated(device string, data bool, set setsValue) error {
	switch {
	case simulated(device):
	case data:
		return usageError{"--data is for simulated runs: the buffers of others hold data", "--device sim --data"}
	case len(set) > 0:
		return usageError{"--set is for simulated runs: others take the time that they take", "--device sim --set " + set[0]}
	}
	return nil
}

// setsValue gathers --set flags. What is wrong with one is found with the
// preset.
type setsValue []string

func (v *setsValue) Set(text string) error {
	if key, value, ok := strings.Cut(text, "="); !ok || key == "" || value == "" {
		return hinted("not a number of a preset", "for example link.nvlink.bandwidth=2x; ccrun devices lists presets")
	}
	*v = append(*v, text)
	return nil
}

func (v *setsValue) String() string {
	if v == nil {
		return ""
	}
	return strings.Join(*v, " ")
}

// slowValue makes faults of --slow flags.
type slowValue struct{ faults *faultsValue }

func (v *slowValue) Set(text string) error {
	const example = "rank=3,x=3 makes rank 3 take three times as long"
	rank, x := "", ""
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case key == "rank" && rank == "":
			rank = value
		case key == "x" && x == "":
			x = value
		default:
			return hinted(quote(part)+" is neither rank= nor x=", example)
		}
	}
	if rank == "" || x == "" {
		return hinted("a slow rank has a number and a factor", example)
	}
	return v.faults.add("delay="+rank+":"+x+"x", example)
}

func (v *slowValue) String() string { return "" }

// jitterValue makes faults of --jitter flags.
type jitterValue struct{ faults *faultsValue }

func (v *jitterValue) Set(text string) error {
	return v.faults.add("jitter=*:"+text, "5% makes each operation take up to 5 % longer")
}

func (v *jitterValue) String() string { return "" }

// add appends one fault.
func (v *faultsValue) add(text, hint string) error {
	faults, err := fault.Parse(text)
	if err != nil || len(faults) != 1 {
		return hinted("not understood", hint)
	}
	*v = append(*v, faults...)
	return nil
}

// simulationReport is what --json says of a simulated run.
type simulationReport struct {
	Nodes   int              `json:"nodes"`
	Machine string           `json:"machine"`
	Data    string           `json:"data"`    // of buffers: real, phantom, both or none
	Honesty []string         `json:"honesty"` // lines for people: preset, changes, sources, errors
	Changed []changeReport   `json:"changed"`
	Bands   []bandReport     `json:"validation"`
	Outside []string         `json:"outside"` // what the model was not checked for
	Least   *memoryUseReport `json:"memory_least"`
	Most    *memoryUseReport `json:"memory_most"`
	sim.Stats
}

// changeReport is a number that was changed.
type changeReport struct {
	Key    string `json:"key"`
	Source string `json:"source"`
}

// bandReport is how far off the model was from what somebody measured.
type bandReport struct {
	What    string  `json:"what"`
	Error   float64 `json:"error"`
	HeldOut bool    `json:"held_out"`
	Source  string  `json:"source"`
}

// memoryUseReport is what the buffers of one rank needed at their peak.
type memoryUseReport struct {
	Rank  int           `json:"rank"`
	Bytes int64         `json:"bytes"`
	Held  []sim.Holding `json:"held"`
}

func newSimulationReport(s *runner.Simulation) *simulationReport {
	r := &simulationReport{
		Nodes: s.Nodes, Machine: s.Preset.Machine.String(), Data: dataWord(s), Honesty: s.Preset.Honesty(), Stats: s.Stats,
		Changed: []changeReport{}, Bands: []bandReport{}, Outside: append([]string{}, s.Preset.Outside...),
	}
	for _, key := range s.Preset.Changed {
		r.Changed = append(r.Changed, changeReport{key, s.Preset.Sources[key]})
	}
	for _, b := range s.Preset.Validation {
		r.Bands = append(r.Bands, bandReport(b))
	}
	for rank := range s.Memory {
		use := &memoryUseReport{rank, s.Memory[rank].PeakBytes, s.Memory[rank].Holdings}
		if r.Least == nil || use.Bytes < r.Least.Bytes {
			r.Least = use
		}
		if r.Most == nil || use.Bytes > r.Most.Bytes {
			r.Most = use
		}
	}
	return r
}

func dataWord(s *runner.Simulation) string {
	switch {
	case s.Real && s.Phantoms:
		return "both"
	case s.Real:
		return "real"
	case s.Phantoms:
		return "phantom"
	}
	return "none"
}

// dataLines say what the buffers were, for people.
var dataLines = map[string]string{
	"real":    "data: real, so what was verified was verified",
	"phantom": "data: none, buffers were sizes without bytes and nothing was verified; --data gives them bytes",
	"both":    "data: some buffers were sizes without bytes, so nothing counts as verified; --data gives all of them bytes",
}

// lines are what the summary says of a simulated run below its figures.
func (r *simulationReport) lines() []string {
	lines := slices.Clone(r.Honesty)
	if line := dataLines[r.Data]; line != "" {
		lines = append(lines, line)
	}
	if r.Most != nil && r.Most.Bytes > 0 {
		var held []string
		for _, h := range r.Most.Held {
			held = append(held, fmt.Sprintf("%s %s", h.Name, nearSize(h.Bytes)))
		}
		lines = append(lines, fmt.Sprintf("buffers: %s (rank %d) to %s (rank %d: %s)",
			nearSize(r.Least.Bytes), r.Least.Rank, nearSize(r.Most.Bytes), r.Most.Rank, strings.Join(held, ", ")))
	}
	return append(lines, fmt.Sprintf("simulator: %d operations, %d events, %d switches", r.Operations, r.Events, r.Switches))
}

// nearSize is a size for people.
func nearSize(bytes int64) string {
	unit, value := "B", float64(bytes)
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		unit, value = next, value/1024
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
}

// presetLines lists what can be simulated.
func presetLines() []string {
	var lines []string
	for _, name := range preset.Names() {
		about := ""
		if p, err := preset.Find(name); err != nil {
			about = err.Error()
		} else {
			about = p.About
		}
		lines = append(lines, name+"\t"+about)
	}
	return lines
}
