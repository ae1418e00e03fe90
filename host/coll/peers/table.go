package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// rows are the measurements in the order of the table, and what each is.
var rows = []struct{ name, what string }{
	{"copy", "every rank copies its contribution once, in its own memory: the bound for 2 ranks"},
	{"mpi", "MPI_Allgather from a separate buffer"},
	{"mpi in place", "MPI_Allgather in place"},
	{"native put", "the ring in Go over the cpu device, in place, pushed"},
	{"native get", "the same, pulled"},
	{"ccrun put", "the ring as a Wasm guest, in place, pushed"},
	{"ccrun get", "the same, pulled"},
}

// describe says what is compared with what.
func describe(out io.Writer, o options) {
	fmt.Fprintf(out, "all-gather, %d ranks on %d processors (%s/%s), median CCT of %d interleaved rounds\n",
		o.ranks, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, o.rounds)
	fmt.Fprintf(out, "CCT: first rank's start to last rank's end, median of a run's iterations, after a warm-up\n")
	fmt.Fprintf(out, "rings: slices of %s, every slice recorded; results of all verified outside the time\n\n", o.slice)
	for _, row := range rows {
		fmt.Fprintf(out, "  %-13s %s\n", row.name, row.what)
	}
	fmt.Fprintln(out)
}

// write prints the table of one size. A ratio is another's time divided by
// this row's: above 1, this row is faster.
func (r rounds) write(out io.Writer, o options, size ccrun.ByteSize) {
	fmt.Fprintf(out, "%s from each rank, %d iterations a round\n", size, o.iterations(size))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tmicroseconds\tmpi/this\tmpi in place/this\tnative/this\tcopy/this\t")
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%s\t%s\t%s\t\n", row.name, r.nanos(row.name)/1e3,
			r.ratioText("mpi", row.name), r.ratioText("mpi in place", row.name),
			r.ratioText(nativeOf[row.name], row.name), r.ratioText("copy", row.name))
	}
	w.Flush()
	fmt.Fprintln(out)
}

// nativeOf names the native ring that does what a guest does.
var nativeOf = map[string]string{"ccrun put": "native put", "ccrun get": "native get"}

func (r rounds) ratioText(of, by string) string {
	if of == by || r.ratio(of, by) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", r.ratio(of, by))
}
