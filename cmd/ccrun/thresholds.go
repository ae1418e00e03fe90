package main

import (
	"strings"

	"github.com/ccrun/ccrun/traces"
)

// thresholdsValue gathers --threshold flags.
type thresholdsValue []traces.Threshold

func (v *thresholdsValue) Set(text string) error {
	threshold, err := traces.ParseThreshold(text)
	if err != nil {
		return hinted(strings.TrimPrefix(err.Error(), "threshold "+quote(text)+": "), traces.ThresholdHint())
	}
	*v = append(*v, threshold)
	return nil
}

func (v *thresholdsValue) String() string { return "" }

// thresholdOutcome is a threshold after the run.
type thresholdOutcome struct {
	Text    string `json:"text"`
	Crossed bool   `json:"crossed"`
}

func (v thresholdsValue) outcomes(summary *traces.Summary) []thresholdOutcome {
	outcomes := make([]thresholdOutcome, 0, len(v))
	for _, threshold := range v {
		crossed, text := threshold.Check(summary)
		outcomes = append(outcomes, thresholdOutcome{text, crossed})
	}
	return outcomes
}
