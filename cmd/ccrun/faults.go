package main

import (
	"github.com/ccrun/ccrun/host/device/fault"
	"github.com/ccrun/ccrun/runner"
)

// faultsValue gathers --fault flags.
type faultsValue []fault.Fault

func (v *faultsValue) Set(text string) error {
	faults, err := fault.Parse(text)
	switch {
	case err != nil:
		return hinted(err.Error(), runner.FaultHint)
	case len(faults) == 0:
		return hinted("nothing to make wrong", runner.FaultHint)
	}
	*v = append(*v, faults...)
	return nil
}

func (v *faultsValue) String() string {
	if v == nil {
		return ""
	}
	return fault.Format(*v)
}
