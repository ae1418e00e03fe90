package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// TestMain is a native rank if it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == rankCommand || os.Args[1] == memoryCommand) {
		if err := dispatch(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-n 4 -rounds 3 -bytes 1K,2MiB -slice 0 -iters 5"), io.Discard)
	if want := "{4 3 [1024 2097152] 0 5}"; err != nil || fmt.Sprintf("%d", o) != want {
		t.Errorf("got %d, %v, want %s", o, err, want)
	}
	if got := o.sizes.String(); got != "1KiB,2MiB" {
		t.Errorf("sizes print as %s", got)
	}
	for _, args := range []string{"-n 1", "-rounds 0", "-iters -1", "-bytes x", "-bytes 1,,2", "more"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

func TestIterationsBySize(t *testing.T) {
	o := options{}
	var got []int
	for _, size := range []ccrun.ByteSize{0, 64 << 10, 1 << 20, 16 << 20, 1 << 30} {
		got = append(got, o.iterations(size), o.warmup(size))
	}
	if want := "[2000 200 2000 200 320 32 20 2 10 2]"; fmt.Sprint(got) != want {
		t.Errorf("iterations and warm-ups %v, want %s", got, want)
	}
}

const wantTable = `16MiB from each rank, 20 iterations a round
                microseconds  mpi/this  mpi in place/this  native/this  copy/this
          copy        1000.0      3.00               2.00            -          -
           mpi        3000.0         -               0.67            -       0.33
  mpi in place        2000.0      1.50                  -            -       0.50
    native put        1600.0      1.88               1.25            -       0.62
    native get           0.0         -                  -            -          -
     ccrun put        1750.0      1.68               1.12         0.89       0.56
     ccrun get           0.0         -                  -            -          -

`

func TestTable(t *testing.T) {
	r := rounds{
		"copy": {1000e3, 1100e3, 900e3}, "mpi": {3000e3, 3300e3, 2700e3}, "mpi in place": {2000e3, 2200e3, 1800e3},
		"native put": {1600e3, 1600e3, 1440e3}, "ccrun put": {2000e3, 1750e3, 1610e3},
	}
	var out bytes.Buffer
	r.write(&out, options{slice: 1 << 20}, 16<<20)
	if out.String() != wantTable {
		t.Errorf("got\n%s\nwant\n%s", out.String(), wantTable)
	}
}
