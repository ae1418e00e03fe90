package ccrun_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

// outside is a test that an example runs in.
type outside struct{ testing.TB }

func (outside) Helper() {}

// weights moves arrays of these sizes from rank 0 to rank 1, with a script in
// the options, and says what rank 1 thinks of it.
func weights(o ccrun.PipelineOptions, sizes ...int64) {
	ccruntest.Run(outside{}, 2, func(w *ccrun.World) error {
		b, s, err := parts(w, 4096)
		if err != nil {
			return err
		}
		p, err := w.NewPipeline(o)
		if err != nil {
			return err
		}
		for i, size := range sizes {
			at := ccrun.Place{Buffer: b, Offset: int64(i) * 1024}
			e := ccrun.PipelineEntry{Source: 0, Destinations: []int{1}, Tensor: i, Planes: 1, Rows: 1, RowBytes: size, Src: at, Dst: at}
			if err := p.Add(e); err != nil {
				return err
			}
		}
		plan, err := p.Build()
		err = errors.Join(err, p.Agree(ccrun.Forever), p.Run([]*ccrun.Stream{s}, ccrun.Forever))
		if w.Rank() == 1 {
			fmt.Println(plan.Buckets, "buckets:", err)
		}
		return err
	})
}

// The largest buckets go first.
func ExamplePipelineOptions_order() {
	largestFirst := func(buckets []ccrun.Bucket) []int {
		slices.SortStableFunc(buckets, func(a, b ccrun.Bucket) int { return cmp.Compare(b.Bytes, a.Bytes) })
		order := make([]int, len(buckets))
		for place, b := range buckets {
			order[place] = b.Number
		}
		return order
	}
	weights(ccrun.PipelineOptions{Order: largestFirst}, 100, 1000, 10)
	// Output: 3 buckets: <nil>
}

// No bucket begins before all but one of those before it have arrived, wherever
// they go.
func ExamplePipelineOptions_admit() {
	twoAtATime := func(s ccrun.PipelineStatus) int { return s.Published + 2 }
	weights(ccrun.PipelineOptions{Policy: ccrun.Scripted, Admit: twoAtATime}, 100, 1000, 10)
	// Output: 3 buckets: <nil>
}
