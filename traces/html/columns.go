package html

import (
	"bufio"
	"encoding/binary"
	"io"
)

// Columns writes tables column by column, which compresses several times
// better than row by row. Its reader is assets/data.js. Errors are kept until
// Flush.
type Columns struct {
	out *bufio.Writer
}

// NewColumns makes a writer of columns; the caller calls Flush at the end.
func NewColumns(w io.Writer) *Columns { return &Columns{bufio.NewWriterSize(w, 64<<10)} }

// Text writes a text behind its length in bytes.
func (c *Columns) Text(text []byte) {
	c.Number(uint64(len(text)))
	c.out.Write(text) // the error is kept
}

// Number writes one number: seven bits a byte, the lowest first.
func (c *Columns) Number(v uint64) {
	var b [binary.MaxVarintLen64]byte
	c.out.Write(b[:binary.PutUvarint(b[:], v)]) // the error is kept
}

// Numbers writes a column of n numbers as they are.
func (c *Columns) Numbers(n int, value func(i int) uint64) {
	for i := range n {
		c.Number(value(i))
	}
}

// Differences writes a column of n numbers, each as what it differs from the
// one before it: small where a column repeats or counts.
func (c *Columns) Differences(n int, value func(i int) uint32) {
	last := int64(0)
	for i := range n {
		v := int64(value(i))
		d := v - last
		c.Number(uint64(d<<1) ^ uint64(d>>63))
		last = v
	}
}

// Bytes writes a column of n bytes.
func (c *Columns) Bytes(n int, value func(i int) byte) {
	for i := range n {
		c.out.WriteByte(value(i)) // the error is kept
	}
}

// Flush writes what is buffered and gives the first error of all.
func (c *Columns) Flush() error { return c.out.Flush() }
