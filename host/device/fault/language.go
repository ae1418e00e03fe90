package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccrun/ccrun/host/op"
)

// Limits of what a fault may ask for.
const (
	factorMax  = 1000
	percentMax = 1000 // of a jitter
	timeMax    = time.Hour
	faultsMax  = 64
)

// Parse reads faults, separated by semicolons. A fault is an effect, and then
// in which operations, all after commas:
//
//	reduction
//	delay=RANK:FACTORx   delay=RANK:TIME   kill=RANK[@N]   hang=RANK[@N]
//	jitter=RANK:PERCENT% corrupt=RANK[@N]  fail=RANK[@N]
//	kind=KIND+KIND...    peer=RANK         nth=N           p=PROBABILITY
//
// RANK is a number or * for any rank; @N is short for nth=N, and kill, hang and
// fail without it mean the first operation. Operations are counted that are of
// the kinds and with the peer.
func Parse(text string) ([]Fault, error) {
	var faults []Fault
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		f, err := parseFault(part)
		if err != nil {
			return nil, err
		}
		if faults = append(faults, f); len(faults) > faultsMax {
			return nil, fmt.Errorf("more than %d faults", faultsMax)
		}
	}
	return faults, nil
}

// Format is what Parse reads as these faults.
func Format(faults []Fault) string {
	parts := make([]string, len(faults))
	for i := range faults {
		parts[i] = faults[i].String()
	}
	return strings.Join(parts, ";")
}

func parseFault(text string) (Fault, error) {
	head, predicates, more := strings.Cut(text, ",")
	name, argument, given := strings.Cut(head, "=")
	f := Fault{Effect: effectCount, Rank: AnyRank, Peer: AnyPeer}
	for e := range effectCount {
		if effects[e] == name {
			f.Effect = e
		}
	}
	switch {
	case f.Effect == effectCount:
		return f, fmt.Errorf("no fault is called %q", name)
	case f.Effect == Reduction && text != name:
		return f, errors.New("reduction is a fault of all ranks and all reductions")
	case f.Effect == Reduction:
		return f, nil
	case !given:
		return f, fmt.Errorf("%s of which rank?", name)
	}
	if err := f.parseArgument(argument); err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	if more {
		for predicate := range strings.SplitSeq(predicates, ",") {
			if err := f.parsePredicate(predicate); err != nil {
				return f, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if f.ends() && f.Nth == 0 && f.Probability == 0 {
		f.Nth = 1
	}
	return f, f.checkKinds()
}

// ends reports whether nothing follows the operation that the fault is in: it
// happens once, unless more is asked for.
func (f *Fault) ends() bool { return f.Effect == Kill || f.Effect == Hang || f.Effect == Fail }

// checkKinds refuses operations that the fault could do nothing to.
func (f *Fault) checkKinds() error {
	silent := func(k op.Kind) bool { return !k.Writes() }
	if i := slices.IndexFunc(f.Kinds, silent); i >= 0 && f.Effect == Corrupt {
		return fmt.Errorf("%s: %s writes no bytes that could be wrong: those that do are %s",
			f.Effect, f.Kinds[i], kindNames(slices.DeleteFunc(slices.Clone(possible), silent), ", "))
	}
	return nil
}

// measured reports whether the rank is followed by how much.
func (f *Fault) measured() bool { return f.Effect == Delay || f.Effect == Jitter }

// parseArgument reads what follows the effect: the rank, and how long or when.
func (f *Fault) parseArgument(text string) (err error) {
	separator := "@"
	if f.measured() {
		separator = ":"
	}
	rank, rest, given := strings.Cut(text, separator)
	if f.Rank, err = parseRank(rank); err != nil {
		return err
	}
	switch {
	case f.Effect == Delay && !given:
		return fmt.Errorf("by how much? %s:3x is three times as long, %[1]s:200us that much longer", rank)
	case f.Effect == Delay:
		return f.parseAmount(rest)
	case f.Effect == Jitter && !given:
		return fmt.Errorf("by how much? %s:5%% is up to 5 %% longer", rank)
	case f.Effect == Jitter:
		f.Percent, err = parsePercent(rest)
	case given:
		f.Nth, err = parseNth(rest)
	}
	return err
}

func parseRank(text string) (int, error) {
	if text == "*" {
		return AnyRank, nil
	}
	rank, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not a rank", text)
	}
	return int(rank), nil
}

func parseNth(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not the number of an operation: the first is 1", text)
	}
	return n, nil
}

// parseAmount reads how much longer a delay makes operations.
func (f *Fault) parseAmount(text string) error {
	if factor, ok := strings.CutSuffix(text, "x"); ok {
		v, err := strconv.ParseFloat(factor, 64)
		if err != nil || !(v > 1 && v <= factorMax) {
			return fmt.Errorf("%q is not a factor above 1 and up to %d", text, factorMax)
		}
		f.Factor = v
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > timeMax {
		return fmt.Errorf("%q is neither a factor (3x) nor a time (200us, at most %v)", text, timeMax)
	}
	f.Time = d
	return nil
}

// parsePercent reads how much longer a jitter makes operations at most.
func parsePercent(text string) (float64, error) {
	digits, ok := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(v > 0 && v <= percentMax) {
		return 0, fmt.Errorf("%q is not a percentage (5%%) above 0 and up to %d", text, percentMax)
	}
	return v, nil
}

// parsePredicate reads which operations a fault concerns.
func (f *Fault) parsePredicate(text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	again := false
	switch name {
	case "kind":
		again = f.Kinds != nil
		f.Kinds, err = parseKinds(value)
	case "peer":
		again = f.Peer != AnyPeer
		f.Peer, err = parsePeer(value)
	case "nth":
		again = f.Nth != 0
		f.Nth, err = parseNth(value)
	case "p":
		again = f.Probability != 0
		if f.Probability, err = strconv.ParseFloat(value, 64); err != nil || !(f.Probability > 0 && f.Probability <= 1) {
			err = fmt.Errorf("%q is not a probability above 0 and up to 1", value)
		}
	default:
		err = fmt.Errorf("%q is not kind=, peer=, nth= or p=", text)
	}
	if err == nil && again {
		err = fmt.Errorf("%s is given twice", name)
	}
	return err
}

// parsePeer reads the rank at the other end.
func parsePeer(text string) (int, error) {
	peer, err := parseRank(text)
	if err == nil && peer == AnyRank {
		err = errors.New("leave peer= out for any")
	}
	return peer, err
}

func parseKinds(text string) ([]op.Kind, error) {
	var kinds []op.Kind
	for name := range strings.SplitSeq(text, "+") {
		k, ok := kindNamed(name)
		if !ok {
			return nil, fmt.Errorf("no operation that a fault can be in is called %q: there are %s", name, kindNames(possible, ", "))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func kindNames(kinds []op.Kind, separator string) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, separator)
}

// String is what Parse reads as this fault.
func (f *Fault) String() string {
	if f.Effect == Reduction {
		return f.Effect.String()
	}
	var b strings.Builder
	b.WriteString(f.Effect.String() + "=")
	if f.Rank == AnyRank {
		b.WriteString("*")
	} else {
		b.WriteString(strconv.Itoa(f.Rank))
	}
	switch {
	case f.Factor != 0:
		b.WriteString(":" + number(f.Factor) + "x")
	case f.Time != 0:
		b.WriteString(":" + f.Time.String())
	case f.Percent != 0:
		b.WriteString(":" + number(f.Percent) + "%")
	case f.Nth != 0:
		fmt.Fprintf(&b, "@%d", f.Nth)
	}
	if f.Kinds != nil {
		b.WriteString(",kind=" + kindNames(f.Kinds, "+"))
	}
	if f.Peer != AnyPeer {
		fmt.Fprintf(&b, ",peer=%d", f.Peer)
	}
	if f.measured() && f.Nth != 0 {
		fmt.Fprintf(&b, ",nth=%d", f.Nth)
	}
	if f.Probability != 0 {
		b.WriteString(",p=" + number(f.Probability))
	}
	return b.String()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
