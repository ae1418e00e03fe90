// Package runner carries a run out: it loads a guest, starts a process for
// each rank or joins ranks that another launcher has started, lets them find
// each other, watches them, and says what came of it. Call [Run]; a process
// that Run has started calls [RankMain].
//
// It does not know what a run means: the flight files that it leaves in
// [Result.RunDir] are for package traces.
package runner

import (
	"context"
	"io"
	"time"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device/oplog"
	"github.com/ccrun/ccrun/host/flight"
)

// Config is a run.
type Config struct {
	WasmPath string
	Args     []string // the guest's own
	Ranks    int      // 0 for what the launcher's environment says, or [DefaultRanks]
	Native   string   // from [bench.Options.Job]: a benchmark that ranks carry out instead of the guest
	Record   bool     // what guests ask of their devices is written down, for [Result.WriteLog]
	Replay   bool     // WasmPath names such a log, which ranks carry out instead of a guest
	Fault    string   // what is to go wrong on purpose, as fault.Parse reads it; "" for nothing
	Device   string   // "auto", a name in host/device/all, or sim and what follows, as preset.ParseTarget reads it

	// Of a simulated run only.
	Set  []string // KEY=VALUE, as preset.Set reads it: numbers of the preset that are to be others
	Data bool     // all buffers hold data, however many there are

	// Algorithms says by which algorithm collectives are carried out; what it
	// does not say is the default's. Ranks that join and give none follow rank 0.
	Algorithms coll.Table

	Timeout           time.Duration // of the whole run, 0 for none
	OpTimeout         time.Duration // of one operation, 0 for none
	MemoryBytes       int64         // limit of each guest's linear memory, 0 for 4 GiB
	BufferMemoryBytes int64         // limit of each rank's buffers, 0 for the device's default

	TraceLevel flight.Level
	RunDir     string // "" for a new directory under TempDir
	Keep       bool   // Remove leaves the run directory alone
	Seed       uint64
	Labels     map[string]string
	Pin        bool // rank i to processor i
	Prefix     bool // put the rank before each line of output

	Stdout, Stderr io.Writer         // guests' output, whole lines
	Progress       io.Writer         // a terminal to show progress on, nil for none
	Ready          func(Start) error // called by the launcher before ranks run, which an error prevents; nil for nothing

	Self     string // path of the ccrun binary to start ranks with
	Env      func(string) string
	Environ  []string
	CacheDir string // for compiled guests, "" for the run directory
	TempDir  string

	stopGrace time.Duration // for ranks that are told to stop, 0 for killGrace
	lockLimit time.Duration // to wait for the run directory, 0 for lockTimeout

	log       *oplog.Log // of a replay, which all simulated ranks share
	keepsData bool       // a replay has the data of the run
}

// Start is what is known of a run before its ranks run.
type Start struct {
	RunID  string
	RunDir string // where the flight files will be
	Device string
	Ranks  int
}

// Limits of the number of ranks.
const (
	DefaultRanks      = 4
	RanksMax          = 256
	SimulatedRanksMax = 16_384
)

// Result is what came of a run.
type Result struct {
	RunID    string
	Device   string
	Launcher string // "launch", "simulate", or whose variables were followed: "torchrun", "openmpi", ...
	Labels   map[string]string
	Fault    string // what was made wrong on purpose, "" for nothing
	RunDir   string // where the flight files are; "" in a process that only joined
	Ranks    int
	ExitCode int
	Verdict  *Verdict // nil if all went well

	Verified       *bool               // nil if nothing was verified
	Digests        map[string][]string // name -> one for each rank, "" where a rank has none
	Wall           time.Duration
	GuestPeakBytes []int64       // linear memory of each rank's guest
	Logs           []*flight.Log // of each rank of a simulated run whose records are in this process until Remove; else nil, and they are in RunDir
	Remove         func() error  // removes the run directory unless it is to be kept

	// Simulation says what a simulated run stands for; nil of a real one.
	Simulation *Simulation

	// Keep leaves the run directory, instead of Remove, and says where it is
	// from then on; nil in a process that only joined.
	Keep func() (dir string, err error)
}

// Verdict says why a run ended badly.
type Verdict struct {
	Kind  string // one of the kinds below
	Code  int
	Text  string // one line, then one for each rank that has something to say
	Ranks []RankVerdict
}

// RankVerdict is what a rank did when the verdict was reached.
type RankVerdict struct {
	Rank          int      `json:"rank"`
	State         string   `json:"state"`           // starting, running, waiting, done, failed, lost, stopped
	Waits         []string `json:"waits,omitempty"` // each wait in words
	WaitsForRanks []int    `json:"waits_for_ranks,omitempty"`
	Function      string   `json:"function,omitempty"` // of the guest, where it waits or failed
	LastOperation string   `json:"last_operation,omitempty"`
	Detail        string   `json:"detail,omitempty"` // how it ended
	Stack         []string `json:"stack,omitempty"`  // of the guest, innermost first
}

// Kinds of verdicts.
const (
	KindExit       = "exit"
	KindAbort      = "abort"
	KindTrap       = "trap"
	KindLost       = "rank lost"
	KindDeadlock   = "deadlock"
	KindDesync     = "desync"
	KindUnverified = "verification failed"
	KindLimit      = "limit exceeded"
	KindABI        = "ABI mismatch"
	KindTimeout    = "timeout"
	KindSignal     = "signal"
	KindSetup      = "setup failed"
	KindInternal   = "internal error"
)

// Launched is how many ranks another launcher has started, as the environment
// says: 0 if there is none.
func Launched(env func(string) string) (int, error) {
	place, err := detect(env)
	if place == nil {
		return 0, err
	}
	return place.size, err
}

// Run carries out a run to its end: as the launcher of all its ranks, or, if
// the environment says that another launcher has started this process as one
// of several, as that rank. An [*Error] means that nothing was run.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.Replay {
		if err := c.prepareReplay(); err != nil {
			return nil, err
		}
	}
	if isSimulated(c.Device) {
		return simulate(ctx, c)
	}
	place, err := detect(c.Env)
	if err != nil {
		return nil, err
	}
	if c.Ranks, err = rankCount(c.Ranks, place); err != nil {
		return nil, err
	}
	if place != nil && place.rank > 0 {
		return follow(ctx, c, place)
	}
	return launch(ctx, c, place)
}
