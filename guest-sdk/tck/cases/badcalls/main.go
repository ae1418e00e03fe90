// Badcalls gives each host function null, negative, stale and wrong values and
// checks the errno that it answers with.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

func main() {
	var h raw.Host
	var buffer, freed, stream, gone, n64 uint64
	var n32 uint32
	var one byte
	fmt.Println("setup:", h.BufferAlloc(64, &buffer), h.BufferAlloc(64, &freed), h.BufferFree(freed), h.StreamCreate(&stream), h.StreamCreate(&gone), h.StreamDestroy(gone))
	const none = 1 << 31
	failures := 0
	for _, c := range []struct {
		call      string
		got, want raw.Errno
	}{
		{"world", h.World(nil), raw.ErrnoFault}, {"clock_now", h.ClockNow(nil), raw.ErrnoFault},
		{"last_error", h.LastError(nil, 16, &n32), raw.ErrnoFault}, {"abort", h.Abort(0, "no"), raw.ErrnoInvalid},
		{"buffer_alloc", h.BufferAlloc(-1, &n64), raw.ErrnoInvalid}, {"buffer_alloc", h.BufferAlloc(1<<60, &n64), raw.ErrnoNoMemory},
		{"buffer_free", h.BufferFree(0), raw.ErrnoBadHandle}, {"buffer_free", h.BufferFree(freed), raw.ErrnoStale},
		{"buffer_size", h.BufferSize(stream, &n64), raw.ErrnoBadHandle}, {"buffer_size", h.BufferSize(buffer, nil), raw.ErrnoFault},
		{"buffer_read", h.BufferRead(buffer, 64, &one, 1), raw.ErrnoRange}, {"buffer_write", h.BufferWrite(freed, 0, &one, 1), raw.ErrnoStale},
		{"buffer_read", h.BufferRead(buffer, -1, &one, 1), raw.ErrnoRange}, {"buffer_read", h.BufferRead(buffer, 0, nil, 1), raw.ErrnoFault},
		{"buffer_fill", h.BufferFill(stream, buffer, 0, 64, 99, 1), raw.ErrnoInvalid}, {"buffer_fill", h.BufferFill(stream, buffer, 1, 64, 0, 1), raw.ErrnoRange},
		{"buffer_verify", h.BufferVerify(stream, buffer, 0, 64, 0, 1, 0, nil), raw.ErrnoFault}, {"buffer_digest", h.BufferDigest(stream, buffer, 0, -1, "", &raw.Digest{}), raw.ErrnoRange},
		{"stream_create", h.StreamCreate(nil), raw.ErrnoFault}, {"stream_destroy", h.StreamDestroy(gone), raw.ErrnoStale},
		{"stream_sync", h.StreamSync(buffer, 0), raw.ErrnoBadHandle}, {"stream_query", h.StreamQuery(gone, &n32), raw.ErrnoStale},
		{"event_create", h.EventCreate(nil), raw.ErrnoFault}, {"event_destroy", h.EventDestroy(0), raw.ErrnoBadHandle},
		{"event_record", h.EventRecord(stream, stream), raw.ErrnoBadHandle}, {"event_wait", h.EventWait(0, 0), raw.ErrnoBadHandle},
		{"event_sync", h.EventSync(1, 0), raw.ErrnoBadHandle}, {"event_query", h.EventQuery(1, &n32), raw.ErrnoBadHandle},
		{"copy", h.Copy(stream, buffer, 60, buffer, 0, 8), raw.ErrnoRange}, {"put", h.Put(stream, freed, 0, buffer, 0, 8), raw.ErrnoStale},
		{"get", h.Get(stream, buffer, 0, 0, 0, 8), raw.ErrnoBadHandle}, {"signal", h.Signal(stream, none, 0, 1), raw.ErrnoNoRank},
		{"wait", h.Wait(stream, 0, none, 1), raw.ErrnoInvalid}, {"signal_value", h.SignalValue(none, 0, &n64), raw.ErrnoNoRank},
		{"send", h.Send(stream, 0, buffer, 0, 65, 0), raw.ErrnoRange}, {"recv", h.Recv(stream, none, buffer, 0, 8, 0), raw.ErrnoNoRank},
		{"reduce", h.Reduce(stream, nil), raw.ErrnoFault}, {"reduce", h.Reduce(stream, &raw.Op{Dst: buffer}), raw.ErrnoInvalid},
		{"submit", h.Submit(stream, nil, 1, &n32), raw.ErrnoFault}, {"submit", h.Submit(stream, &raw.Op{Kind: 99}, 1, &n32), raw.ErrnoInvalid},
		{"share_publish", h.SharePublish("", 0, buffer, 0, 8), raw.ErrnoInvalid}, {"share_publish", h.SharePublish("x", 0, buffer, 60, 8), raw.ErrnoRange},
		{"share_lookup", h.ShareLookup(none, "x", 0, 0, &n64, &n64), raw.ErrnoNoRank}, {"share_lookup", h.ShareLookup(0, "nobody", 0, 0, &n64, &n64), raw.ErrnoTimedOut},
		{"tag", h.Tag(0, 0, 0, none, 0, 0), raw.ErrnoInvalid}, {"collective_begin", h.CollectiveBegin(&raw.Collective{Op: 99}, &n32), raw.ErrnoInvalid},
		{"collective_end", h.CollectiveEnd(77), raw.ErrnoNotFound}, {"mark_begin", h.MarkBegin("", &n64), raw.ErrnoInvalid},
		{"mark_end", h.MarkEnd(77), raw.ErrnoNotFound}, {"barrier", h.Barrier(-1), raw.OK},
	} {
		if c.got != c.want {
			failures++
			fmt.Printf("%s answers %v, want %v\n", c.call, c.got, c.want)
		}
	}
	os.Exit(min(failures, 95))
}
