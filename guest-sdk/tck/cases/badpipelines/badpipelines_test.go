package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

// text is what all ranks write.
type text struct {
	sync.Mutex
	bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	return t.Buffer.Write(p)
}

func results(t *testing.T, ranks int, args ...string) (string, error) {
	t.Helper()
	var out text
	result := ccruntest.Run(t, ranks, func(w *ccrun.World) error { return run(w, args, &out) })
	return out.String(), errors.Join(result.Errs...)
}

// The stand-in of the host refuses what the host refuses, for the same reason.
func TestTheStandInRefusesTheSame(t *testing.T) {
	out, err := results(t, 2)
	if err != nil || strings.Count(out, "\n") < 50 {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := results(t, 2, "freed"); !errors.Is(err, errFreed) || strings.Count(out, "\n") != 8 {
		t.Errorf("freed: %v\n%s", err, out)
	}
}

// Nothing moves unless ranks agree.
func TestDifferences(t *testing.T) {
	for _, what := range slices.Sorted(maps.Keys(differences)) {
		out, err := results(t, 3, what)
		moved := fmt.Sprintf("rank 1: %d bytes have moved", map[bool]int{true: 0, false: 256}[err != nil])
		if agree := what == "none" || what == "budget"; agree != (err == nil) || !strings.Contains(out, moved) || err != nil && !errors.Is(err, ccrun.ErrMismatch) {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	if _, err := results(t, 2, "nonsense"); err == nil {
		t.Error("a difference that there is none of")
	}
}
