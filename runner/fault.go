package runner

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/fault"
)

// FaultHint says how faults are written.
const FaultHint = "for example delay=2:3x, delay=2:200us, jitter=2:5%, corrupt=2@10, fail=2@10, kill=2@10 or hang=2@10, rank 2's operations in each; " +
	"to be choosy, ,kind=put+get ,peer=3 ,nth=5 ,p=0.1 after it; and reduction"

// checkFault gives what is to go wrong in the form that all ranks and the
// report have, or refuses it.
func checkFault(text string, ranks int) (string, error) {
	faults, err := fault.Parse(text)
	if err != nil {
		return "", refuse(FaultHint, "fault: %v", err)
	}
	var absent *fault.RankError
	if err := fault.Check(faults, ranks); errors.As(err, &absent) {
		return "", refuse("raise -n, or let it happen to another rank", "fault: %v", err)
	}
	return fault.Format(faults), nil
}

// withFault has a rank's device go wrong, if the run is to. kill ends the rank.
func withFault(d device.Device, s *spec, kill func()) (device.Device, error) {
	faults, err := fault.Parse(s.Fault)
	if err != nil {
		return nil, err // of a launcher that is not of this version
	}
	return fault.Wrap(d, fault.Config{Faults: faults, Rank: s.Rank, Seed: s.Seed, Kill: kill})
}

// killSelf ends this process as if somebody had killed it.
func killSelf() {
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {} // the signal arrives when it does
}
