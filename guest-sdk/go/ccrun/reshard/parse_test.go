package reshard_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

func TestParsers(t *testing.T) {
	for _, c := range []struct {
		text string
		want reshard.Mesh
	}{
		{"4", reshard.NewMesh(0, 4)},
		{"2x8", reshard.NewMesh(0, 2, 8)},
		{"2x8@16", reshard.NewMesh(16, 2, 8)},
		{"1x2x3@7", reshard.NewMesh(7, 1, 2, 3)},
		{"2x2@3,7,1,5", reshard.Mesh{Dims: []int{2, 2}, Ranks: []int{3, 7, 1, 5}}},
		{"1@5", reshard.Mesh{Dims: []int{1}, Ranks: []int{5}}},
	} {
		got, err := reshard.ParseMesh(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) || got.String() != c.text {
			t.Errorf("mesh %s: %v %v", c.text, got, err)
		}
	}
	placements := reshard.Placements{{Kind: reshard.Shard, Dim: 12}, {}, {Kind: reshard.Partial, Red: ccrun.Avg}}
	got, err := reshard.ParsePlacements("S12,R,P(avg)")
	if err != nil || !reflect.DeepEqual(got, placements) || got.String() != "S12,R,P(avg)" {
		t.Errorf("placements: %v %v", got, err)
	}
	w, err := reshard.ParseTensor("model.w=3x5:bf16")
	if want := (reshard.Tensor{Name: "model.w", Dtype: ccrun.BF16, Shape: []int64{3, 5}}); err != nil || !reflect.DeepEqual(w, want) || w.String() != "model.w=3x5:bf16" {
		t.Errorf("tensor: %v %v", w, err)
	}
}

func TestParsersRefuse(t *testing.T) {
	for _, c := range []struct{ kind, text, message string }{
		{"mesh", "", `bad dimension ""; write it like 2x8, or 2x8@16 to begin at rank 16`},
		{"mesh", "2x", `bad dimension ""`},
		{"mesh", "2X8", `bad dimension "2X8"`},
		{"mesh", "02", `bad dimension "02"`},
		{"mesh", "+2", `bad dimension "+2"`},
		{"mesh", "0", "dimensions are 1 or more"},
		{"mesh", "1048577", "ranks at most 1048576"},
		{"mesh", "1024x1024x2", "ranks at most 1048576"},
		{"mesh", "2x2x2x2", "it has 4 dimensions; a mesh has 1 to 3"},
		{"mesh", "2@", "bad rank"},
		{"mesh", "2@-1", "bad rank"},
		{"mesh", "2@1048575", "rank 1048576 is not from 0 to 1048575"},
		{"mesh", "3@1,2", "it has 3 places and 2 ranks"},
		{"mesh", "2@1,1", "rank 1 is in it twice"},
		{"placements", "", `"" is none; write one for each mesh dimension, like S0,R,P(sum)`},
		{"placements", "S", `"S" is none`},
		{"placements", "S-1", `"S-1" is none`},
		{"placements", "R,", `"" is none`},
		{"placements", "P", `"P" is none`},
		{"placements", "P(sum", `"P(sum" is none`},
		{"placements", "P(mean)", `"P(mean)" is none`},
		{"layout", "2", "has no colon"},
		{"layout", "2:R,R", "2 placements for 1 mesh dimensions"},
		{"tensor", "f32", "write shape and type, like 4096x4096:bf16"},
		{"tensor", "f32[2]", "write shape and type"},
		{"tensor", "2:f31", `element type "f31" is none of u8 i32`},
		{"tensor", "2:f32:64", `element type "f32:64" is none`},
		{"tensor", "2:", `element type "" is none`},
		{"tensor", "2x:f32", `bad dimension ""`},
		{"tensor", "-2:f32", `bad dimension "-2"`},
		{"tensor", "9223372036854775807:f32", "more than 2^63-1 bytes"},
	} {
		if err := parseAs(c.kind, c.text); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s %q: got %v, want %s", c.kind, c.text, err, c.message)
		}
	}
}

func parseAs(kind, text string) error {
	var err error
	switch kind {
	case "mesh":
		_, err = reshard.ParseMesh(text)
	case "placements":
		_, err = reshard.ParsePlacements(text)
	case "layout":
		_, err = reshard.ParseLayout(text)
	case "tensor":
		_, err = reshard.ParseTensor(text)
	}
	return err
}

// FuzzParseLayout: what is read is sound, and what is printed is read as the
// same.
func FuzzParseLayout(f *testing.F) {
	for _, seed := range []string{"2x8@16:S0,R", "4:P(sum)", "2x2@3,7,1,5:S0,S0", "1x1x1:R,R,R", "9x9:R", ":", "2x", "1048576:R"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := reshard.ParseLayout(text)
		if err != nil {
			return
		}
		if err := l.Check(1 << 31); err != nil {
			t.Fatalf("%q is read as %s: %v", text, l, err)
		}
		again, err := reshard.ParseLayout(l.String())
		if err != nil || !reflect.DeepEqual(again, l) || again.String() != l.String() {
			t.Fatalf("%q is printed as %s, which is read as %s: %v", text, l, again, err)
		}
	})
}

// FuzzParseTensor is the same for tensors.
func FuzzParseTensor(f *testing.F) {
	for _, seed := range []string{"3x5:bf16", "w=:f32", "0x9223372036854775807:u8", "1152921504606846975:f64", "a=b=1:i32", "1::f32", "=:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tensor, err := reshard.ParseTensor(text)
		if err != nil {
			return
		}
		if again, err := reshard.ParseTensor(tensor.String()); err != nil || !reflect.DeepEqual(again, tensor) {
			t.Fatalf("%q is printed as %s, which is read as %s: %v", text, tensor, again, err)
		}
	})
}

// FuzzNew plans what it is given, or refuses it: it neither panics nor takes
// for ever, and small plans carry every byte.
func FuzzNew(f *testing.F) {
	f.Add("2x3:S0,R", "4@2:S1", "7x5:f32", int64(16), 2, uint8(1))
	f.Add("2x2:P(sum),S0", "4:R", "9:bf16", int64(0), 0, uint8(0))
	f.Add("4:S0", "4:S1", "0x4:u8", int64(1), 1, uint8(2))
	f.Add("1:R", "1:R", "4611686018427387904x2:u8", int64(1), 1, uint8(2))
	f.Add("1:R", "2:S2", "1000000x1000000x1000:f64", int64(1<<40), 1, uint8(2))
	f.Fuzz(func(t *testing.T, source, target, shape string, most int64, nodes int, split uint8) {
		s, err1 := reshard.ParseLayout(source)
		d, err2 := reshard.ParseLayout(target)
		w, err3 := reshard.ParseTensor(shape)
		if err1 != nil || err2 != nil || err3 != nil || s.Mesh.Size()+d.Mesh.Size() > 100 || len(w.Shape) > 8 {
			return
		}
		elements := int64(1)
		for _, n := range w.Shape {
			elements *= min(max(n, 1), 1<<10) // what is large is planned, and not carried out
			elements = min(elements, 1<<10)
		}
		if most > 0 && elements == 1<<10 {
			most = max(most, 1<<54) // few pieces, or a refusal
		}
		p, err := reshard.New(reshard.Moves(s, d, []reshard.Tensor{w}), reshard.Options{MaxEntryBytes: most, RanksPerNode: nodes, Split: reshard.Split(split)})
		if err == nil && elements < 1<<10 {
			verify(t, p)
		}
	})
}
