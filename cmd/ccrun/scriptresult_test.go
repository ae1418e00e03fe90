package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// resultCommand is `result FILE fields`, which prints the names of all fields,
// or `result FILE PATH...`, which prints the values at these paths, one a line:
// "verified", "collectives.0.count". FILE must hold exactly one JSON object.
// The path "digests.NAME" prints the digest if all ranks have the same one.
func resultCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: result FILE fields|PATH...")
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &object); err != nil {
		ts.Fatalf("not one JSON object: %v", err)
	}
	if args[1] == "fields" {
		lines := fieldNames("", object)
		slices.Sort(lines)
		fmt.Fprintln(ts.Stdout(), strings.Join(slices.Compact(lines), "\n"))
		return
	}
	for _, path := range args[1:] {
		value, err := valueAt(object, strings.Split(path, "."))
		if err != nil {
			ts.Fatalf("%s: %v", path, err)
		}
		if strings.HasPrefix(path, "digests.") {
			value, err = common(value)
			ts.Check(err)
		}
		text, err := json.Marshal(value)
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%s %s\n", path, text)
	}
}

// fieldNames lists the fields below a value; those of a list's elements count
// as one.
func fieldNames(path string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		var names []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			names = append(names, fieldNames(path+"."+key, v[key])...)
		}
		return names
	case []any:
		var names []string
		for _, element := range v {
			names = append(names, fieldNames(path+"[]", element)...)
		}
		return names
	}
	return []string{strings.TrimPrefix(path, ".")}
}

func valueAt(value any, path []string) (any, error) {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return nil, fmt.Errorf("no field %q among %v", step, slices.Sorted(maps.Keys(v)))
			}
			value = next
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(v) {
				return nil, fmt.Errorf("no element %q of %d", step, len(v))
			}
			value = v[index]
		default:
			return nil, fmt.Errorf("%v has no %q", value, step)
		}
	}
	return value, nil
}

// common is the value that all elements of a list have.
func common(value any) (any, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("no list: %v", value)
	}
	for _, element := range list {
		if element != list[0] {
			return nil, fmt.Errorf("they differ: %v", list)
		}
	}
	return list[0], nil
}
