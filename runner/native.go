package runner

import (
	"github.com/ccrun/ccrun/runner/bench"
	"github.com/ccrun/ccrun/runner/guest"
)

// executeNative carries a benchmark out where the guest would run.
func (r *rank) executeNative() guest.Exit {
	w := &bench.World{Rank: r.spec.Rank, Size: r.spec.Size, Device: r.device, Exchange: r.exchange, Recorder: r.recorder, Selection: r.selection, Out: r.stdout}
	if err := w.Run(r.spec.Native); err != nil {
		return guest.Exit{Err: err, Trap: err.Error()}
	}
	return guest.Exit{}
}
