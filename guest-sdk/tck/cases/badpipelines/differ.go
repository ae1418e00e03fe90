package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// differences are what the last rank plans differently: another rule for where
// an entry goes, another size of buckets, and so on.
var differences = map[string]func(o *ccrun.PipelineOptions, entries *[]ccrun.PipelineEntry){
	"none":        func(*ccrun.PipelineOptions, *[]ccrun.PipelineEntry) {},
	"rule":        func(_ *ccrun.PipelineOptions, e *[]ccrun.PipelineEntry) { (*e)[2].Destinations = []int{0, 1} },
	"shape":       func(_ *ccrun.PipelineOptions, e *[]ccrun.PipelineEntry) { (*e)[1].RowBytes = 60 },
	"order":       func(_ *ccrun.PipelineOptions, e *[]ccrun.PipelineEntry) { (*e)[0], (*e)[1] = (*e)[1], (*e)[0] },
	"missing":     func(_ *ccrun.PipelineOptions, e *[]ccrun.PipelineEntry) { *e = (*e)[:3] },
	"bucketBytes": func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) { o.BucketBytes = 64 },
	"script": func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) {
		o.Order = func([]ccrun.Bucket) []int { return []int{1, 0} }
	},
	"publish":   func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) { o.Publish = ccrun.PublishInOrder },
	"policy":    func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) { o.Policy = ccrun.Credits },
	"checksums": func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) { o.Checksums = true },
	"slots":     func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) { o.FirstSlot = 4 },
	"channels":  func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) { o.Channels = 3 },
	// What is a rank's own may differ.
	"budget": func(o *ccrun.PipelineOptions, _ *[]ccrun.PipelineEntry) {
		o.MaxBytes, o.MaxBuckets, o.MaxInFlight, o.Name = 256, 1, 1, "odd"
	},
}

// differ has the last rank plan something else, and all go on if they may.
func (k *kit) differ(what string) error {
	change, known := differences[what]
	if !known {
		return fmt.Errorf("no such difference: %q", what)
	}
	o := ccrun.PipelineOptions{BucketBytes: 128}
	entries := []ccrun.PipelineEntry{k.entry(0), k.entry(1), k.entry(2), k.entry(3)}
	if k.world.Rank() == k.world.Size()-1 {
		change(&o, &entries)
	}
	if err := k.buffer.Write(bytes.Repeat([]byte{byte(k.world.Rank() + 1)}, 4096), 0); err != nil {
		return err
	}
	p, err := k.made(o, entries...)
	if err != nil {
		return err
	}
	if err = p.Agree(ccrun.Forever); err != nil {
		k.refused("agree: "+what, err, ccrun.ErrMismatch)
		k.refused("start: "+what, p.Start(k.streams...), ccrun.ErrInvalid)
	} else {
		err = p.Run(k.streams, ccrun.Forever)
	}
	moved, err2 := k.moved()
	fmt.Fprintf(k.out, "rank %d: %d bytes have moved\n", k.world.Rank(), moved)
	return errors.Join(err, err2)
}

// moved is how many bytes of this rank another one has written.
func (k *kit) moved() (int, error) {
	all := make([]byte, 4096)
	err := k.buffer.Read(all, 0)
	return len(all) - bytes.Count(all, []byte{byte(k.world.Rank() + 1)}), err
}
