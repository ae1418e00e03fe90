package reshard_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// A matrix that two ranks hold by rows gets to four others: a half of its
// columns to each pair of them.
func Example() {
	source, err := reshard.ParseLayout("2:S0")
	if err != nil {
		panic(err)
	}
	target, err := reshard.ParseLayout("2x2@2:R,S1")
	if err != nil {
		panic(err)
	}
	matrix := reshard.Tensor{Name: "w", Dtype: ccrun.BF16, Shape: []int64{6, 8}}
	plan, err := reshard.New(reshard.Moves(source, target, []reshard.Tensor{matrix}), reshard.Options{})
	if err != nil {
		panic(err)
	}
	for i := range plan.Entries {
		fmt.Println(plan.Describe(i))
	}
	box, _ := target.Local(matrix.Shape, 3)
	fmt.Println("rank 3 is to have", box.Size, "from", box.Start)
	// Output:
	// entry 0 (tensor 0 w=6x8:bf16, cell 0): broadcast rank 0 -> 2 4, 24 bytes (1x3x8) from 0+16+48 to 0+8+24
	// entry 1 (tensor 0 w=6x8:bf16, cell 1): broadcast rank 0 -> 3 5, 24 bytes (1x3x8) from 8+16+48 to 0+8+24
	// entry 2 (tensor 0 w=6x8:bf16, cell 2): broadcast rank 1 -> 2 4, 24 bytes (1x3x8) from 0+16+48 to 24+8+24
	// entry 3 (tensor 0 w=6x8:bf16, cell 3): broadcast rank 1 -> 3 5, 24 bytes (1x3x8) from 8+16+48 to 24+8+24
	// rank 3 is to have [6 4] from [0 4]
}

// outside is a test that an example runs in.
type outside struct{ testing.TB }

func (outside) Helper() {}

// A pipeline moves what was planned: rows of a matrix become columns.
func ExampleEntry_Pipeline() {
	source, _ := reshard.ParseLayout("2:S0")
	target, _ := reshard.ParseLayout("2:S1")
	matrix, _ := reshard.ParseTensor("w=2x6:u8")
	plan, err := reshard.New(reshard.Moves(source, target, []reshard.Tensor{matrix}), reshard.Options{})
	if err != nil {
		panic(err)
	}
	ccruntest.Run(outside{}, 2, func(w *ccrun.World) error {
		row, err1 := w.Alloc(matrix.Bytes(source, w.Rank()))
		columns, err2 := w.Alloc(matrix.Bytes(target, w.Rank()))
		stream, err3 := w.NewStream()
		p, err4 := w.NewPipeline(ccrun.PipelineOptions{})
		if err := errors.Join(err1, err2, err3, err4, row.Write([][]byte{{11, 12, 13, 14, 15, 16}, {21, 22, 23, 24, 25, 26}}[w.Rank()], 0)); err != nil {
			return err
		}
		for i := range plan.Entries {
			e := plan.Entries[i].Pipeline(w.Rank(), ccrun.Place{Buffer: row}, ccrun.Place{Buffer: columns})
			if err := p.Add(e); err != nil {
				return err
			}
		}
		if _, err := p.Build(); err != nil {
			return err
		}
		got := make([]byte, columns.Bytes())
		err := errors.Join(p.Agree(ccrun.Forever), p.Run([]*ccrun.Stream{stream}, ccrun.Forever), columns.Read(got, 0))
		if w.Rank() == 1 {
			fmt.Println(got)
		}
		return err
	})
	// Output: [14 15 16 24 25 26]
}
