package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/ccrun/ccrun/host/device/sim/preset"
)

// row is a published figure and how the simulator comes to its own.
type row struct {
	group     string // of rows that make one band
	what      string
	preset    string
	set       []string // changes of the preset, as --set takes them
	unit      string
	published float64
	bound     float64 // the largest relative error that is promised; 0 for none
	fitted    string  // the number that was chosen to meet this figure; "" if the row is held out
	source    string
	simulate  func(*preset.Preset) (float64, error)
}

// result is a row once it has been simulated.
type result struct {
	Group     string   `json:"group"`
	What      string   `json:"what"`
	Preset    string   `json:"preset"`
	Set       []string `json:"set,omitempty"`
	Unit      string   `json:"unit"`
	Published float64  `json:"published"`
	Simulated float64  `json:"simulated"`
	Error     float64  `json:"error"`           // relative, of the simulated figure
	Bound     float64  `json:"bound,omitempty"` // of its absolute value, if one is promised
	Within    bool     `json:"within"`
	HeldOut   bool     `json:"held_out"`
	Fitted    string   `json:"fitted,omitempty"`
	Source    string   `json:"source"`
}

// run simulates the row.
func (r *row) run() (result, error) {
	out := result{
		Group: r.group, What: r.what, Preset: r.preset, Set: r.set, Unit: r.unit,
		Published: r.published, Bound: r.bound, HeldOut: r.fitted == "", Fitted: r.fitted, Source: r.source,
	}
	p, err := r.machine()
	if err != nil {
		return out, fmt.Errorf("%s: %w", r.what, err)
	}
	if out.Simulated, err = r.simulate(p); err != nil {
		return out, fmt.Errorf("%s: %w", r.what, err)
	}
	out.Error = out.Simulated/r.published - 1
	out.Within = r.bound == 0 || math.Abs(out.Error) <= r.bound
	return out, nil
}

// machine is the preset with the row's changes.
func (r *row) machine() (*preset.Preset, error) {
	p, err := preset.Find(r.preset)
	if err != nil {
		return nil, err
	}
	for _, assignment := range r.set {
		if err := p.Set(assignment); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// band is what a group of rows says of a preset.
type band struct {
	Preset, What, Source string
	Error                float64
	HeldOut              bool
}

// bands gives, for each preset, the largest error of each group's rows that
// are held out and of those that something was fitted to, in the rows' order.
// Rows that needed a changed preset make a band of their own that says so.
func bands(results []result) []band {
	var presets []string
	for _, r := range results {
		index(&presets, r.Preset)
	}
	var all []band
	for _, preset := range presets {
		for _, r := range results {
			if r.Preset == preset {
				all = widen(all, &r)
			}
		}
	}
	return all
}

// widen adds a row to the band that it belongs to.
func widen(all []band, r *result) []band {
	b := band{Preset: r.Preset, What: r.Group, Source: r.Source, HeldOut: r.HeldOut, Error: math.Abs(r.Error)}
	if len(r.Set) > 0 {
		b.What += ", with " + strings.Join(r.Set, ", ")
	}
	for i := range all {
		known := &all[i]
		if known.Preset != b.Preset || known.What != b.What || known.HeldOut != b.HeldOut {
			continue
		}
		known.Error = max(known.Error, b.Error)
		if !strings.Contains(known.Source, b.Source) {
			known.Source += "; " + b.Source
		}
		return all
	}
	return append(all, b)
}
