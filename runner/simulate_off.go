//go:build !simulator

package runner

import "context"

// Simulation says what a simulated run stands for.
type Simulation struct{}

func isSimulated(string) bool { return false }

func simulate(context.Context, Config) (*Result, error) { return nil, nil }
