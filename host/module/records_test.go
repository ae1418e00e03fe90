package module

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// records prints the flight records, one a line, times as the fake's clock
// counts them.
func (l *callLog) records(t *testing.T) string {
	log, err := flight.Open(l.rank.path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out strings.Builder
	for r := range log.Records() {
		fmt.Fprintf(&out, "%d-%d %s", r.Start, r.End, op.Kind(r.Kind))
		switch op.Kind(r.Kind) {
		case op.Collective:
			fmt.Fprintf(&out, " %d %s %q ranks=%d bytes=%d slice=%d %s %s group=%d warmup=%v", r.Collective, op.CollectiveOp(r.Red),
				log.Name(uint16(r.Aux)), r.Chunk, r.Bytes, r.Slice, op.Dtype(r.Type), op.RedOp(r.Step), r.Group, r.Aux>>31 == 1)
		case op.Mark:
			fmt.Fprintf(&out, " %q", log.Name(uint16(r.Aux)))
		default:
			fmt.Fprintf(&out, " stream=%d peer=%d bytes=%d collective=%d chunk=%d slice=%d flow=%d step=%d message=%d",
				r.Stream, r.Peer, r.Bytes, r.Collective, r.Chunk, r.Slice, r.Flow, r.Step, r.Message)
		}
		fmt.Fprintf(&out, " status=%d\n", r.Status)
	}
	return out.String()
}
