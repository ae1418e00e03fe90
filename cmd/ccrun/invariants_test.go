package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

// variants are arguments of the workflows that have more than their golden
// result's: put and get, slices that do and do not divide a chunk, channels.
var variants = map[string][]string{
	"ring_allgather": {
		"-bytes 64KiB -slice 16KiB -iters 2 -protocol get", "-bytes 64KiB -slice 24KiB -iters 2 -protocol put", "-bytes 1000 -slice 0 -iters 2",
	},
	"ring_allgather_c": {"-bytes 64KiB -slice 16KiB -iters 2 -protocol get", "-bytes 64KiB -slice 24KiB -iters 2 -protocol put"},
	"ring_allreduce": {
		"-bytes 64KiB -slice 4KiB -iters 2 -protocol get -channels 3", "-bytes 64KiB -slice 3KiB -iters 2 -protocol put -channels 2",
	},
	"ring_allreduce_c": {
		"-bytes 64KiB -slice 4KiB -iters 2 -protocol get", "-bytes 64KiB -slice 3KiB -iters 2 -protocol put", "-bytes 64KiB -slice 1KiB -iters 2 -group 1",
	},
	"ring_reduce_scatter": {
		"-bytes 64KiB -slice 4KiB -iters 2 -protocol get -channels 3", "-bytes 64KiB -slice 3KiB -iters 2 -protocol put -channels 2",
	},
	"allgather_matmul": {"-m 48 -n 8 -k 16 -tiles 24 -streams 2 -iters 1"},
	"soak":             {"-rounds 40 -renew 20"},
}

// TestWorkflowInvariants holds the spans of every workflow against what the
// terms promise. It looks at the exported file only.
func TestWorkflowInvariants(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join(repoRoot, "workflows", "*", "golden.txt"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no workflows (%v)", err)
	}
	guests, cache := newGuestBuilder(t.TempDir()), t.TempDir()
	for _, source := range sources {
		name := filepath.Base(filepath.Dir(source))
		t.Run(name, func(t *testing.T) {
			wasm, err := guests.build(name)
			if errors.Is(err, tck.ErrMissing) {
				t.Skip(err)
			}
			text, readErr := os.ReadFile(source)
			if err := errors.Join(err, readErr); err != nil {
				t.Fatal(err)
			}
			lines := variants[name]
			if lines == nil {
				lines = []string{strings.Join(parseGolden(t, string(text)).args, " ")}
			}
			for _, line := range lines {
				for _, ranks := range []int{2, 3, 4, 8} {
					t.Run(strings.ReplaceAll(fmt.Sprintf("%d ranks %s", ranks, line), " ", "_"), func(t *testing.T) {
						checkInvariants(t, wasm, cache, ranks, strings.Fields(line))
					})
				}
			}
		})
	}
}

func checkInvariants(t *testing.T, wasm, cache string, ranks int, args []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spans.json")
	args = append([]string{"-q", "--trace", "message", "-o", "json=" + file, "-n", strconv.Itoa(ranks), wasm}, args...)
	cmd := exec.Command("ccrun", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+cache)
	if output, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(output), "warning") {
		t.Fatalf("ccrun %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	collectives, messages := 0, 0
	for id, tree := range readSpanFile(t, file) {
		if tree.root == nil {
			t.Errorf("trace %s has no root", id)
			continue
		}
		if tree.root.Name == "run" {
			continue
		}
		collectives++
		if err := tree.check(); err != nil {
			t.Errorf("%s %s: %v", tree.root.Name, tree.root.Attributes["ccl.sequence"], err)
		}
		for _, s := range tree.byID {
			if s.Name == "message" {
				messages++
			}
		}
	}
	if collectives == 0 || messages == 0 {
		t.Errorf("%d collectives with %d messages", collectives, messages)
	}
}

// check says which promise the spans of a collective break: messages add up to
// their flow, flows and slices to their rank-chunk, messages of one flow do not
// overlap, and CCT >= RCCT >= FCT.
func (tree *spanTree) check() error {
	if tree.root.Status.Code != 0 {
		return fmt.Errorf("status %s", tree.root.Status.Message)
	}
	longest := int64(0)
	for _, s := range tree.byID {
		if s.Parent != "" {
			parent := tree.byID[s.Parent]
			if parent == nil {
				return fmt.Errorf("%s has no parent", s.Name)
			}
			if s.Start < parent.Start || s.End > parent.End {
				return fmt.Errorf("%s %d..%d leaves %s %d..%d", s.Name, s.Start, s.End, parent.Name, parent.Start, parent.End)
			}
		}
		if s.Name != "chunk recv" {
			continue
		}
		longest = max(longest, s.number("ccl.rcct_ns"))
		if err := tree.checkChunk(s); err != nil {
			return fmt.Errorf("chunk %s: %w", s.Attributes["ccl.chunk.id"], err)
		}
	}
	if cct := tree.root.number("ccl.cct_ns"); cct < longest || !isLong(tree.root, cct) {
		return fmt.Errorf("CCT %d ns, longest RCCT %d, the span %d", cct, longest, tree.root.duration())
	}
	return nil
}

// checkChunk checks a rank-chunk's way by its two ends. Flows stand at the end
// that moves their bytes, and so do slices; those that a peer received stand at
// the sender's end as well.
func (tree *spanTree) checkChunk(received *fileSpan) error {
	if len(received.Links) != 1 || tree.byID[received.Links[0].Span] == nil {
		return errors.New("it is not linked to the sender's")
	}
	sent, bytes := tree.byID[received.Links[0].Span], received.number("ccl.bytes")
	pushed, pulled := tree.named(sent, "flow"), tree.named(received, "flow")
	flows := slices.Concat(pushed, pulled)
	for _, flow := range flows {
		if err := tree.checkFlow(flow); err != nil {
			return fmt.Errorf("flow %s: %w", flow.Attributes["ccl.flow.id"], err)
		}
		if fct := flow.number("ccl.fct_ns"); fct > received.number("ccl.rcct_ns") || !isLong(flow, fct) {
			return fmt.Errorf("FCT %d ns, RCCT %d, the flow's span %d", fct, received.number("ccl.rcct_ns"), flow.duration())
		}
	}
	if bytes <= 0 || sent.number("ccl.bytes") != bytes || total(flows) != bytes || int64(len(flows)) != received.number("ccl.flow.count") {
		return fmt.Errorf("%d flows of %d bytes, the chunk %d", len(flows), total(flows), bytes)
	}
	return tree.checkSlices(sent, received, len(pushed) > 0, bytes)
}

// checkSlices adds slices up: those of both ends if both move bytes, otherwise
// those of each end that has any.
func (tree *spanTree) checkSlices(sent, received *fileSpan, pushed bool, bytes int64) error {
	atSource := total(tree.named(sent, "slice send"))
	atDest := total(tree.named(received, "slice recv", "slice reduce"))
	switch {
	case pushed && atSource+atDest == bytes, !pushed && atDest == bytes && (atSource == 0 || atSource == bytes):
		return nil
	}
	return fmt.Errorf("slices of %d bytes at the source and %d at the destination, the chunk %d", atSource, atDest, bytes)
}

func (tree *spanTree) checkFlow(flow *fileSpan) error {
	messages := tree.named(flow, "message")
	if total(messages) != flow.number("ccl.bytes") || int64(len(messages)) != flow.number("ccl.message.count") {
		return fmt.Errorf("%d messages of %d bytes, the flow %s", len(messages), total(messages), flow.Attributes["ccl.bytes"])
	}
	slices.SortFunc(messages, func(a, b *fileSpan) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	for i, m := range messages {
		// One that the clock gives no length has one nanosecond.
		if i > 0 && m.Start < messages[i-1].End-1 {
			return fmt.Errorf("message %s begins %d ns before the one ahead of it ends", m.Attributes["ccl.message.id"], messages[i-1].End-m.Start)
		}
	}
	return nil
}

func total(spans []*fileSpan) (bytes int64) {
	for _, s := range spans {
		bytes += s.number("ccl.bytes")
	}
	return bytes
}

// isLong reports whether a span is as long as its attribute says. One that the
// clock gives no length has one nanosecond.
func isLong(s *fileSpan, nanos int64) bool {
	return nanos >= 0 && s.duration() == max(nanos, 1)
}

// TestInvariantsFindBreakage breaks each promise by hand.
func TestInvariantsFindBreakage(t *testing.T) {
	for name, spoil := range map[string]func(s map[string]*fileSpan){
		"":            func(map[string]*fileSpan) {},
		"flow bytes":  func(s map[string]*fileSpan) { s["m1"].Attributes["ccl.bytes"] = "5" },
		"chunk bytes": func(s map[string]*fileSpan) { s["send"].Attributes["ccl.bytes"] = "9" },
		"slice bytes": func(s map[string]*fileSpan) { s["s"].Attributes["ccl.bytes"] = "7" },
		"overlap":     func(s map[string]*fileSpan) { s["m2"].Start = 12 },
		"FCT":         func(s map[string]*fileSpan) { s["flow"].Attributes["ccl.fct_ns"] = "21" },
		"RCCT":        func(s map[string]*fileSpan) { s["recv"].Attributes["ccl.rcct_ns"] = "101" },
		"CCT":         func(s map[string]*fileSpan) { s["root"].Attributes["ccl.cct_ns"] = "99" },
		"enclosure":   func(s map[string]*fileSpan) { s["send"].End = 101 },
		"failure":     func(s map[string]*fileSpan) { s["root"].Status.Code = 2 },
		"no link":     func(s map[string]*fileSpan) { s["recv"].Links = nil },
		"no flow":     func(s map[string]*fileSpan) { s["flow"].Name = "flaw" },
	} {
		err := spoilt(t, spoil).check()
		if (err != nil) != (name != "") {
			t.Errorf("%s: %v", cmp.Or(name, "whole"), err)
		}
	}
}

// spoilt is a collective of one chunk, spoilt.
func spoilt(t *testing.T, spoil func(map[string]*fileSpan)) *spanTree {
	t.Helper()
	all := map[string]*fileSpan{
		"root": {Name: "broadcast", Start: 0, End: 100, Attributes: fileAttributes{"ccl.cct_ns": "100"}},
		"rank": {Parent: "root", Name: "broadcast rank", Start: 0, End: 100},
		"send": {Parent: "rank", Name: "chunk send", Start: 10, End: 30, Attributes: fileAttributes{"ccl.bytes": "8", "ccl.rcct_ns": "20", "ccl.flow.count": "1"}},
		"flow": {Parent: "send", Name: "flow", Start: 10, End: 30, Attributes: fileAttributes{"ccl.bytes": "8", "ccl.fct_ns": "20", "ccl.message.count": "2"}},
		"m1":   {Parent: "flow", Name: "message", Start: 10, End: 20, Attributes: fileAttributes{"ccl.bytes": "4"}},
		"m2":   {Parent: "flow", Name: "message", Start: 20, End: 30, Attributes: fileAttributes{"ccl.bytes": "4"}},
		"s":    {Parent: "send", Name: "slice send", Start: 10, End: 30, Attributes: fileAttributes{"ccl.bytes": "8"}},
		"recv": {Parent: "rank", Name: "chunk recv", Start: 10, End: 30, Attributes: fileAttributes{"ccl.bytes": "8", "ccl.rcct_ns": "20", "ccl.flow.count": "1"}},
	}
	all["recv"].Links = append(all["recv"].Links, fileLink{Span: "send"})
	spoil(all)
	trees := map[string]*spanTree{}
	for _, id := range []string{"root", "rank", "send", "flow", "m1", "m2", "s", "recv"} {
		all[id].ID = id
		addToTree(t, trees, all[id])
	}
	return trees[""]
}
