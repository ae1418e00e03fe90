package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ccrun/ccrun/host/flight"
)

// specVariable is the environment variable that holds a rank's [spec].
const specVariable = "CCRUN_RANK"

// spec is all that a rank needs to know. It travels as JSON, in the
// environment of a rank that the launcher starts and over the rendezvous to
// one that joins.
type spec struct {
	RunID     string `json:"run_id"`
	Rank      int    `json:"rank"`
	Size      int    `json:"size"`
	LocalRank int    `json:"local_rank"`
	LocalSize int    `json:"local_size"`
	RunDir    string `json:"run_dir"`
	Socket    string `json:"socket"`
	Token     string `json:"token"`

	WasmPath string   `json:"wasm_path"`
	WasmSum  string   `json:"wasm_sum"`
	Args     []string `json:"args"`
	CacheDir string   `json:"cache_dir"`

	Native string `json:"native,omitempty"` // a benchmark to carry out in the guest's place
	Fault  string `json:"fault,omitempty"`  // that the device is to have; see package fault

	Record    bool `json:"record,omitempty"`
	Replay    bool `json:"replay,omitempty"`     // WasmPath is a log
	KeepsData bool `json:"keeps_data,omitempty"` // its replay has the data of the run

	Algorithms string `json:"algorithms,omitempty"` // the text of a selection table

	Device            string        `json:"device"`
	OpTimeout         time.Duration `json:"op_timeout_ns"`
	MemoryBytes       int64         `json:"memory_bytes"`
	BufferMemoryBytes int64         `json:"buffer_memory_bytes"`
	TraceLevel        flight.Level  `json:"trace_level"`
	Seed              uint64        `json:"seed"`
	UnwindGrace       time.Duration `json:"unwind_grace_ns"` // for a guest to come to its next host call when told to stop

	// GuestStderr says that the guest's standard error has a descriptor of its
	// own, number guestStderr, and descriptor 2 is for the Go runtime's last words.
	GuestStderr bool `json:"guest_stderr,omitempty"`
}

const guestStderr = 3

// sourcesMax is how many guests of one process may have to tell where in the
// source they are.
const sourcesMax = 64

// hasMany reports whether a process has very many of the run's guests: only a
// simulated run has more than one.
func (s *spec) hasMany() bool { return isSimulated(s.Device) && s.Size > sourcesMax }

var errNoSpec = errors.New(specVariable + " is not set: ranks are started by the launcher")

func parseSpec(text string) (*spec, error) {
	if text == "" {
		return nil, errNoSpec
	}
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("%s: %w", specVariable, err)
	}
	if s.Size < 1 || s.Size > RanksMax || s.Rank < 0 || s.Rank >= s.Size || s.RunDir == "" || s.Socket == "" {
		return nil, fmt.Errorf("%s: not a rank of a run", specVariable)
	}
	return &s, nil
}

func (s *spec) String() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a structure of numbers and strings
	}
	return string(text)
}

// Keys of the rendezvous that the runner uses.
const (
	keyAbort  = "run/abort"  // an abortOrder: the run is given up
	keyFinish = "run/finish" // all guests have ended
	keySpec   = "run/spec"   // for those who join
)

func keyDone(rank int) string { return fmt.Sprintf("run/done/%d", rank) } // a report
func keyJoin(rank int) string { return fmt.Sprintf("run/join/%d", rank) } // a joinRequest

// abortOrder tells ranks to stop, and why.
type abortOrder struct {
	Kind string `json:"kind"`
	Code int    `json:"code"`
	Text string `json:"text"`
}

// Error is the text, for the guest's stack trace.
func (a *abortOrder) Error() string { return a.Text }
