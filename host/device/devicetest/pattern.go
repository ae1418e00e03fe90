package devicetest

import (
	"bytes"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

var patternCases = []testCase{
	{"pattern/fill", patternFill},
	{"pattern/verify", patternVerify},
	{"pattern/digest", patternDigest},
	{"pattern/records", patternRecords},
}

// patternFill compares with op.FillPattern, in parts that begin anywhere.
func patternFill(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	for _, dtype := range dtypes {
		size := int64(dtype.Size())
		b := r.filled(9000, 1)
		want := pattern(9000, 1)
		r.submit(s,
			op.Op{Kind: op.Fill, Type: dtype, Value: 77, Dst: at(b, 3), Src: at(nil, 5*size), Bytes: 500 * size, Peer: -1},
			op.Op{Kind: op.Fill, Type: dtype, Value: 78, Dst: at(b, 8000), Bytes: 0, Peer: -1})
		r.sync(s)
		op.FillPattern(want[3:3+500*size], dtype, 77, 5*size)
		if !bytes.Equal(r.read(b), want) {
			t.Errorf("%s: wrong bytes", dtype)
		}
		r.must(r.Free(b))
	}
}

func patternVerify(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	for _, dtype := range dtypes {
		size := int64(dtype.Size())
		b := r.alloc(1000 * size)
		var good, bad, shifted op.Result
		fill := op.Op{Kind: op.Fill, Type: dtype, Value: 5, Dst: at(b, 0), Bytes: 1000 * size, Peer: -1}
		verify := fill
		verify.Kind, verify.Result = op.Verify, &good
		r.submit(s, fill, verify)
		r.sync(s)
		if good != (op.Result{FirstBad: -1}) {
			t.Errorf("%s: %+v of what was just filled", dtype, good)
		}
		for _, i := range []int64{300, 301, 999} {
			part := r.read(b)[i*size : i*size+1]
			part[0] ^= 1
			r.write(b, i*size, part)
		}
		verify.Result = &bad
		part := op.Op{Kind: op.Verify, Type: dtype, Value: 5, Dst: at(b, 400*size), Src: at(nil, 400*size), Bytes: 100 * size, Result: &shifted, Peer: -1}
		r.submit(s, verify, part)
		r.sync(s)
		if bad.Mismatches != 3 || bad.FirstBad != 300*size {
			t.Errorf("%s: %+v, want 3 mismatches from byte %d on", dtype, bad, 300*size)
		}
		if shifted != (op.Result{FirstBad: -1}) {
			t.Errorf("%s: %+v of a part that is right", dtype, shifted)
		}
	}
	c := r.recorder.Counters()
	if c.Mismatches != int64(3*len(dtypes)) || c.Verified != 2100*(1+4+8+2+2+4+8) {
		t.Errorf("recorder has %d bytes verified, %d mismatches", c.Verified, c.Mismatches)
	}
}

func patternDigest(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	b := r.filled(10_000, 12)
	for _, c := range []struct{ offset, bytes int64 }{{0, 10_000}, {0, 0}, {1, 9999}, {777, 8}, {9999, 1}} {
		var got op.Result
		r.submit(s, op.Op{Kind: op.Digest, Dst: at(b, c.offset), Bytes: c.bytes, Result: &got, Peer: -1},
			op.Op{Kind: op.Digest, Dst: at(b, c.offset), Bytes: c.bytes, Peer: -1}) // discarded
		r.sync(s)
		if want := op.DigestBytes(pattern(10_000, 12)[c.offset : c.offset+c.bytes]); got.Digest != want {
			t.Errorf("%d bytes at %d: %x, want %x", c.bytes, c.offset, got.Digest, want)
		}
	}
}

// patternRecords checks that each executed operation leaves one record, and a
// refused one none.
func patternRecords(t *testing.T, open Open) {
	r := one(t, open)
	s, b, e := r.stream(), r.alloc(1000), r.event()
	before := r.recorder.Counters().Records
	view := at(b, 0)
	ops := []op.Op{
		wait(0, 0, 1), move(op.Copy, view, at(b, 500), 100),
		{Kind: op.Fill, Dst: view, Bytes: 10, Peer: -1}, {Kind: op.Digest, Dst: view, Bytes: 10, Peer: -1},
		send(0, 0, view, 10), recv(0, 0, at(b, 100), 10), record(e), waitEvent(e), signal(0, 1, 1),
	}
	r.submit(s, ops...)
	refused := move(op.Copy, view, view, 5000)
	r.is(s.Submit(&refused), op.ErrRange)
	other := r.stream()
	r.submit(other, signal(0, 0, 1))
	r.sync(s)
	if got := r.recorder.Counters().Records - before; got != int64(len(ops))+1 {
		t.Errorf("%d records for %d operations", got, len(ops)+1)
	}
}
