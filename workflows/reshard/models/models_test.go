package models

import (
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

func load(t testing.TB, name string) *Model {
	t.Helper()
	m, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestParameterCounts: the models have as many parameters as are published.
func TestParameterCounts(t *testing.T) {
	for _, c := range []struct {
		name                     string
		parameters               int64
		tensors, layers, experts int
	}{
		{"llama3-8b", 8_030_261_248, 291, 32, 0},
		{"qwen3-moe-30b", 30_532_122_624, 18_867, 48, 128},
	} {
		m := load(t, c.name)
		sum := int64(0)
		for i := range m.Tensors {
			n := int64(1)
			for _, size := range m.Tensors[i].Shape {
				n *= size
			}
			sum += n
		}
		if sum != c.parameters || m.Parameters != sum || len(m.Tensors) != c.tensors || m.Layers != c.layers || m.Experts != c.experts {
			t.Errorf("%s: %d parameters in %d tensors, %d layers, %d experts", c.name, sum, len(m.Tensors), m.Layers, m.Experts)
		}
	}
	if _, err := Load("gpt2"); err == nil || err.Error() != `no model "gpt2"; there are llama3-8b, qwen3-moe-30b` {
		t.Error(err)
	}
}

func TestNamesAreFiles(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("files %v, names %v", names, Names())
	}
}

func TestTensors(t *testing.T) {
	m := load(t, "qwen3-moe-30b")
	seen := make(map[string]bool)
	for _, tensor := range m.Tensors {
		if seen[tensor.Name] {
			t.Errorf("%s is there twice", tensor.Name)
		}
		seen[tensor.Name] = true
	}
	for _, c := range []struct {
		text          string
		split         Split
		layer, expert int
	}{
		{"model.embed_tokens.weight=151936x2048:bf16", Column, 0, -1},
		{"model.layers.0.self_attn.q_norm.weight=128:bf16", Replicated, 0, -1},
		{"model.layers.47.self_attn.o_proj.weight=2048x4096:bf16", Row, 47, -1},
		{"model.layers.5.mlp.gate.weight=128x2048:bf16", Replicated, 5, -1},
		{"model.layers.9.mlp.experts.127.down_proj.weight=2048x768:bf16", Row, 9, 127},
		{"lm_head.weight=151936x2048:bf16", Column, 47, -1},
	} {
		i := slices.IndexFunc(m.Tensors, func(t Tensor) bool { return t.Tensor.String() == c.text })
		if i < 0 {
			t.Errorf("no %s", c.text)
			continue
		}
		if got := m.Tensors[i]; got.Split != c.split || got.Layer != c.layer || got.Expert != c.expert {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{`{`, "unexpected end"},
		{`{"dtype": "f12"}`, `element type "f12"`},
		{`{"dtype": "f32", "parameters": 7, "groups": [{"tensors": [{"name": "a", "shape": [2, 3]}]}]}`, "its tensors have 6 parameters, and it says 7"},
		{`{"dtype": "f32", "groups": [{"tensors": [{"name": "a", "split": "both"}]}]}`, `a: unknown split "both"`},
		{`{"dtype": "f32", "groups": [{"groups": [{"prefix": "x%d", "of": "heads"}]}]}`, `group "x%d" is of "heads"`},
	} {
		if _, err := read([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: got %v, want %s", c.text, err, c.message)
		}
	}
}

func TestLayouts(t *testing.T) {
	m := load(t, "qwen3-moe-30b")
	find := func(name string) *Tensor {
		return &m.Tensors[slices.IndexFunc(m.Tensors, func(t Tensor) bool { return strings.HasSuffix(t.Name, name) })]
	}
	for _, c := range []struct{ scheme, tensor, want string }{
		{"fsdp=16", "layers.3.input_layernorm.weight", "16:S0"},
		{"dp=2,tp=8@16", "layers.3.self_attn.q_proj.weight", "2x8@16:R,S0"},
		{"fsdp=2,tp=8", "layers.3.self_attn.q_proj.weight", "2x8:S0,S0"},
		{"fsdp=2,tp=8", "layers.3.self_attn.o_proj.weight", "2x8:S0,S1"},
		{"fsdp=2,tp=8", "layers.3.mlp.gate.weight", "2x8:S0,R"},
		{"ep=16", "layers.3.self_attn.o_proj.weight", "16:R"},
		{"ep=16", "layers.3.mlp.experts.0.up_proj.weight", "1:R"},
		{"ep=16", "layers.3.mlp.experts.127.up_proj.weight", "1@15:R"},
		{"eptp=16", "layers.3.self_attn.o_proj.weight", "16:S1"},
		{"eptp=16@4", "layers.3.mlp.experts.8.up_proj.weight", "1@5:R"},
		{"ep=4,tp=2", "layers.3.mlp.experts.32.down_proj.weight", "2@2:S1"},
		{"dp=2,ep=4", "layers.3.mlp.experts.32.down_proj.weight", "2@1,5:R"},
		{"pp=4,tp=2", "embed_tokens.weight", "2:S0"},
		{"pp=4,tp=2", "layers.12.mlp.gate.weight", "2@2:R"},
		{"pp=4,tp=2", "lm_head.weight", "2@6:S0"},
		{"pp=2,ep=2,tp=2", "layers.24.mlp.experts.127.up_proj.weight", "2@6:S0"},
		{"pp=2,ep=2", "layers.24.mlp.experts.127.up_proj.weight", "1@3:R"},
	} {
		s, err := ParseScheme(c.scheme)
		if err != nil || s.String() != c.scheme {
			t.Errorf("%s: %v %v", c.scheme, s, err)
			continue
		}
		l := m.Layout(s, find(c.tensor))
		if l.String() != c.want {
			t.Errorf("%s in %s: %s, want %s", c.tensor, s, l, c.want)
		}
	}
	for _, c := range []struct{ scheme, message string }{
		{"tp", `"tp" is no role and size; write it like fsdp=2,tp=8`},
		{"tp=", `bad dimension ""`},
		{"xp=2", `"xp" is no role; there are [dp fsdp tp ep eptp pp]`},
		{"tp=2@1,1", "rank 1 is in it twice"},
		{"dp=1,dp=1,dp=1,dp=1", "a mesh has 1 to 3"},
	} {
		if _, err := ParseScheme(c.scheme); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: got %v, want %s", c.scheme, err, c.message)
		}
	}
}

// schemes are the pairs that whole models are moved between.
var schemes = [][2]string{
	{"fsdp=16", "eptp=16"}, {"fsdp=16", "tp=16@16"}, {"fsdp=2,tp=8", "eptp=16@16"}, {"fsdp=8,pp=2", "dp=2,ep=8"}, {"pp=2,ep=8", "tp=16"}, {"fsdp=16", "ep=16@16"},
}

func planOf(t testing.TB, m *Model, from, to string) *reshard.Plan {
	t.Helper()
	source, err := ParseScheme(from)
	if err != nil {
		t.Fatal(err)
	}
	target, err := ParseScheme(to)
	if err != nil {
		t.Fatal(err)
	}
	moves, err := m.Moves(source, target)
	if err != nil {
		t.Fatal(err)
	}
	p, err := reshard.New(moves, reshard.Options{RanksPerNode: 8})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWholeModels: the cells of all tensors are the model, and every rank is
// written what it is to have.
func TestWholeModels(t *testing.T) {
	for _, name := range Names() {
		m := load(t, name)
		for _, pair := range schemes {
			p := planOf(t, m, pair[0], pair[1])
			s := p.Summary()
			if s.Cut != 2*m.Parameters {
				t.Errorf("%s from %s to %s: cells of %d bytes, want %d", name, pair[0], pair[1], s.Cut, 2*m.Parameters)
			}
			got, want := written(p), int64(0)
			for i := range p.Moves {
				for _, rank := range p.Moves[i].Target.Mesh.Ranks {
					want += p.Moves[i].Tensor.Bytes(p.Moves[i].Target, rank)
				}
			}
			if got != want {
				t.Errorf("%s from %s to %s: %d bytes are written, want %d", name, pair[0], pair[1], got, want)
			}
			t.Logf("%s from %s to %s: entries %v, bytes %v", name, pair[0], pair[1], s.Entries, s.Bytes)
		}
	}
}

func written(p *reshard.Plan) int64 {
	bytes := int64(0)
	for i := range p.Entries {
		bytes += p.Entries[i].Bytes() * int64(len(p.Entries[i].Destinations))
	}
	return bytes
}

func TestDtype(t *testing.T) {
	for _, tensor := range load(t, "llama3-8b").Tensors {
		if tensor.Dtype != ccrun.BF16 {
			t.Errorf("%s is %s", tensor.Name, tensor)
		}
	}
}

// BenchmarkPlan plans all of Qwen3-30B-A3B, 18,867 tensors.
func BenchmarkPlan(b *testing.B) {
	m := load(b, "qwen3-moe-30b")
	for _, pair := range schemes {
		b.Run(pair[0]+" to "+pair[1], func(b *testing.B) {
			b.ReportAllocs()
			var p *reshard.Plan
			for b.Loop() {
				p = planOf(b, m, pair[0], pair[1])
			}
			b.ReportMetric(float64(len(p.Entries)), "entries")
		})
	}
}
