package gen

import (
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	stale, err := Drift("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stale {
		t.Errorf("%s differs from what host/abi says: run make generate", path)
	}
}

func TestDriftSeesMissingFiles(t *testing.T) {
	root := t.TempDir()
	stale, err := Drift(root)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := Files()
	if len(stale) != len(files) {
		t.Errorf("in an empty directory %d of %d files are stale", len(stale), len(files))
	}
	if err := Write(root); err != nil {
		t.Fatal(err)
	}
	if stale, _ := Drift(root); len(stale) != 0 {
		t.Errorf("just written and stale: %v", stale)
	}
}

// The enumerations are those of package op, number by number.
func TestEnumsAgreeWithOp(t *testing.T) {
	for _, e := range []struct {
		name  string
		first uint32
		text  func(uint32) string
	}{
		{"kind", uint32(op.Copy), func(v uint32) string { return op.Kind(v).String() }},
		{"dtype", 0, func(v uint32) string { return op.Dtype(v).String() }},
		{"redop", 0, func(v uint32) string { return op.RedOp(v).String() }},
		{"collective", 0, func(v uint32) string { return op.CollectiveOp(v).String() }},
	} {
		enum, ok := abi.EnumNamed(e.name)
		if !ok {
			t.Fatalf("no enumeration %s", e.name)
		}
		next := e.first
		for _, v := range enum.Values {
			if v.Value != next || e.text(v.Value) != v.Name {
				t.Errorf("%s %d is %q in the table and %q in package op", e.name, v.Value, v.Name, e.text(v.Value))
			}
			next++
		}
		if name := e.text(next); name != "unknown" {
			t.Errorf("the table lacks %s %d, %q", e.name, next, name)
		}
	}
}

func TestSpelling(t *testing.T) {
	for _, c := range []struct{ snake, upper, lower string }{
		{"put", "Put", "put"},
		{"buffer_alloc", "BufferAlloc", "bufferAlloc"},
		{"reserved2", "Reserved2", "reserved2"},
	} {
		if camel(c.snake) != c.upper || lowerCamel(c.snake) != c.lower {
			t.Errorf("%s: %s %s", c.snake, camel(c.snake), lowerCamel(c.snake))
		}
	}
}

// What guests in C submit, written down: a builder that sets the wrong field
// would agree with itself.
var goldenBuilders = []string{`
static inline ccrun_op_t ccrun_op_fill(uint64_t buffer, int64_t offset, int64_t bytes, uint32_t dtype, uint64_t seed) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_FILL;
  o.dst = (uint64_t)buffer;
  o.dst_offset = (uint64_t)offset;
  o.bytes = (uint64_t)bytes;
  o.dtype = (uint8_t)dtype;
  o.value = (uint64_t)seed;
  return o;
}
`, `
static inline ccrun_op_t ccrun_op_send(uint32_t peer, uint64_t src, int64_t src_offset, int64_t bytes, uint32_t channel) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_SEND;
  o.peer = (uint32_t)peer;
  o.src = (uint64_t)src;
  o.src_offset = (uint64_t)src_offset;
  o.bytes = (uint64_t)bytes;
  o.slot = (uint32_t)channel;
  return o;
}
`, `
static inline ccrun_op_t ccrun_op_wait(uint32_t peer, uint32_t slot, uint64_t value) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_WAIT;
  o.peer = (uint32_t)peer;
  o.slot = (uint32_t)slot;
  o.value = (uint64_t)value;
  return o;
}
`}

func TestBuildersSetTheRightFields(t *testing.T) {
	header := string(cHeader())
	for _, want := range goldenBuilders {
		if !strings.Contains(header, want) {
			t.Errorf("ccrun.h lacks%s", want)
		}
	}
}

// Every operation that has a function of its own has a builder in C, and no
// other function has one.
func TestBuilderKinds(t *testing.T) {
	var got []string
	for i := range abi.Table {
		if kind, ok := builderKind(&abi.Table[i]); ok {
			got = append(got, kind)
		}
	}
	want := []string{"fill", "event_record", "event_wait", "copy", "put", "get", "signal", "wait", "send", "recv"}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
