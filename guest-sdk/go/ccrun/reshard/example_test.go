package reshard_test

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
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
