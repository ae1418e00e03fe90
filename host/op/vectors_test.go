package op_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/op"
)

// TestVectors guards the bytes of the pattern and of the digest: guests in
// other languages, GPU kernels and golden results of workflows rely on them.
func TestVectors(t *testing.T) {
	datadriven.RunTest(t, "testdata/vectors.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "fill":
			return fillVector(t, d)
		case "digest":
			return digestVector(t, d)
		case "bus":
			return busVector(t, d)
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}

func dtypeNamed(t *testing.T, d *datadriven.TestData) op.Dtype {
	var name string
	d.ScanArgs(t, "type", &name)
	for _, dtype := range everyDtype {
		if dtype.String() == name {
			return dtype
		}
	}
	d.Fatalf(t, "unknown type %s", name)
	return 0
}

func fillVector(t *testing.T, d *datadriven.TestData) string {
	var seed uint64
	var start int64
	var count int
	d.ScanArgs(t, "seed", &seed)
	d.ScanArgs(t, "start", &start)
	d.ScanArgs(t, "bytes", &count)
	region := make([]byte, count)
	op.FillPattern(region, dtypeNamed(t, d), seed, start)
	return hexLines(region)
}

// digestVector digests count bytes of a pattern, or those that the input
// spells in hex.
func digestVector(t *testing.T, d *datadriven.TestData) string {
	var region []byte
	if d.HasArg("bytes") {
		var seed uint64
		var count int
		d.ScanArgs(t, "seed", &seed)
		d.ScanArgs(t, "bytes", &count)
		region = make([]byte, count)
		op.FillPattern(region, op.U8, seed, 0)
	} else {
		var err error
		if region, err = hex.DecodeString(strings.TrimSpace(d.Input)); err != nil {
			d.Fatalf(t, "input: %v", err)
		}
	}
	digest := op.DigestBytes(region)
	return fmt.Sprintf("%016x%016x\n", digest[0], digest[1])
}

// busVector gives the bus bandwidth of a collective in the formula of
// nccl-tests.
func busVector(t *testing.T, d *datadriven.TestData) string {
	var ranks int
	var gigabytes, millis float64
	d.ScanArgs(t, "ranks", &ranks)
	d.ScanArgs(t, "gigabytes", &gigabytes)
	d.ScanArgs(t, "millis", &millis)
	var out strings.Builder
	for c := op.Custom; c.Valid(); c++ {
		algbw := gigabytes / (millis / 1e3)
		fmt.Fprintf(&out, "%-14s algbw %8.3f GB/s  busbw %8.3f GB/s\n", c, algbw, algbw*c.BusFactor(ranks))
	}
	return out.String()
}

func hexLines(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := min(len(b), 16)
		fmt.Fprintf(&out, "%x\n", b[:n])
		b = b[n:]
	}
	return out.String()
}
