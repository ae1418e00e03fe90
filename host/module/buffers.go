package module

import (
	"fmt"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// buffer is what a buffer handle names.
type buffer struct {
	op.Buffer
	share *share // where it was looked up, nil for an own buffer
}

// maxDigests is how many names a rank may report digests under.
const maxDigests = 256

// bufferAlloc gives a zeroed buffer of the asked size and writes its handle.
// no_memory: the device's limit; limit: too many handles; invalid: negative.
func bufferAlloc(c *call) error {
	if err := c.buffers.full(); err != nil {
		return err
	}
	b, err := c.config.Device.Alloc(c.int64(0))
	if err != nil {
		return err
	}
	put64(c.out[0], c.buffers.add(buffer{Buffer: b}))
	return nil
}

// bufferFree makes the handle stale, whatever the device says of the buffer. A
// looked-up buffer is looked up anew when asked for again.
func bufferFree(c *call) error {
	handle := c.stack[0]
	b, err := c.buffers.get(handle)
	if err != nil {
		return err
	}
	c.dropShare(b.share)
	if err := c.buffers.remove(handle); err != nil {
		return err
	}
	return c.config.Device.Free(b.Buffer)
}

// bufferSize writes the size in bytes.
func bufferSize(c *call) error {
	put64(c.out[0], uint64(c.buffer[0].Size()))
	return nil
}

// bufferRead copies from the buffer to the guest's memory, at once. range: the
// region is not inside the buffer; unsupported: a peer's buffer that this
// device cannot reach directly.
func bufferRead(c *call) error {
	v := op.View{Buf: c.buffer[0], Off: c.int64(1)}
	if err := checkView(v, int64(len(c.out[0]))); err != nil {
		return err
	}
	return c.config.Device.Read(c.out[0], v)
}

// bufferWrite copies from the guest's memory to the buffer, at once. Errnos as
// for buffer_read.
func bufferWrite(c *call) error {
	v := op.View{Buf: c.buffer[0], Off: c.int64(1)}
	if err := checkView(v, int64(len(c.in))); err != nil {
		return err
	}
	return c.config.Device.Write(v, c.in)
}

// checkView refuses a region that is not inside its buffer, saying where it
// lies.
func checkView(v op.View, bytes int64) error {
	if size := v.Buf.Size(); bytes > size || v.Off > size-bytes {
		return refuse(abi.Range, "%d bytes at %d of a buffer of %d", bytes, v.Off, size)
	}
	return nil
}

// bufferFill submits a fill with the pattern from its first byte on.
func bufferFill(c *call) error {
	o := c.begin(op.Fill)
	c.patternRegion(o)
	o.Term = c.trace.term
	return c.submitOne(o)
}

// patternRegion decodes the parameters that buffer_fill and buffer_verify
// share.
func (c *call) patternRegion(o *op.Op) {
	o.Dst = op.View{Buf: c.buffer[0], Off: c.int64(2)}
	o.Bytes = c.int64(3)
	o.Type = op.Dtype(c.uint32(4))
	o.Value = c.stack[5]
}

// bufferVerify compares in stream order and waits for the result, which it
// writes: how many elements differ and where the first does.
func bufferVerify(c *call) error {
	o := c.begin(op.Verify)
	c.patternRegion(o)
	o.Src.Off = c.int64(6)
	result, err := c.finish(o)
	if err != nil {
		return err
	}
	put64(c.out[0], uint64(result.Mismatches))
	put64(c.out[0][8:], uint64(result.FirstBad))
	return nil
}

// bufferDigest computes in stream order, waits, and reports the digest under
// the name unless that is empty. A name used again replaces what it had. A
// buffer without bytes has none to report.
func bufferDigest(c *call) error {
	name := string(c.in)
	if err := c.checkDigest(name); err != nil {
		return err
	}
	o := c.begin(op.Digest)
	o.Dst = op.View{Buf: c.buffer[0], Off: c.int64(2)}
	o.Bytes = c.int64(3)
	result, err := c.finish(o)
	if err != nil {
		return err
	}
	switch {
	case device.IsPhantom(o.Dst.Buf):
		delete(c.digests, name)
	case name != "":
		c.digests[name] = fmt.Sprintf("%016x%016x", result.Digest[0], result.Digest[1])
	}
	put64(c.out[0], result.Digest[0])
	put64(c.out[0][8:], result.Digest[1])
	return nil
}

func (c *call) checkDigest(name string) error {
	if name == "" {
		return nil
	}
	if err := checkName([]byte(name)); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if _, known := c.digests[name]; !known && len(c.digests) >= maxDigests {
		return refuse(abi.Limit, "name: %d digests are reported already", maxDigests)
	}
	return nil
}

// finish submits o and waits until it is done. After a failure the device may
// still hold the result, so the next call gets another.
func (c *call) finish(o *op.Op) (*op.Result, error) {
	o.Result = c.result
	err := c.submitOne(o)
	if err == nil {
		err = c.stream.Sync(device.Forever)
	}
	if err != nil {
		c.result = new(op.Result)
		return nil, err
	}
	return c.result, nil
}
