package oracle

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

var shapes = []Shape{
	{Dtype: ccrun.F32, Red: ccrun.Sum, Count: 9},
	{Dtype: ccrun.I32, Red: ccrun.Sum, Count: 21, Root: 2, InPlace: true},
	{Dtype: ccrun.I64, Red: ccrun.Prod, Count: 0, Root: 1},
}

// eachCall runs f on 3 ranks with every collective in every shape, prepared but
// not submitted.
func eachCall(t *testing.T, f func(w *ccrun.World, call *Call) error) {
	result := ccruntest.Run(t, 3, func(w *ccrun.World) error {
		comm, err1 := w.Comm()
		stream, err2 := w.NewStream()
		in, err3 := w.Alloc(1 << 10)
		out, err4 := w.Alloc(1 << 10)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		list, seed := Collectives(), uint64(0)
		for i := range list {
			for _, shape := range shapes {
				if !list[i].Has("", shape, 3) {
					continue
				}
				seed++
				call := &Call{Shape: shape, Collective: &list[i], Comm: comm, Stream: stream, In: in.All(), Out: out.All(), Seed: seed}
				call.Prepare(w)
				if err := f(w, call); err != nil {
					return fmt.Errorf("%s: %w", call, err)
				}
			}
		}
		return nil
	})
	for rank, err := range result.Errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestRightResultsPass(t *testing.T) {
	eachCall(t, func(_ *ccrun.World, call *Call) error {
		call.Submit()
		return call.Verify()
	})
}

// What was never called is found wrong, where a rank gets anything that it has
// not had before.
func TestMissingResultsFail(t *testing.T) {
	eachCall(t, func(w *ccrun.World, call *Call) error {
		err := call.Verify()
		switch name := call.Collective.Name; {
		case call.Count == 0 && name != "barrier":
			return err
		case call.Root != w.Rank() && (name == "reduce" || name == "gather"), // gets nothing
			call.Root == w.Rank() && call.InPlace && (name == "broadcast" || name == "scatter"): // has it
			return err
		case err == nil:
			return errors.New("passes although nobody has called it")
		}
		return nil
	})
}
