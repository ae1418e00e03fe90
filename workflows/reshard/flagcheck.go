package main

import (
	"fmt"
	"strings"
)

func (o *options) checkNumbers() error {
	switch {
	case o.iters < 1 || o.warmup < 0 || max(o.iters, o.warmup) > itersMax:
		return fmt.Errorf("-iters %d -warmup %d: want at least 1 and 0, at most %d", o.iters, o.warmup, itersMax)
	case o.scale < 1 || o.scale > scaleMax:
		return fmt.Errorf("-scale %d: want 1 to %d", o.scale, scaleMax)
	case o.inFlight < 1 || o.maxBuckets < 0 || o.window < 1:
		return fmt.Errorf("-in-flight %d -max-buckets %d -window %d: want at least 1, 0 and 1", o.inFlight, o.maxBuckets, o.window)
	case o.streams < 0 || o.streams > streamsMax:
		return fmt.Errorf("-streams %d: want 0 to %d, as a rank has %d and the pipeline needs one itself", o.streams, streamsMax, streamsMax+1)
	case o.model != "" && len(o.tensors) > 0:
		return fmt.Errorf("-model %s -tensor %s: want one of them", o.model, o.tensors[0])
	case o.model == "" && o.scale != 1:
		return fmt.Errorf("-scale %d: it is for -model", o.scale)
	}
	return nil
}

// checkWords checks the flags that are one of a few words.
func (o *options) checkWords() error {
	for _, word := range [...]struct {
		name, value string
		known       []string
	}{
		{"mode", o.mode, []string{"all", "serial", "pipelined", "budget"}},
		{"policy", o.policy, policies},
		{"order", o.order, []string{"matched", "formed", "largest"}},
		{"publish", o.publish, publishing},
		{"transport", o.packing, append([]string{"auto"}, transports...)},
		{"fan", o.fan, fans},
		{"verify", o.verify, []string{"all", "last", "off"}},
		{"plot", o.plot, []string{"", "svg", "csv"}},
	} {
		if number(word.known, word.value) < 0 {
			return fmt.Errorf("-%s %s: want %s", word.name, word.value, strings.Trim(strings.Join(word.known, ", "), ", "))
		}
	}
	return nil
}

// checkIdle refuses flags that would do nothing, as who gives them expects that
// they do.
func (o *options) checkIdle() error {
	for _, f := range [...]struct {
		idle bool
		with string
		not  []string
		hint string
	}{
		{o.mode == "serial", "-mode serial", []string{"bucket", "in-flight", "policy", "window"}, "one chunk goes after the other there; leave it out, or -mode"},
		{o.mode == "serial" || o.mode == "pipelined", "-mode " + o.mode, []string{"max-bytes", "max-buckets", "refuse"}, "there is no budget; try -mode budget"},
		{o.policy != "windowed" && o.policy != "scripted", "-policy " + o.policy, []string{"window"}, "try -policy windowed"},
		{o.sweep.name != "", "-sweep " + o.sweep.name, []string{"mode", o.sweep.name}, "a sweep runs each value, without the budget and with it"},
		{o.sweep.name == "channels", "-sweep channels", []string{"from", "to", "model"}, "rank 0 sends tensors of -tensor to each rank"},
		{o.packing == "direct", "-transport direct", []string{"checksum"}, "receivers copy from where it lies; try -transport packed"},
		{o.plot == "" || o.plot == "csv", "-plot " + o.plot, []string{"title"}, "it stands above -plot svg"},
	} {
		for _, name := range f.not {
			if f.idle && o.given[name] {
				return fmt.Errorf("-%s does nothing with %s: %s", name, strings.TrimSpace(f.with), f.hint)
			}
		}
	}
	return nil
}
