package abi

// Errno is what a host function returns. The numbers never change.
type Errno uint32

// The errnos.
const (
	OK Errno = iota
	Fault
	BadHandle
	Stale
	Range
	Invalid
	NoRank
	NoMemory
	Limit
	TimedOut
	Failed
	Mismatch
	Unsupported
	NotFound
)

// ErrnoDoc is the name and the meaning of an errno.
type ErrnoDoc struct {
	Errno Errno
	Name  string // in snake case, as the SDKs spell it
	Doc   string
}

// Errnos lists them all in numeric order.
var Errnos = []ErrnoDoc{
	{OK, "ok", "success"},
	{Fault, "fault", "a pointer is null, unaligned or reaches outside the guest's memory"},
	{BadHandle, "bad_handle", "not a handle, or one of another kind"},
	{Stale, "stale", "the handle was valid and what it named has been freed, here or by the peer that owns it"},
	{Range, "range", "an offset and a size reach outside the buffer"},
	{Invalid, "invalid", "a value that the parameter cannot have"},
	{NoRank, "no_rank", "no such rank"},
	{NoMemory, "no_memory", "the device's memory or this rank's share of it is used up"},
	{Limit, "limit", "more handles, streams, names or slots than allowed"},
	{TimedOut, "timed_out", "the deadline passed"},
	{Failed, "failed", "an earlier operation of the stream failed; last_error says which"},
	{Mismatch, "mismatch", "ranks disagree on what they do together; one such failure ends the run with 113, whatever the guest makes of it"},
	{Unsupported, "unsupported", "this device cannot do it"},
	{NotFound, "not_found", "no such thing"},
}

// String is the errno's name.
func (e Errno) String() string {
	if int(e) < len(Errnos) {
		return Errnos[e].Name
	}
	return "unknown"
}
