package abi

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "append what is new to testdata/table.golden")

const goldenPath = "testdata/table.golden"

// promises are the lines of a text form that may never change.
func promises(text string) []string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if line != "" && line[0] != ' ' {
			kept = append(kept, line)
		}
	}
	return kept
}

// firstBroken finds the first line of old that is not, in order, in new.
func firstBroken(old, new []string) (string, bool) {
	for _, line := range new {
		if len(old) > 0 && old[0] == line {
			old = old[1:]
		}
	}
	if len(old) > 0 {
		return old[0], true
	}
	return "", false
}

func TestTableIsAppendOnly(t *testing.T) {
	var text bytes.Buffer
	if err := WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(goldenPath)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	if line, broken := firstBroken(promises(string(golden)), promises(text.String())); broken {
		t.Fatalf("the table no longer promises %q: guests that were compiled against it would break; append a new row instead", line)
	}
	if bytes.Equal(golden, text.Bytes()) {
		return
	}
	if !*rewrite {
		t.Fatalf("the table has grown or is explained differently: go test ./host/abi -rewrite, then make generate")
	}
	if err := os.WriteFile(goldenPath, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAppendOnlyCheckSeesChanges(t *testing.T) {
	old := []string{"a", "b", "c"}
	for _, c := range []struct {
		name   string
		new    []string
		broken string
	}{
		{"same", []string{"a", "b", "c"}, ""},
		{"appended", []string{"a", "b", "x", "c", "d"}, ""},
		{"removed", []string{"a", "c"}, "b"},
		{"changed", []string{"a", "b", "C"}, "c"},
		{"reordered", []string{"b", "a", "c"}, "b"},
	} {
		if got, _ := firstBroken(old, c.new); got != c.broken {
			t.Errorf("%s: broken line %q, want %q", c.name, got, c.broken)
		}
	}
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func TestRowsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for i := range Table {
		r := &Table[i]
		if !snakeCase.MatchString(r.Name) || seen[r.Name] {
			t.Errorf("%q: not a new name in snake case", r.Name)
		}
		seen[r.Name] = true
		if r.Since < 1 || r.Since > Version {
			t.Errorf("%s: since version %d of %d", r.Name, r.Since, Version)
		}
		if len(r.Doc) < 10 || !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("%s: its doc is not a sentence: %q", r.Name, r.Doc)
		}
		if r.Devices == "" || r.Family == "" {
			t.Errorf("%s: family %q, devices %q", r.Name, r.Family, r.Devices)
		}
		for _, e := range r.Errnos {
			if int(e) >= len(Errnos) || e == OK || e == Fault {
				t.Errorf("%s: errno %d does not belong in a row's list", r.Name, e)
			}
		}
	}
}

func TestErrnosAreNumberedInOrder(t *testing.T) {
	for i, e := range Errnos {
		if int(e.Errno) != i || !snakeCase.MatchString(e.Name) || e.Doc == "" {
			t.Errorf("errno %d is listed as %+v", i, e)
		}
	}
	if got := Errno(9999).String(); got != "unknown" {
		t.Errorf("an unknown errno prints as %q", got)
	}
}

var scalarBytes = map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8}

func TestParametersAreConsistent(t *testing.T) {
	for i := range Table {
		names := map[string]bool{}
		for j := range Table[i].Params {
			p := &Table[i].Params[j]
			if complaint := paramComplaint(&Table[i], j); complaint != "" {
				t.Errorf("%s: parameter %s: %s", Table[i].Name, p.Name, complaint)
			}
			if !snakeCase.MatchString(p.Name) || names[p.Name] {
				t.Errorf("%s: %q is not a new name in snake case", Table[i].Name, p.Name)
			}
			names[p.Name] = true
		}
	}
}

// paramComplaint says what is wrong with parameter j of r, "" if nothing.
func paramComplaint(r *Row, j int) string {
	p := &r.Params[j]
	wantVal := map[Role]ValType{Buffer: I64, Stream: I64, EventH: I64, Size: I64, Timeout: I64, Comm: I64, Pipeline: I64}
	if p.Role != Scalar && p.Val != wantVal[p.Role] {
		return "wrong WebAssembly type " + p.Val.String()
	}
	switch p.Role {
	case Enum:
		if _, ok := EnumNamed(p.Type); !ok {
			return "no enumeration " + p.Type
		}
	case In, Out, InStruct:
		size := scalarBytes[p.Type]
		if s, ok := StructNamed(p.Type); ok {
			size = s.Bytes
		}
		if size == 0 || size != p.Bytes {
			return "size differs from that of " + p.Type
		}
	case Len:
		if j == 0 || r.Params[j-1].Role != In && r.Params[j-1].Role != Out {
			return "a length without a pointer before it"
		}
		if p.Name != r.Params[j-1].Name+"_len" {
			return "want the pointer's name with _len"
		}
	}
	return ""
}

func TestStructLayouts(t *testing.T) {
	for _, s := range Structs {
		end := 0
		for _, f := range s.Fields {
			size := scalarBytes[f.Type]
			if size == 0 || f.Offset != end || f.Offset%size != 0 || f.Doc == "" {
				t.Errorf("%s.%s: %s at %d, want it documented, aligned and at %d", s.Name, f.Name, f.Type, f.Offset, end)
			}
			end = f.Offset + size
		}
		if end != s.Bytes || s.Bytes%8 != 0 || s.Doc == "" {
			t.Errorf("%s: fields end at %d of %d bytes", s.Name, end, s.Bytes)
		}
	}
}

func TestLookup(t *testing.T) {
	if r, ok := Lookup("put"); !ok || !r.Returns(Stale) || r.Returns(TimedOut) || r.Returns(Fault) {
		t.Errorf("put: %+v", r)
	}
	if r, ok := Lookup("world"); !ok || !r.Returns(Fault) {
		t.Errorf("world: %+v", r)
	}
	if _, ok := Lookup("nothing"); ok {
		t.Error("found a function that is not there")
	}
}
