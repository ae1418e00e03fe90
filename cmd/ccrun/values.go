package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccrun/ccrun/host/flight"
)

// Flag values: each parses one word of the command line. An error's first line
// says what is wrong, the second what would be right.

// hinted is the error of a value.
func hinted(text, hint string) error { return errors.New(text + "\n" + hint) }

// countValue is a number from 1 on.
type countValue int

func (v *countValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return hinted("the number is too large", "a node has at most a few hundred ranks")
	case err != nil:
		return hinted("not a number", "for example 4")
	case n < 1:
		return hinted("there is at least one rank", "for example 4")
	}
	*v = countValue(n)
	return nil
}

func (v *countValue) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return strconv.Itoa(int(*v))
}

// spansValue is how many spans of a collective are exported.
type spansValue int

const (
	spansExample  = "a number from 1 to 100000000; 10000 is what most trace stores can show"
	spansPossible = 100_000_000
)

func (v *spansValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > spansPossible {
		return hinted("not a number of spans", spansExample)
	}
	*v = spansValue(n)
	return nil
}

func (v *spansValue) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return strconv.Itoa(int(*v))
}

// durationValue is a time with its unit.
type durationValue time.Duration

const durationExample = "a number with its unit: 30s, 5m or 500ms; 0 for no limit"

func (v *durationValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return hinted("not a time", durationExample)
	}
	if d < 0 {
		return hinted("a time cannot be negative", durationExample)
	}
	*v = durationValue(d)
	return nil
}

func (v *durationValue) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	text := time.Duration(*v).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// levelValue is how much is recorded.
type levelValue flight.Level

func (v *levelValue) Set(text string) error {
	level, ok := flight.ParseLevel(text)
	if !ok {
		return hinted("no such level", "one of off, collective, flow, slice, message")
	}
	*v = levelValue(level)
	return nil
}

func (v *levelValue) String() string {
	if v == nil {
		return ""
	}
	return flight.Level(*v).String()
}

// choiceValue is one of a few words.
type choiceValue struct {
	word  string
	words []string
}

func (v *choiceValue) Set(text string) error {
	if !slices.Contains(v.words, text) {
		return hinted("no such choice", "one of "+strings.Join(v.words, ", "))
	}
	v.word = text
	return nil
}

func (v *choiceValue) String() string { return v.word }

// labelsValue gathers k=v pairs.
type labelsValue map[string]string

func (v labelsValue) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return hinted("not a label", "a name and a value: --label cluster=a3")
	}
	if old, taken := v[key]; taken && old != value {
		return hinted(fmt.Sprintf("label %q has another value already", key), "give each label once")
	}
	v[key] = value
	return nil
}

func (v labelsValue) String() string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		pairs = append(pairs, key+"="+v[key])
	}
	return strings.Join(pairs, " ")
}

// seedValue is any 64-bit number.
type seedValue uint64

func (v *seedValue) Set(text string) error {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return hinted("the number is too large", "at most 64 bits")
		}
		return hinted("not a number", "for example 42, or 0x2a")
	}
	*v = seedValue(n)
	return nil
}

func (v *seedValue) String() string {
	if v == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*v), 10)
}
