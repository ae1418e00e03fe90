package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestMemory copies with real processes, more than there may be processors.
func TestMemory(t *testing.T) {
	p := memory(plainCopy, t.TempDir(), asMuch)
	if p.missing != nil {
		t.Fatal(p.missing)
	}
	got, err := p.run(t.Context(), sweep{"any", 4, 2, []sized{{8, 5}, {100_000, 5}, {3 << 20, 2}}})
	if err != nil || len(got) != 3 || got[8] <= 0 || got[3<<20] <= got[8] {
		t.Errorf("%v, %v", got, err)
	}
	bound := memory(memoryBound, t.TempDir(), boundBytes)
	if got, err := bound.run(t.Context(), sweep{"broadcast", 2, 2, []sized{{1 << 20, 2}}}); err != nil || len(got) != 1 || got[1<<20] <= 0 {
		t.Errorf("bound: %v, %v", got, err)
	}
	if got, err := bound.run(t.Context(), sweep{"none", 2, 2, []sized{{1 << 20, 2}}}); err == nil {
		t.Errorf("bound of no collective: %v", got)
	}
	if got, err := p.run(t.Context(), sweep{"any", 2, 2, []sized{{1 << 60, 1}}}); err == nil {
		t.Errorf("copied 1 EiB: %v", got)
	}
}

// The way that is faster on all processes together counts.
func TestFasterCopies(t *testing.T) {
	s := sweep{sizes: []sized{{8, 1}, {16, 1}}}
	got := fasterCopies(s, [][]copies{{{10, 30}, {50, 20}}, {{20, 5}, {50, 30}}})
	if want := "map[8:15 16:25]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestMemoryArguments(t *testing.T) {
	for _, args := range []string{"", "0 1 /d", "x 1 /d 8x1", "0 1 /d 8", "0 1 /d 8x0"} {
		if err := runMemory(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
