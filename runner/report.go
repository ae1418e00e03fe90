package runner

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
)

// report is how one rank ended, in its own words: the launcher gets it over
// the rendezvous, and it stays in the run directory.
type report struct {
	Rank     int           `json:"rank"`
	Kind     string        `json:"kind"` // "" if all went well, kindStopped, or a kind of verdict
	Code     int           `json:"code"` // exit code that the rank asks for
	Text     string        `json:"text,omitempty"`
	Stack    []guest.Frame `json:"stack,omitempty"`
	EndNanos int64         `json:"end_ns"` // on the node's monotonic clock

	LastError      string         `json:"last_error,omitempty"`
	Desync         string         `json:"desync,omitempty"`  // the first failure that shows that ranks disagree
	Corrupt        string         `json:"corrupt,omitempty"` // and that bytes have not come as they were sent
	Results        module.Results `json:"results"`
	GuestPeakBytes int64          `json:"guest_peak_bytes"`
}

// kindStopped is the report of a rank that was told to stop.
const kindStopped = "stopped"

// failed reports whether the rank ended badly by itself.
func (r *report) failed() bool { return r.Kind != "" && r.Kind != kindStopped }

// encode gives the report as JSON of at most maxBytes: it drops the stack's
// outer frames and cuts texts, which a guest can make as long as it likes.
func (r *report) encode(maxBytes int) []byte {
	for {
		data, err := json.Marshal(r)
		if err == nil && len(data) <= maxBytes {
			return data
		}
		if len(r.Stack) == 0 && max(len(r.Text), len(r.LastError), len(r.Desync), len(r.Corrupt)) < 64 {
			r.Results.Digests = nil
			data, _ = json.Marshal(r)
			return data
		}
		r.Stack = r.Stack[:len(r.Stack)/2]
		r.Text, r.LastError, r.Desync, r.Corrupt = cut(r.Text), cut(r.LastError), cut(r.Desync), cut(r.Corrupt)
	}
}

func cut(s string) string { return s[:min(len(s), max(len(s)/2, 63))] }

func parseReport(data []byte) (*report, error) {
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return &r, nil
}

// write puts the report into the run directory, all of it or nothing.
func (r *report) write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	path := reportPath(dir, r.Rank)
	if err := os.WriteFile(path+".part", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
