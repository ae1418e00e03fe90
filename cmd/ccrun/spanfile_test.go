package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

// fileSpan is a span as OTLP-JSON has it: what a reader sees who knows nothing
// of our code.
type fileSpan struct {
	Trace      string         `json:"traceId"`
	ID         string         `json:"spanId"`
	Parent     string         `json:"parentSpanId"`
	Name       string         `json:"name"`
	Start      int64          `json:"startTimeUnixNano,string"`
	End        int64          `json:"endTimeUnixNano,string"`
	Attributes fileAttributes `json:"attributes"`
	Links      []fileLink     `json:"links"`
	Status     struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

// fileLink names another span.
type fileLink struct {
	Trace string `json:"traceId"`
	Span  string `json:"spanId"`
}

// fileAttributes are attributes by key, each as text.
type fileAttributes map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (a *fileAttributes) UnmarshalJSON(text []byte) error {
	var pairs []struct {
		Key   string
		Value map[string]any
	}
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	*a = make(fileAttributes, len(pairs))
	for _, pair := range pairs {
		for _, value := range pair.Value {
			switch v := value.(type) {
			case string:
				(*a)[pair.Key] = v
			case bool:
				(*a)[pair.Key] = strconv.FormatBool(v)
			case float64:
				(*a)[pair.Key] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
	return nil
}

// number is an attribute that is a number, -1 if it is not there.
func (s *fileSpan) number(key string) int64 {
	n, err := strconv.ParseInt(s.Attributes[key], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// duration is the span's own, in nanoseconds.
func (s *fileSpan) duration() int64 { return s.End - s.Start }

// spanTree is the spans of one trace.
type spanTree struct {
	root     *fileSpan
	byID     map[string]*fileSpan
	children map[string][]*fileSpan // by the parent's identifier
}

// readSpanFile reads what -o json has written, by trace.
func readSpanFile(t *testing.T, path string) map[string]*spanTree {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]*spanTree{}
	for line := range bytes.Lines(text) {
		var data struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []*fileSpan } }
		}
		if err := json.Unmarshal(line, &data); err != nil {
			t.Fatal(err)
		}
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					addToTree(t, trees, s)
				}
			}
		}
	}
	return trees
}

func addToTree(t *testing.T, trees map[string]*spanTree, s *fileSpan) {
	t.Helper()
	tree := trees[s.Trace]
	if tree == nil {
		tree = &spanTree{byID: map[string]*fileSpan{}, children: map[string][]*fileSpan{}}
		trees[s.Trace] = tree
	}
	if tree.byID[s.ID] != nil {
		t.Errorf("two spans of trace %s have identifier %s", s.Trace, s.ID)
	}
	tree.byID[s.ID] = s
	if s.Parent == "" {
		if tree.root != nil {
			t.Errorf("trace %s has two roots: %s and %s", s.Trace, tree.root.Name, s.Name)
		}
		tree.root = s
		return
	}
	tree.children[s.Parent] = append(tree.children[s.Parent], s)
}

// named are the children of a span that have one of the names.
func (tree *spanTree) named(parent *fileSpan, names ...string) []*fileSpan {
	var out []*fileSpan
	for _, s := range tree.children[parent.ID] {
		for _, name := range names {
			if s.Name == name {
				out = append(out, s)
			}
		}
	}
	return out
}
