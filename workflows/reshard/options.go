package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// options are the flags.
type options struct {
	from, to string
	tensors  list
	model    string
	scale    int
	setting  // of the mode "pipelined", and what others change
	budget   budget
	mode     string
	split    ccrun.ByteSize
	fan      string
	packing  string // -transport
	streams  int
	iters    int
	warmup   int
	verify   string
	sweep    sweep
	plot     string
	title    string
	given    map[string]bool // flags that are there
}

// setting is how one run goes about it.
type setting struct {
	name       string
	bucket     ccrun.ByteSize
	inFlight   int
	maxBytes   int64 // 0 for no limit
	maxBuckets int
	policy     string
	window     int
	publish    string
	order      string
	refuse     bool // a bucket beyond the budget, rather than to let it run alone
	checksum   bool
}

// list is a flag that can be given several times.
type list []string

func (l *list) String() string         { return strings.Join(*l, " ") }
func (l *list) Set(value string) error { *l = append(*l, value); return nil }

// Limits of the flags.
const (
	itersMax   = 1 << 16
	scaleMax   = 1 << 16
	tensorsMax = 1 << 20
	streamsMax = 63 // a rank can have 64, and a pipeline needs one for itself
)

// budget is a number of bytes, or a part of the peak without a budget.
type budget struct {
	bytes     int64
	part, all int64 // a part of this many, if all is not 0
	percent   bool  // it is given as one
}

// Set reads "64MiB", "1/4" or "25%".
func (b *budget) Set(text string) error {
	*b = budget{}
	part, all, isPart := strings.Cut(text, "/")
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		part, all, isPart, b.percent = percent, "100", true, true
	}
	if !isPart {
		var size ccrun.ByteSize
		err := size.Set(text)
		b.bytes = int64(size)
		return err
	}
	var err, allErr error
	b.part, err = strconv.ParseInt(part, 10, 32)
	b.all, allErr = strconv.ParseInt(all, 10, 32)
	if err != nil || allErr != nil || b.part < 1 || b.all < 1 {
		return fmt.Errorf("not a size such as 64MiB, nor a part of the peak such as 1/4 or 25%%: %q", text)
	}
	if b.part > b.all {
		return fmt.Errorf("%s is more than the peak without a budget", text)
	}
	return nil
}

// String is the budget as it is given.
func (b *budget) String() string {
	switch {
	case b.all == 0:
		return ccrun.ByteSize(b.bytes).String()
	case b.percent:
		return fmt.Sprintf("%d%%", b.part)
	case b.part == b.all:
		return "1"
	}
	return fmt.Sprintf("%d/%d", b.part, b.all)
}

// of is the budget where a run without one held peak bytes.
func (b *budget) of(peak int64) int64 {
	if b.all == 0 {
		return b.bytes
	}
	if peak == 0 {
		return 0 // there is nothing to bound
	}
	return max(1, peak/b.all*b.part+peak%b.all*b.part/b.all)
}

// newOptions are the defaults for a device. Processors copy what is small fast,
// and in their caches; to launch something on an accelerator takes its time.
func newOptions(device string) *options {
	o := &options{
		scale:  1,
		budget: budget{part: 1, all: 4}, mode: "all", fan: "whole", packing: "auto", split: 2 << 20, iters: 5, warmup: 1, verify: "last",
	}
	o.setting = setting{name: "pipelined", bucket: 1 << 20, inFlight: 2, policy: "all-at-once", window: 4, publish: "at-once", order: "matched"}
	if device == "cpu" {
		o.bucket = 256 << 10
	}
	return o
}

func (o *options) register(flags *flag.FlagSet) {
	flags.StringVar(&o.from, "from", "", "`layout` that the tensors have: mesh:placements such as 2x8:S0,R or 8@8:P(sum); of a model, fsdp=2,tp=8 and the like (default N:S0 or fsdp=N)")
	flags.StringVar(&o.to, "to", "", "`layout` that they are to have (default N:S1 or tp=N)")
	flags.Var(&o.tensors, "tensor", "`shape:type[:count]` of a tensor, or so many: 1000x777:f32 (repeatable; default 512x512:f32:64)")
	flags.StringVar(&o.model, "model", "", "the tensors of a `model` instead: llama3-8b or qwen3-moe-30b")
	flags.IntVar(&o.scale, "scale", o.scale, "make the dimensions of the model's tensors so many times smaller")
	flags.Var(&o.bucket, "bucket", "join entries until a bucket has this `size`, 0 for none")
	flags.Var(&o.split, "split", "cut what one rank has for others into entries of this `size` at most, 0 for no limit")
	flags.StringVar(&o.fan, "fan", o.fan, "what several ranks need is sent: whole (at once to all), node (once per node) or rank (once to each)")
	flags.IntVar(&o.inFlight, "in-flight", o.inFlight, "buckets in flight per channel")
	flags.Var(&o.budget, "max-bytes", "budget of staging memory over all channels of a rank: a `size`, a part of the peak without one such as 1/4 or 25%, or 0 for no limit")
	flags.IntVar(&o.maxBuckets, "max-buckets", 0, "buckets in flight over all channels of a rank, 0 for no limit")
	flags.BoolVar(&o.refuse, "refuse", false, "refuse a bucket that is larger than the budget, rather than to let it run alone")
	flags.StringVar(&o.mode, "mode", o.mode, "serial, pipelined, budget, or all three to compare them")
	flags.StringVar(&o.policy, "policy", o.policy, "admit buckets all-at-once, windowed, serialized, by credits, or scripted (see script.go)")
	flags.IntVar(&o.window, "window", o.window, "buckets of a window, of the policies windowed and scripted")
	flags.StringVar(&o.order, "order", o.order, "order of the buckets: matched (in each round a rank gives to one other and gets from one), formed, or largest first (see script.go)")
	flags.StringVar(&o.publish, "publish", o.publish, "write what has arrived at-once, in-order (earlier ones have arrived everywhere), or one-by-one (are written everywhere)")
	flags.StringVar(&o.packing, "transport", o.packing, "packed, chain, scattered, direct (from where it lies to where it belongs), or auto: direct within a node; see README.md")
	flags.BoolVar(&o.checksum, "checksum", false, "compare digests of each bucket")
	flags.IntVar(&o.streams, "streams", 0, "streams of a rank, 0 for as many as can be of use")
	flags.IntVar(&o.iters, "iters", o.iters, "iterations")
	flags.IntVar(&o.warmup, "warmup", o.warmup, "iterations before those that count")
	flags.StringVar(&o.verify, "verify", o.verify, "iterations whose result is verified: all, last or off")
	flags.Var(&o.sweep, "sweep", "`name=range`: channels=1..64, max-bytes=1MiB..64MiB or =1/16..1, bucket=256KiB..8MiB or in-flight=1..4")
	flags.StringVar(&o.plot, "plot", "", "write svg or csv to standard output, and tables to standard error")
	flags.StringVar(&o.title, "title", "", "what stands above the plot, such as the `machine` that it is of")
}

func parse(args []string, ranks int, device string, out io.Writer) (*options, error) {
	o := newOptions(device)
	flags := flag.NewFlagSet("reshard", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says what is wrong, and sixty lines of flags do not
	o.register(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			flags.Usage()
		}
		return nil, err
	}
	o.given = make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if len(o.tensors) == 0 && o.model == "" {
		o.tensors = list{"512x512:f32:64"}
		if o.sweep.name == "channels" {
			o.tensors = list{"512x512:f32:16"} // to each rank
		}
	}
	o.lay(ranks)
	if err := o.checkNumbers(); err != nil {
		return nil, err
	}
	if err := o.checkWords(); err != nil {
		return nil, err
	}
	if err := o.checkIdle(); err != nil {
		return nil, err
	}
	return o, o.sweep.check(ranks)
}

// lay sets the layouts that are not given: all ranks have rows and are to have
// columns, or, of a model, what is trained is to be served.
func (o *options) lay(ranks int) {
	from, to := "%d:S0", "%d:S1"
	if o.model != "" {
		from, to = "fsdp=%d", "tp=%d"
	}
	if o.from == "" {
		o.from = fmt.Sprintf(from, ranks)
	}
	if o.to == "" {
		o.to = fmt.Sprintf(to, ranks)
	}
}

// The words of flags that are numbers elsewhere, at their number.
var (
	policies   = []string{ccrun.AllAtOnce: "all-at-once", ccrun.Windowed: "windowed", ccrun.Serialized: "serialized", ccrun.Credits: "credits", ccrun.Scripted: "scripted"}
	publishing = []string{ccrun.PublishAtOnce: "at-once", ccrun.PublishInOrder: "in-order", ccrun.PublishOneByOne: "one-by-one"}
	transports = []string{ccrun.Packed: "packed", ccrun.Chain: "chain", ccrun.Scattered: "scattered", ccrun.Direct: "direct"}
	fans       = []string{reshard.Whole: "whole", reshard.PerNode: "node", reshard.PerRank: "rank"}
)

// number is the place of a word, -1 if it is not there.
func number(words []string, word string) int {
	for i := range words {
		if words[i] == word {
			return i
		}
	}
	return -1
}
