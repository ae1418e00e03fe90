package module

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
)

const (
	maxAbortCode      = 95
	maxAbortTextBytes = 1 << 10
)

// world writes the world structure, 48 bytes, to its out pointer. It fails
// with fault only.
func world(c *call) error {
	b := c.out[0]
	put32(b[0:], uint32(c.config.Rank))
	put32(b[4:], uint32(c.config.Size))
	put32(b[8:], uint32(c.config.LocalRank))
	put32(b[12:], uint32(c.config.LocalSize))
	put64(b[16:], c.config.Seed)
	put32(b[24:], abi.Version)
	put32(b[28:], deviceNumber(c.facts.Name))
	put32(b[32:], c.facts.SignalSlots)
	put32(b[36:], c.facts.SendChannels)
	put64(b[40:], uint64(max(c.facts.MemoryBytes, 0)))
	return nil
}

// deviceNumber is the device's value in the enumeration of that name. A
// decorated device may have a longer name: "cpu+faults".
func deviceNumber(name string) uint32 {
	at := slices.IndexFunc(abi.Enums, func(e abi.Enumeration) bool { return e.Name == "device" })
	for _, v := range abi.Enums[at].Values {
		if strings.HasPrefix(name, v.Name) {
			return v.Value
		}
	}
	return 0
}

// clockNow writes the device's time, on the clock of the flight records.
func clockNow(c *call) error {
	put64(c.out[0], uint64(c.config.Device.Now()))
	return nil
}

// lastError writes as much of the text as fits, and the length of all of it:
// a guest that gave too little room asks again. It does not count as a call
// that may fail: the text stays.
func lastError(c *call) error {
	text := c.LastError()
	copy(c.out[0], text)
	put32(c.out[1], uint32(len(text)))
	return nil
}

// abort unwinds the guest with an [AbortError]: package runner stops the other
// ranks when this one ends so. A code outside 1 to 95 is invalid, and nothing
// happens.
func abort(c *call) error {
	code := c.uint32(0)
	if code == 0 || code > maxAbortCode {
		return refuse(abi.Invalid, "code: %d is not 1 to %d", int32(code), maxAbortCode)
	}
	text := strings.ToValidUTF8(string(c.in[:min(len(c.in), maxAbortTextBytes)]), "")
	return &AbortError{Code: int(code), Text: text}
}

// barrier waits for all ranks. A deadline that passes is timed_out.
func barrier(c *call) error {
	if err := c.config.Device.Barrier(c.timeout(0)); err != nil {
		return withoutOperation(err)
	}
	return nil
}

// withoutOperation gives the condition of an error that a device may wrap in
// the operation that it was carrying out: no stream has failed here.
func withoutOperation(err error) error {
	var failed *device.OpError
	if errors.As(err, &failed) && errors.Is(err, device.ErrTimeout) {
		return fmt.Errorf("%w: %s", device.ErrTimeout, failed.Op.Kind)
	}
	return err
}
