package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// Role is what the ranks along one dimension of a mesh share.
type Role string

// The roles.
const (
	DP   Role = "dp"   // nothing: all of them have everything
	FSDP Role = "fsdp" // every parameter, by its first dimension
	TP   Role = "tp"   // parameters, by their splits
	EP   Role = "ep"   // the experts, each of which one of them has; all have everything else
	EPTP Role = "eptp" // the experts likewise, and everything else by its split
	PP   Role = "pp"   // the layers, each of which one of them has
)

var roles = []Role{DP, FSDP, TP, EP, EPTP, PP}

// Scheme lays a model out: a mesh, and a role for each of its dimensions. As
// text it is "fsdp=2,tp=8", from rank 16 on "fsdp=2,tp=8@16".
type Scheme struct {
	Mesh  reshard.Mesh
	Roles []Role
}

// ParseScheme reads the text form of a scheme.
func ParseScheme(text string) (Scheme, error) {
	list, ranks, listed := strings.Cut(text, "@")
	var s Scheme
	var sizes []string
	for _, part := range strings.Split(list, ",") {
		role, size, ok := strings.Cut(part, "=")
		if !ok {
			return Scheme{}, fmt.Errorf("scheme %q: %q is no role and size; write it like fsdp=2,tp=8, with @16 behind it to begin at rank 16", text, part)
		}
		s.Roles, sizes = append(s.Roles, Role(role)), append(sizes, size)
	}
	mesh := strings.Join(sizes, "x")
	if listed {
		mesh += "@" + ranks
	}
	var err error
	if s.Mesh, err = reshard.ParseMesh(mesh); err != nil {
		return Scheme{}, fmt.Errorf("scheme %q: %w", text, err)
	}
	return s, s.check()
}

func (s Scheme) check() error {
	if err := s.Mesh.Check(); err != nil {
		return fmt.Errorf("scheme %s: %w", s, err)
	}
	if len(s.Roles) != len(s.Mesh.Dims) {
		return fmt.Errorf("scheme %s: %d roles for %d mesh dimensions; give one each", s, len(s.Roles), len(s.Mesh.Dims))
	}
	for _, role := range s.Roles {
		if !slices.Contains(roles, role) {
			return fmt.Errorf("scheme %s: %q is no role; there are %v", s, string(role), roles)
		}
	}
	return nil
}

// String is the scheme as text.
func (s Scheme) String() string {
	texts := make([]string, len(s.Roles))
	for i, role := range s.Roles {
		size := "?"
		if i < len(s.Mesh.Dims) {
			size = strconv.Itoa(s.Mesh.Dims[i])
		}
		texts[i] = string(role) + "=" + size
	}
	text := strings.Join(texts, ",")
	if _, ranks, listed := strings.Cut(s.Mesh.String(), "@"); listed {
		text += "@" + ranks
	}
	return text
}

// Layout is how a scheme lays a tensor of the model out. Experts and layers are
// dealt out in blocks, so the layout of one may be on a part of the mesh.
func (m *Model) Layout(s Scheme, t *Tensor) reshard.Layout {
	l := reshard.Layout{Mesh: s.Mesh, Placements: make(reshard.Placements, 0, len(s.Roles))}
	for _, role := range s.Roles {
		dim := len(l.Placements)
		switch {
		case role == PP:
			l.Mesh = block(l.Mesh, dim, t.Layer, m.Layers)
		case (role == EP || role == EPTP) && t.Expert >= 0:
			l.Mesh = block(l.Mesh, dim, t.Expert, m.Experts)
		default:
			l.Placements = append(l.Placements, t.placement(role))
		}
	}
	if len(l.Placements) == 0 { // one rank is left
		l.Placements = reshard.Placements{{}}
	}
	return l
}

// placement is how the tensor lies along a mesh dimension that deals nothing out.
func (t *Tensor) placement(role Role) reshard.Placement {
	byFirst := reshard.Placement{Kind: reshard.Shard, Dim: 0}
	switch {
	case role == FSDP && len(t.Shape) > 0:
		return byFirst
	case role != TP && role != EPTP:
		return reshard.Placement{}
	case t.Split == Column:
		return byFirst
	case t.Split == Row:
		return reshard.Placement{Kind: reshard.Shard, Dim: 1}
	}
	return reshard.Placement{}
}

// block is the part of a mesh that has the i-th of n, dealt out in blocks along
// dimension dim.
func block(m reshard.Mesh, dim, i, n int) reshard.Mesh {
	return m.Slice(dim, i*m.Dims[dim]/max(n, 1))
}

// Moves takes the model from one scheme to another.
func (m *Model) Moves(source, target Scheme) ([]reshard.Move, error) {
	for _, s := range []Scheme{source, target} {
		if err := s.check(); err != nil {
			return nil, err
		}
	}
	moves := make([]reshard.Move, len(m.Tensors))
	for i := range m.Tensors {
		t := &m.Tensors[i]
		moves[i] = reshard.Move{Tensor: t.Tensor, Source: m.Layout(source, t), Target: m.Layout(target, t)}
	}
	return moves, nil
}
