package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/runner/bench"
)

// benchOptions are the flags of a benchmark: nccl-tests', then ccrun's own.
type benchOptions struct {
	collective                     string
	threads, gpus                  countValue
	minBytes, maxBytes, stepBytes  sizeValue
	stepFactor                     int
	types                          typesValue
	reds                           redOpsValue
	root                           int
	iterations, warmup, aggregated int
	cycles                         int
	average                        int
	perIteration                   bool
	perIterationSkip               int
	checks, blocking, graph        int
	parallelInit, processorTime    int
	localRegister                  int
	timestamps                     bool
	reportPath                     string
	timeoutSecs                    int
	memory                         bool
	unalign                        int

	sizes      sizesValue
	algorithm  string
	algorithms algorithmsValue
	trace      levelValue
	device     string
	noPin      bool
	set        setsValue
	data       bool // of simulated runs
	native     bool
	fault      string

	launched bool    // by another launcher
	minBusBW float64 // negative for none
	spread   float64 // of alltoallv
}

func defaultBenchOptions() *benchOptions {
	return &benchOptions{
		threads: 1, minBytes: 32 << 20, stepBytes: 1 << 20,
		types: typesValue{"float", []op.Dtype{op.F32}}, reds: redOpsValue{"sum", []op.RedOp{op.Sum}},
		trace: levelValue(flight.LevelSlice),
	}
}

// flags are in nccl-tests' order.
func (o *benchOptions) flags() []cli.Flag {
	return []cli.Flag{
		valueFlag(&o.threads, "start `N` times -g ranks", "nthreads", "t"),
		valueFlag(&o.gpus, "start `N` ranks (default: 4, all of a simulated machine, or what the launcher's environment says)", "ngpus", "g"),
		valueFlag(&o.minBytes, "begin with `SIZE`, of the whole array", "minbytes", "b"),
		valueFlag(&o.maxBytes, "end with `SIZE` (default: 32MiB, or -b if that is more)", "maxbytes", "e"),
		valueFlag(&o.stepBytes, "add `SIZE` from row to row", "stepbytes", "i"),
		intFlag(&o.stepFactor, 1, "multiply the size by `N` from row to row instead", "stepfactor", "f"),
		valueFlag(&o.reds, "reduce by `OP`: sum, prod, min, max, avg, all", "op", "o"),
		valueFlag(&o.types, "take elements of `TYPE`: uint8, int32, int64, half, float, double, bfloat16, all", "datatype", "d"),
		intFlag(&o.root, 0, "take rank `N` as the root, -1 for each in turn", "root", "r"),
		intFlag(&o.iterations, 20, "measure `N` iterations", "iters", "n"),
		intFlag(&o.warmup, 1, "call `N` times before", "warmup_iters", "w"),
		intFlag(&o.aggregated, 1, "issue `N` calls in an iteration", "agg_iters", "m"),
		intFlag(&o.cycles, 1, "print the table `N` times, 0 for ever", "run_cycles", "N"),
		intFlag(&o.average, 1, "report the time of `WHICH`: 0 rank 0, 1 mean of the ranks, 2 min, 3 max", "average", "a"),
		boolFlag(&o.perIteration, "complete and time each iteration by itself, report their spread", "per_iter_timing", "I"),
		intFlag(&o.perIterationSkip, 0, "leave the first `N` iterations out of the spread", "per_iter_skip", "K"),
		intFlag(&o.parallelInit, 0, "accepted `N`: ranks always start in parallel", "parallel_init", "p"),
		intFlag(&o.checks, 1, "check every element of `N` more calls, 0 for none", "check", "c"),
		intFlag(&o.blocking, 0, "after each call, by `N`: 0 go on, 1 complete it and meet, 2 or 3 complete it", "blocking", "z"),
		intFlag(&o.graph, 0, "`N` must be 0: there are no CUDA graphs", "cudagraph", "G"),
		intFlag(&o.processorTime, 0, "report the time to issue calls, not to complete them, if `N` is 1", "report_cputime", "C"),
		intFlag(&o.localRegister, 0, "accepted `N`: all buffers are reachable", "local_register", "R"),
		boolFlag(&o.timestamps, "end rows with the time of day", "report_timestamps", "S"),
		textShortFlag(&o.reportPath, "also write `FILE`, as nccl-tests' JSON; an existing one is kept", "output_file", "J"),
		intFlag(&o.timeoutSecs, 0, "stop after `SECONDS`, 0 for never", "timeout", "T"),
		boolFlag(&o.memory, "say how large the buffers were", "memory", "M"),
		intFlag(&o.unalign, 0, "begin `N` elements off alignment", "unalign", "u"),
		valueFlag(&o.sizes, "measure these instead of -b to -e: `SIZE[xITERATIONS],...`", "sizes"),
		textFlag(&o.algorithm, "", "use `NAME` instead of what the host selects", "algorithm"),
		valueFlag(&o.algorithms, algorithmsUsage, "algorithms"),
		valueFlag(&o.trace, "record `LEVEL` and what is coarser: off, collective, flow, slice, message", "trace"),
		textFlag(&o.device, "auto", "carry operations out on `DEVICE`: auto, cpu, sim[:PRESET[xNODES]]", "device"),
		valueFlag(&o.set, "simulate with another number: `KEY=VALUE` is link.nvlink.bandwidth=2x, or =300GB/s (repeatable)", "set"),
		boolFlag(&o.data, "give simulated buffers bytes, and check them", "data"),
		boolFlag(&o.native, "measure without Wasm, to see what the sandbox costs", "native"),
		&cli.StringFlag{Name: "fault", Destination: &o.fault, Hidden: true}, // of package fault, to see that checks find it
		boolFlag(&o.noPin, "do not pin rank i to CPU i", "no-pin"),
	}
}

func intFlag(v *int, start int, usage, name, short string) cli.Flag {
	return &cli.IntFlag{Name: name, Aliases: []string{short}, Usage: usage, Destination: v, Value: start}
}

func textShortFlag(v *string, usage, name, short string) cli.Flag {
	return &cli.StringFlag{Name: name, Aliases: []string{short}, Usage: usage, Destination: v}
}

// nameLast moves the collective's name behind the flags: users of nccl-tests put
// flags after what names the program.
func nameLast(args []string) []string {
	if len(args) < 3 || strings.HasPrefix(args[2], "-") {
		return args
	}
	moved := append(slices.Clone(args[:2]), args[3:]...)
	return append(moved, args[2])
}

// complete reads what does not come by flags: the name and the environment.
func (o *benchOptions) complete(c *cli.Context, env func(string) string) error {
	name, err := oneArgument(c, "collective")
	if err != nil {
		return err
	}
	o.collective = name
	if !c.IsSet("maxbytes") {
		o.maxBytes = max(o.minBytes, 32<<20)
	}
	if err := o.readVariables(env); err != nil {
		return err
	}
	if err := onlySimulated(o.device, o.data, o.set); err != nil || simulated(o.device) {
		return err // no launcher counts where all ranks are one process
	}
	launched, err := runner.Launched(env)
	if err != nil || launched == 0 {
		return err
	}
	if o.threads*max(o.gpus, 1) != 1 {
		return usageError{fmt.Sprintf("-t %d -g %d, but %d ranks are launched already", o.threads, o.gpus, launched), "leave -t and -g out: each process is one rank"}
	}
	o.launched, o.gpus = true, countValue(launched)
	return nil
}

// Variables of nccl-tests.
const (
	minBandwidthVariable = "NCCL_TESTS_MIN_BW"                // the least bus bandwidth that is enough
	spreadVariable       = "NCCL_TESTS_ALLTOALLV_SPREAD"      // from equal parts, 0, to parts that grow with the distance, 1
	matrixVariable       = "NCCL_TESTS_ALLTOALLV_MATRIX_FILE" // not followed
)

// benchEnvironment is what of the environment the benchmark reads.
func benchEnvironment(env func(string) string) []string {
	var set []string
	for _, name := range []string{minBandwidthVariable, spreadVariable, algorithmsVariable} {
		if text := env(name); text != "" {
			set = append(set, name+"="+text)
		}
	}
	return set
}

func (o *benchOptions) readVariables(env func(string) string) (err error) {
	o.minBusBW, o.spread = -1, 1
	if text := env(minBandwidthVariable); text != "" {
		if o.minBusBW, err = strconv.ParseFloat(text, 64); err != nil || !(o.minBusBW >= 0) {
			return usageError{minBandwidthVariable + "=" + text + ": not a bandwidth", "a number of GB/s"}
		}
	}
	if text := env(spreadVariable); text != "" {
		if o.spread, err = strconv.ParseFloat(text, 64); err != nil || !(o.spread >= 0 && o.spread <= 1) {
			return usageError{spreadVariable + "=" + text + ": not a spread", "a number from 0, equal parts, to 1"}
		}
	}
	if c, err := bench.Find(o.collective); err == nil && c.Op == op.AllToAllV && env(matrixVariable) != "" {
		return notImplemented(matrixVariable + ": parts are made up, by " + spreadVariable)
	}
	return o.algorithms.fromEnvironment(env)
}

// options are what the flags ask for.
func (o *benchOptions) options() (*bench.Options, error) {
	c, err := bench.Find(o.collective)
	if err != nil {
		return nil, usageError{err.Error(), "one of " + benchNames()}
	}
	if o.graph != 0 {
		return nil, notImplemented("-G " + strconv.Itoa(o.graph) + ": there are no CUDA graphs")
	}
	if err := o.fillRanks(); err != nil {
		return nil, err
	}
	b := &bench.Options{
		Collective: c, Threads: int(o.threads), GPUs: int(o.gpus),
		MinBytes: int64(o.minBytes), MaxBytes: int64(o.maxBytes), StepBytes: int64(o.stepBytes), StepFactor: int64(o.stepFactor),
		Sizes: o.sizes.of(o.iterations), Types: o.types.types, Reds: o.reds.reds, Root: o.root,
		Iterations: o.iterations, Warmup: o.warmup, Aggregated: o.aggregated, Average: bench.Average(o.average),
		PerIteration: o.perIteration, PerIterationSkip: o.perIterationSkip, Checks: o.checked(), Blocking: o.blocking,
		ProcessorTime: o.processorTime != 0, Timestamps: o.timestamps, Memory: o.memory, Unalign: o.unalign, Algorithm: o.algorithm,
		Spread: o.spread,
	}
	if err := b.Check(); err != nil {
		return nil, usageError{err.Error(), "see ccrun bench --help"}
	}
	most := runner.RanksMax
	if simulated(o.device) {
		most = runner.SimulatedRanksMax
	}
	if b.Ranks() > most {
		return nil, usageError{fmt.Sprintf("%d ranks, more than %d", b.Ranks(), most), "give smaller -t and -g"}
	}
	return b, nil
}

// fillRanks takes a simulated machine's ranks, or those of any run, if -g does
// not say how many.
func (o *benchOptions) fillRanks() error {
	if o.gpus != 0 {
		return nil
	}
	o.gpus = runner.DefaultRanks
	if !simulated(o.device) {
		return nil
	}
	ranks, err := runner.SimulatedRanks(o.device, o.set)
	o.gpus = max(1, countValue(ranks)/o.threads)
	return err
}

func benchNames() string { return strings.Join(bench.Names(), ", ") }

// notImplemented is what nccl-tests has and ccrun has not.
type notImplemented string

func (e notImplemented) Error() string { return string(e) }

// typesValue is an element type, or all.
type typesValue struct {
	word  string
	types []op.Dtype
}

func (v *typesValue) Set(text string) error {
	types, ok := bench.ParseTypes(text)
	if !ok {
		return hinted("no such type", "one of uint8, int32, int64, half, float, double, bfloat16, all")
	}
	v.word, v.types = text, types
	return nil
}

func (v *typesValue) String() string { return v.word }

// redOpsValue is an operator, or all.
type redOpsValue struct {
	word string
	reds []op.RedOp
}

func (v *redOpsValue) Set(text string) error {
	reds, ok := bench.ParseRedOps(text)
	if !ok {
		return hinted("no such operator", "one of sum, prod, min, max, avg, all")
	}
	v.word, v.reds = text, reds
	return nil
}

func (v *redOpsValue) String() string { return v.word }

// sizesValue is a list of sizes, each with a number of iterations if -n is not
// to hold: 8x2000,64K.
type sizesValue []bench.Size

const sizesExample = "sizes, each with a number of iterations if -n is not to hold: 8x2000,64Kx500,16M"

func (v *sizesValue) Set(text string) error {
	*v = nil
	for word := range strings.SplitSeq(text, ",") {
		size, count, counted := strings.Cut(word, "x")
		var s bench.Size
		var err error
		if s.Bytes, err = parseSize(size); err != nil {
			return err
		}
		if counted {
			if s.Iterations, err = strconv.Atoi(count); err != nil || s.Iterations < 1 {
				return hinted("not a number of iterations", sizesExample)
			}
		}
		*v = append(*v, s)
	}
	return nil
}

func (v *sizesValue) String() string {
	var words []string
	for _, s := range *v {
		word := sizeText(s.Bytes)
		if s.Iterations > 0 {
			word += "x" + strconv.Itoa(s.Iterations)
		}
		words = append(words, word)
	}
	return strings.Join(words, ",")
}

// of are the sizes, with iterations for those that do not say.
func (v sizesValue) of(iterations int) []bench.Size {
	sizes := slices.Clone([]bench.Size(v))
	for i := range sizes {
		if sizes[i].Iterations == 0 {
			sizes[i].Iterations = iterations
		}
	}
	return sizes
}

// checked is how many calls are checked: none of simulated ones whose buffers
// are sizes without bytes.
func (o *benchOptions) checked() int {
	if simulated(o.device) && !o.data {
		return 0
	}
	return o.checks
}
