package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/check"
	"github.com/ccrun/ccrun/host/check/logged"
	"github.com/ccrun/ccrun/host/device/oplog"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner"
)

// checkOptions are the flags of a check.
type checkOptions struct {
	*runOptions
	states countValue
}

const checkStates = 1_000_000

func checkCommand(s *state) *cli.Command {
	o := &checkOptions{runOptions: defaultOptions(), states: checkStates}
	o.device, o.trace = "sim", levelValue(flight.LevelOff)
	return &cli.Command{
		Name:      "check",
		Usage:     "look for orders of a workflow's operations that deadlock or race",
		UsageText: "ccrun check [flags] WORKFLOW.wasm [the workflow's own arguments], or ccrun check [flags] FILE.oplog",
		Description: `   ccrun check -n 4 ring_allgather.wasm -bytes 64KiB -iters 2
   ccrun record -n 4 -o ring.oplog ring_allgather.wasm
   ccrun check ring.oplog

The workflow runs once, on the simulator unless --device says otherwise, and what
it asks of its devices is recorded. All orders in which streams and ranks may
carry that out are then looked at: one that deadlocks, or in which two ranks
disagree on what they do together, is printed with the operations that wait, and
so are two operations on the same bytes of which one writes and nothing makes
either wait for the other. The rank, the operation and the function of the
workflow are named.

The exit code is 0 if there is no such order, 112 for a deadlock, 113 if ranks
disagree, 114 for a race, or the run's own if it failed and nothing was found. What
the workflow does only for other data, or at other times, is not seen.
`,
		Flags: []cli.Flag{
			valueFlag(&o.ranks, "record `N` ranks (default: as many as the simulated node has)", "ranks", "n"),
			textFlag(&o.device, o.device, "record on `DEVICE`: auto, cpu, sim[:PRESET[xNODES]]", "device"),
			valueFlag(&o.set, "simulate with another number: `KEY=VALUE` is link.nvlink.bandwidth=2x, or =300GB/s (repeatable)", "set"),
			valueFlag(&o.states, "go through `N` states at most", "states"),
			valueFlag(&o.timeout, "stop the recording after `TIME` (default: never)", "timeout"),
			valueFlag(&o.seed, "derive what is random from `NUMBER`", "seed"),
			valueFlag(&o.algorithms, algorithmsUsage, "algorithms"),
			boolFlag(&o.json, "print one JSON object", "json"),
		},
		Action: func(c *cli.Context) error { return o.check(c.Context, s, c.Args()) },
	}
}

func (o *checkOptions) check(ctx context.Context, s *state, args cli.Args) error {
	if !args.Present() {
		return usageError{"no workflow given", "ccrun check [flags] WORKFLOW.wasm [arguments], or ccrun check FILE.oplog"}
	}
	if err := onlySimulated(o.device, o.data, o.set); err != nil {
		return err
	}
	path := args.First()
	log, err := readLog(path)
	var verdict *runner.Verdict
	if errors.Is(err, errNoLog) {
		log, verdict, err = o.record(ctx, s, path, args.Tail())
	} else if err == nil && args.Len() > 1 {
		return usageError{"unexpected argument " + quote(args.Get(1)), "a log is of a run that has had its arguments"}
	}
	if err != nil {
		return err
	}
	result, err := o.search(log)
	if err != nil && verdict == nil {
		return usageError{path + ": " + err.Error(), "record it again with ccrun record"}
	}
	r := newCheckReport(path, log.Ranks, result, verdict)
	if err != nil { // the run failed, so its log is not whole
		r.Unchecked = err.Error()
	}
	if o.json {
		text, err := json.MarshalIndent(r, "", "  ")
		return cmp.Or(err, writeAll(s.stdout, string(text)+"\n"), exitCode(r.ExitCode))
	}
	return cmp.Or(writeAll(s.stdout, r.text()), exitCode(r.ExitCode))
}

// search looks through the orders of a log. Of one that cannot be checked the
// result is empty.
func (o *checkOptions) search(log *oplog.Log) (*check.Result, error) {
	schedule, err := logged.Schedule(log)
	if err != nil {
		return &check.Result{}, err
	}
	result, err := check.Check(schedule, int(o.states))
	if err != nil {
		return &check.Result{}, err
	}
	return result, nil
}

var errNoLog = errors.New("not an operation log")

// readLog reads a log. What does not begin like one may be a workflow.
func readLog(path string) (*oplog.Log, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usageError{"cannot read it: " + err.Error(), "give the path of a workflow or of a log of ccrun record"}
	}
	defer file.Close()
	in := bufio.NewReader(file)
	if magic, _ := in.Peek(len(oplogBegins)); !bytes.Equal(magic, []byte(oplogBegins)) {
		return nil, errNoLog
	}
	log, err := oplog.Parse(in, nil)
	if err != nil {
		return nil, usageError{path + ": " + err.Error(), "give a log that ccrun record has written"}
	}
	return log, nil
}

// oplogBegins is how every log begins, of whatever version.
const oplogBegins = "ccrun oplog"

// record runs a workflow and gives its log, and how it ended if it ended badly.
func (o *checkOptions) record(parent context.Context, s *state, path string, args []string) (*oplog.Log, *runner.Verdict, error) {
	if err := o.algorithms.fromEnvironment(s.env); err != nil {
		return nil, nil, err
	}
	c := o.config(s, path, args)
	c.Algorithms, c.Record, c.Stdout = o.algorithms.table, true, io.Discard
	ctx, stop := interruptibleUntil(parent, s, new(atomic.Bool))
	defer stop()
	result, err := runner.Run(ctx, c)
	if err != nil {
		return nil, nil, cmp.Or(context.Cause(ctx), err)
	}
	if result.RunDir == "" {
		return nil, nil, usageError{"a run that another launcher has started cannot be checked", "start ccrun check by itself"}
	}
	file := filepath.Join(result.RunDir, "check.oplog")
	_, err = result.WriteLog(file)
	var log *oplog.Log
	if err == nil {
		log, err = readLog(file)
	}
	if err != nil && result.Verdict != nil { // nothing that can be read is left of it
		log, err = &oplog.Log{Ranks: result.Ranks}, nil
	}
	return log, result.Verdict, cmp.Or(err, result.Remove())
}

// checkReport is what a check prints. Fields are only ever added.
type checkReport struct {
	File       string         `json:"file"`
	Ranks      int            `json:"ranks"`
	Operations int            `json:"operations"`
	Orders     int            `json:"orders"`
	States     int            `json:"states"`
	Complete   bool           `json:"complete"`
	MemoryFull bool           `json:"memory_full,omitempty"` // the search was given up for the memory that it took
	Findings   []checkFinding `json:"findings"`
	Run        string         `json:"run,omitempty"`       // how the recorded run ended, if badly
	Unchecked  string         `json:"unchecked,omitempty"` // why there was nothing to look through
	ExitCode   int            `json:"exit_code"`
}

type checkFinding struct {
	Class  string       `json:"class"`
	Cause  string       `json:"cause"`
	Why    string       `json:"why"`
	Places []checkPlace `json:"places"`
	Order  []checkPlace `json:"order"`
	text   string
}

type checkPlace struct {
	Rank      int    `json:"rank"`
	Stream    int    `json:"stream"` // 0 for the workflow itself
	Role      string `json:"role"`
	Operation string `json:"operation"`
	Function  string `json:"function"`
	Line      int    `json:"line"` // of the rank's in the log, from 1
}

// checkCodes are the exit codes of findings.
var checkCodes = map[check.Class]int{
	check.Mismatch: runner.ExitDesync, check.Deadlock: runner.ExitDeadlock, check.Race: runner.ExitUnverified,
}

func newCheckReport(path string, ranks int, result *check.Result, verdict *runner.Verdict) *checkReport {
	r := &checkReport{
		File: path, Ranks: ranks, Operations: result.Operations, Orders: result.Orders, States: result.States,
		Complete: result.Complete, MemoryFull: result.Full, Findings: []checkFinding{},
	}
	if verdict != nil {
		r.Run, r.ExitCode = verdict.Text, verdict.Code
	}
	for i := range result.Findings {
		f := &result.Findings[i]
		if i == 0 {
			r.ExitCode = checkCodes[f.Class]
		}
		r.Findings = append(r.Findings, checkFinding{
			Class: f.Class.String(), Cause: f.Cause, Why: f.Why, Places: checkPlaces(f.Places), Order: checkPlaces(f.Order), text: f.Text(),
		})
	}
	return r
}

func checkPlaces(places []check.Place) []checkPlace {
	out := make([]checkPlace, len(places))
	for i, p := range places {
		out[i] = checkPlace{p.Rank, p.Stream, p.Role, p.Operation, p.Function, p.Line}
	}
	return out
}

// text is the report in lines.
func (r *checkReport) text() string {
	var b strings.Builder
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "%s: %s\n", f.Class, strings.ReplaceAll(f.text, "\n", "\n  "))
	}
	counted := fmt.Sprintf("%s of %d operations on %d ranks", orders(r.Orders), r.Operations, r.Ranks)
	switch {
	case len(r.Findings) > 0:
		fmt.Fprintf(&b, "found in %s, %d states\n", counted, r.States)
	case r.Unchecked != "":
		fmt.Fprintf(&b, "nothing was checked (%s), for the recorded run failed: %s\n", r.Unchecked, strings.ReplaceAll(r.Run, "\n", "\n  "))
	case r.Run != "":
		fmt.Fprintf(&b, "nothing was found in %s, %d states, but the recorded run failed: %s\n", counted, r.States, strings.ReplaceAll(r.Run, "\n", "\n  "))
	case r.Complete:
		fmt.Fprintf(&b, "no order of %d operations on %d ranks deadlocks or races (searched completely: %s, %d states)\n", r.Operations, r.Ranks, orders(r.Orders), r.States)
	case r.MemoryFull:
		fmt.Fprintf(&b, "no deadlock or race in the first %d states of %s: more take too much memory, try fewer ranks or iterations\n", r.States, counted)
	default:
		fmt.Fprintf(&b, "no deadlock or race in the first %d states of %s: not searched completely, --states %d goes further\n", r.States, counted, 10*max(r.States, 1))
	}
	return b.String()
}

// orders counts orders that differ in what they lead to.
func orders(n int) string {
	if n == 1 {
		return "the one order that matters"
	}
	return strconv.Itoa(n) + " orders that matter"
}
