package bench

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Options are what nccl-tests' flags ask for.
type Options struct {
	Collective         Collective
	Threads, GPUs      int    // -t and -g: their product is the number of ranks
	MinBytes, MaxBytes int64  // -b, -e: of the whole array
	StepBytes          int64  // -i
	StepFactor         int64  // -f, 1 for steps of StepBytes
	Sizes              []Size // instead of -b, -e, -i, -f and -n
	Types              []op.Dtype
	Reds               []op.RedOp
	Root               int // -r, -1 for each in turn
	Iterations         int // -n
	Warmup             int // -w
	Aggregated         int // -m: calls that are issued together
	Average            Average
	PerIteration       bool // -I
	PerIterationSkip   int  // -K: iterations that the statistics leave out
	Checks             int  // -c: checked calls, 0 for none
	Blocking           int  // -z: 1 completes each call and meets, 2 and 3 complete it only
	ProcessorTime      bool // -C: report the time to issue, not to complete
	Timestamps         bool // -S
	Memory             bool // -M
	Unalign            int  // -u: elements by which buffers are off alignment
	Algorithm          string
	Spread             float64 // of alltoallv: 0 for equal parts, 1 for parts that grow with the distance
}

// Size is a size of the whole array, and how many iterations are measured.
type Size struct {
	Bytes      int64
	Iterations int
}

// Average says how times of several ranks become one.
type Average int

// The numbers of -a.
const (
	AverageRank0 Average = iota
	AverageMean
	AverageMin
	AverageMax
)

// Limits of a benchmark. A guest's memory holds the times of all iterations.
const (
	IterationsMax = 1 << 20
	RowsMax       = 1 << 12
)

// Ranks is how many ranks take part.
func (o *Options) Ranks() int { return o.Threads * o.GPUs }

// Check refuses options that cannot be carried out.
func (o *Options) Check() error {
	switch {
	case o.Threads < 1 || o.GPUs < 1:
		return errors.New("there is at least one rank")
	case o.MinBytes < 0 || o.MaxBytes < 0:
		return errors.New("a size cannot be negative")
	case o.MinBytes > o.MaxBytes:
		return fmt.Errorf("the smallest size, %d bytes, is larger than the largest, %d bytes", o.MinBytes, o.MaxBytes)
	case o.StepFactor < 1 || o.StepFactor == 1 && o.StepBytes < 1 && o.MinBytes < o.MaxBytes:
		return errors.New("sizes must grow from step to step")
	case o.StepFactor > 1 && o.MinBytes == 0 && o.MaxBytes > 0:
		return errors.New("sizes that grow by a factor cannot begin with 0")
	case o.rowCount() > RowsMax:
		return fmt.Errorf("the table has more than %d rows", RowsMax)
	case o.Aggregated < 1 || !o.iterationsGood():
		return fmt.Errorf("there are from 1 to %d iterations", IterationsMax)
	case o.Warmup < 0 || o.Warmup > IterationsMax || o.Checks < 0 || o.Checks > IterationsMax:
		return fmt.Errorf("there are from 0 to %d iterations of warm-up and of checks", IterationsMax)
	case o.PerIterationSkip < 0 || o.PerIteration && o.PerIterationSkip >= o.leastIterations():
		return errors.New("no iteration is left to report on")
	case o.Average < AverageRank0 || o.Average > AverageMax:
		return errors.New("averages are 0 (rank 0), 1 (mean), 2 (min) and 3 (max)")
	case o.Root < -1 || o.Root >= o.Ranks():
		return fmt.Errorf("there is no root %d among %d ranks", o.Root, o.Ranks())
	case o.Blocking < 0 || o.Blocking > 3 || o.Unalign < 0:
		return errors.New("blocking is from 0 to 3, and buffers are unaligned by 0 elements or more")
	}
	return o.checkAlgorithm()
}

// algorithmBytesMax bounds what an algorithm may be called.
const algorithmBytesMax = 64

func (o *Options) checkAlgorithm() error {
	switch {
	case len(o.Algorithm) > algorithmBytesMax:
		return fmt.Errorf("the algorithm's name has more than %d bytes", algorithmBytesMax)
	case o.Algorithm != "" && o.Collective.algorithms() == nil:
		return fmt.Errorf("%s has no algorithms to choose from", o.Collective.Name)
	case !(o.Spread >= 0 && o.Spread <= 1):
		return errors.New("the spread of alltoallv is from 0 to 1")
	}
	return nil
}

func (o *Options) iterationsGood() bool {
	for size := range o.sizes {
		if size.Iterations < 1 || size.Iterations > IterationsMax/o.Aggregated {
			return false
		}
	}
	return true
}

func (o *Options) leastIterations() int {
	least := o.Iterations
	for size := range o.sizes {
		least = min(least, size.Iterations)
	}
	return least
}

// rowCount is the number of rows, counted up to where there are too many.
func (o *Options) rowCount() int {
	sizes := 0
	for range o.sizes {
		if sizes++; sizes > RowsMax {
			break
		}
	}
	return sizes * len(o.Types) * len(o.reds()) * len(o.roots())
}

// sizes yields the sizes asked for, as nccl-tests steps through them.
func (o *Options) sizes(yield func(Size) bool) {
	for _, size := range o.Sizes {
		if !yield(size) {
			return
		}
	}
	if len(o.Sizes) > 0 {
		return
	}
	for bytes := o.MinBytes; bytes <= o.MaxBytes; {
		if !yield(Size{bytes, o.Iterations}) {
			return
		}
		next := bytes + o.StepBytes
		if o.StepFactor > 1 {
			next = bytes * o.StepFactor
			if bytes > o.MaxBytes/o.StepFactor {
				return
			}
		}
		if next <= bytes { // one size only, or the end of the numbers
			return
		}
		bytes = next
	}
}

func (o *Options) reds() []op.RedOp {
	if !o.Collective.reduces {
		return []op.RedOp{op.Sum}
	}
	return o.Reds
}

func (o *Options) roots() []int {
	switch {
	case !o.Collective.rooted:
		return []int{-1}
	case o.Root >= 0:
		return []int{o.Root}
	}
	roots := make([]int, o.Ranks())
	for i := range roots {
		roots[i] = i
	}
	return roots
}

// BufferBytes is how much memory each rank's two buffers take.
func (o *Options) BufferBytes(rows []Row) int64 { return 2 * newAssembly(o, rows).buffer }

// Rows are the rows of the table: for each type, operator and root all sizes.
func (o *Options) Rows() []Row {
	var rows []Row
	for _, dtype := range o.Types {
		for _, red := range o.reds() {
			for _, root := range o.roots() {
				for size := range o.sizes {
					rows = append(rows, o.row(dtype, red, root, size))
				}
			}
		}
	}
	return rows
}

func (o *Options) row(dtype op.Dtype, red op.RedOp, root int, size Size) Row {
	row := Row{
		Collective: o.Collective, Type: dtype, Red: red, Root: root, Ranks: o.Ranks(), Algorithm: o.Algorithm,
		Count: o.Collective.count(size.Bytes, o.Ranks(), dtype.Size()), Iterations: size.Iterations,
	}
	if row.Collective.Op == op.AllToAllV {
		row.Parts = partsOf(row.Count, row.Ranks, dtype.Size(), o.Spread)
	}
	return row
}
