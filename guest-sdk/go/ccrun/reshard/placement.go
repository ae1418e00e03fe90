package reshard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// PlacementKind is what the ranks along a mesh dimension hold.
type PlacementKind uint8

// The kinds.
const (
	Replicate PlacementKind = iota // the same
	Shard                          // consecutive parts of a tensor dimension
	Partial                        // parts of the same shape, which are to be added up, or the like
)

// Placement is how a tensor lies along one mesh dimension. Its text form is
// "R", "S0" for a tensor's first dimension, "P(sum)".
type Placement struct {
	Kind PlacementKind
	Dim  int         // of the tensor, if it is sharded
	Red  ccrun.RedOp // if it is partial
}

// Placements is one for each mesh dimension, the outermost first; "S0,R" as
// text. Several that shard the same tensor dimension shard what the outer ones
// have left.
type Placements []Placement

var redOps = [...]string{ccrun.Sum: "sum", ccrun.Prod: "prod", ccrun.Min: "min", ccrun.Max: "max", ccrun.Avg: "avg"}

// ParsePlacements reads the text form of placements.
func ParsePlacements(text string) (Placements, error) {
	var placements Placements
	for _, part := range strings.Split(text, ",") {
		p, ok := parsePlacement(part)
		if !ok {
			return nil, fmt.Errorf("placements %q: %q is none; write one for each mesh dimension, like S0,R,P(sum)", text, part)
		}
		placements = append(placements, p)
	}
	return placements, nil
}

func parsePlacement(text string) (Placement, bool) {
	if text == "R" {
		return Placement{Kind: Replicate}, true
	}
	if dim, ok := strings.CutPrefix(text, "S"); ok {
		n, err := parseCount(dim)
		return Placement{Kind: Shard, Dim: n}, err == nil
	}
	if red, ok := strings.CutPrefix(text, "P("); ok {
		red, closed := strings.CutSuffix(red, ")")
		op := slices.Index(redOps[:], red)
		return Placement{Kind: Partial, Red: ccrun.RedOp(max(op, 0))}, closed && op >= 0
	}
	return Placement{}, false
}

// String is the placement as text.
func (p Placement) String() string {
	switch p.Kind {
	case Replicate:
		return "R"
	case Shard:
		return "S" + strconv.Itoa(p.Dim)
	case Partial:
		if int(p.Red) < len(redOps) {
			return "P(" + redOps[p.Red] + ")"
		}
	}
	return fmt.Sprintf("placement %d(%d,%d)", p.Kind, p.Dim, p.Red)
}

// String is the placements as text.
func (p Placements) String() string {
	texts := make([]string, len(p))
	for i := range p {
		texts[i] = p[i].String()
	}
	return strings.Join(texts, ",")
}
