package main

import (
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/ccrun/ccrun/"

// importRule says what a package may import of this repository. A pattern
// "x/..." stands for x and everything below it; the first rule that matches a
// package holds.
type importRule struct {
	pkg  string
	ours []string
	why  string
}

// importRules is the import graph, leaves first.
var importRules = []importRule{
	{"host/abi", nil, "the ABI table is a leaf: everything is derived from it, so it depends on nothing"},
	{"host/op", nil, "the vocabulary is a leaf, so that host, devices and traces can share it"},
	{"host/flight", nil, "the recorder is a leaf: it stores numbers and knows nothing of what they mean"},
	{"host", nil, "package host holds the glossary only"},
	{"host/abi/gen/...", []string{"host/abi", "host/op", "host/abi/gen/..."}, "the generator reads the table and checks it against the vocabulary"},
	{"host/device", []string{"host/op", "host/flight"}, "device is interfaces only: implementations and callers meet here"},
	{"host/device/devicetest", []string{"host/device", "host/op", "host/flight"}, "the conformance suite knows no device, so that all pass the same one"},
	{"host/device/all", []string{"host/device", "host/device/..."}, "the one list of devices"},
	{"host/device/cpu", []string{"host/device", "host/op", "host/flight", "host/device/kernels"}, "the cpu device computes on the processor"},
	{"host/device/sim/event", nil, "the event queue knows times and numbers only"},
	{"host/device/sim/network", nil, "fair sharing knows links and flows only"},
	{"host/device/sim/nccl", []string{"host/op"}, "a model of times, for whatever asks"},
	{"host/device/sim/preset", []string{"host/device/sim/nccl", "host/op"}, "numbers of machines, and nothing of how they are used"},
	{"host/device/sim/validate", []string{"host/...", "runner/..."}, "validation runs schedules on the simulator as a user would"},
	{"host/device/sim/peers", []string{"host/...", "runner/...", "guest-sdk/..."}, "the peer benchmark compares whole programs"},
	{"host/device/sim", []string{"host/device", "host/op", "host/flight", "host/device/kernels", "host/device/sim/..."}, "the simulator is a device like others; data is made by the same kernels as on cpu, so that it is the same"},
	{"host/check", []string{"host/op"}, "the checker is pure: it takes a recorded schedule and returns what it found"},
	{"host/device/kernels/...", []string{"host/op", "host/device/kernels/..."}, "kernels know memory and numbers, and nothing of ranks"},
	{"host/device/...", []string{"host/device", "host/op", "host/flight"}, "devices never import each other: what two of them share belongs to device, op or flight"},
	{"host/coll/peers/...", []string{"host/...", "runner", "guest-sdk/...", "workflows/..."}, "the peer benchmark compares whole programs"},
	{"host/coll/...", []string{"host/op"}, "schedules are pure: they take values and return values"},
	{"host/check", []string{"host/op"}, "the model check is pure: it takes a schedule, however it came to be known"},
	{"host/check/logged", []string{"host/check", "host/op", "host/coll", "host/device/oplog"}, "what is read of a log is a schedule, and a value"},
	{"host/pipeline/...", []string{"host/op"}, "bucket pipelines are pure: they take values and return values"},
	{"host/module", []string{"host/abi", "host/op", "host/flight", "host/device", "host/coll", "host/pipeline"}, "module decodes guest calls for whatever device it is given; it must not know which"},
	{"runner/...", []string{"host/...", "runner/..."}, "the runner carries runs out; what they mean is for traces, how they are asked for is for cmd"},
	{"traces/...", []string{"host/flight", "host/op", "traces/..."}, "traces reads flight files and must be able to read those of any runner"},
	{"guest-sdk", nil, "package guestsdk only carries the SDK's files"},
	{"guest-sdk/tck/cases/...", []string{"guest-sdk/go/..."}, "test guests see what every guest sees"},
	{"guest-sdk/tck/...", []string{"guest-sdk/..."}, "the toolchain table builds guests and runs nothing"},
	{"guest-sdk/go/...", []string{"guest-sdk/go/..."}, "a guest is built without the host's packages"},
	{"workflows/...", []string{"guest-sdk/go/...", "workflows/..."}, "a workflow sees what every guest sees"},
	{"cmd/ccrun", []string{"host/...", "runner/...", "traces/...", "guest-sdk/..."}, "the command sees all but workflows: they are content, not code of the program"},
}

// dependencyRule says who may import a module of others.
type dependencyRule struct {
	module string
	by     []string
	why    string
}

var dependencyRules = []dependencyRule{
	{"github.com/urfave/cli", []string{"cmd/ccrun"}, "flags are read in one place"},
	{"github.com/tetratelabs/wazero", []string{"host/module", "runner/..."}, "the rest must not depend on how Wasm is run"},
	{"go.opentelemetry.io", []string{"traces/..."}, "an OpenTelemetry release must touch one package"},
	{"google.golang.org/grpc", []string{"runner/...", "traces/..."}, "only the control plane and the exporters talk to others"},
	{"golang.org/x/term", []string{"cmd/ccrun"}, "only the command knows whether it has a terminal"},
	{"github.com/rogpeppe/go-internal", nil, "it is for tests"},
	{"github.com/cockroachdb/datadriven", nil, "it is for tests"},
}

func TestImportRules(t *testing.T) {
	for _, file := range sources(t) {
		for _, path := range file.imports() {
			if ours, ok := strings.CutPrefix(path, modulePath); ok {
				checkOwnImport(t, file, ours)
			} else if !file.test {
				checkDependency(t, file, path)
			}
		}
	}
}

func checkOwnImport(t *testing.T, file *sourceFile, ours string) {
	t.Helper()
	if ours == file.pkg {
		return // an external test of the package itself
	}
	rule := ruleOf(file.pkg)
	if rule == nil {
		t.Errorf("%s: package %s has no row in importRules\n\tadd one to cmd/ccrun/deps_test.go with what it may import and why", file.path, file.pkg)
		return
	}
	if !matchesAny(rule.ours, ours) && !(file.test && testMayImport(file.pkg, ours)) {
		t.Errorf("%s imports %s\n\t%s may import %v: %s", file.path, ours, file.pkg, rule.ours, rule.why)
	}
}

// testMayImport lists what tests may import beyond their package's rule.
func testMayImport(pkg, ours string) bool {
	switch {
	case ours == "host/device" || strings.HasPrefix(ours, "host/device/"): // the suite, and a real device to test against
		return strings.HasPrefix(pkg, "host/") || strings.HasPrefix(pkg, "runner")
	case strings.HasPrefix(ours, "guest-sdk/tck"): // guests to run
		return strings.HasPrefix(pkg, "runner") || strings.HasPrefix(pkg, "host/coll/peers")
	}
	return false
}

func checkDependency(t *testing.T, file *sourceFile, path string) {
	t.Helper()
	for _, rule := range dependencyRules {
		if path != rule.module && !strings.HasPrefix(path, rule.module+"/") {
			continue
		}
		if !matchesAny(rule.by, file.pkg) {
			t.Errorf("%s imports %s\n\tonly %v may: %s", file.path, path, rule.by, rule.why)
		}
	}
}

func ruleOf(pkg string) *importRule {
	for i := range importRules {
		if matchesAny([]string{importRules[i].pkg}, pkg) {
			return &importRules[i]
		}
	}
	return nil
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		tree, below := strings.CutSuffix(pattern, "/...")
		return pkg == tree || below && strings.HasPrefix(pkg, tree+"/")
	})
}

func TestImportPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"host/op", "host/op", true},
		{"host/op", "host/op/x", false},
		{"host/...", "host", true},
		{"host/...", "host/op/x", true},
		{"host/...", "hosted", false},
	} {
		if got := matchesAny([]string{c.pattern}, c.pkg); got != c.want {
			t.Errorf("pattern %s, package %s: got %v, want %v", c.pattern, c.pkg, got, c.want)
		}
	}
}
