package traces

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
)

// Times that bound an export. A collector that is away costs seconds, once:
// after a batch that could not be delivered the rest is not tried.
const (
	exportTimeout   = 60 * time.Second       // of all batches together, and
	exportSpanTime  = 200 * time.Microsecond // more for each span that was delivered
	requestTimeout  = 5 * time.Second        // of one, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise
	retryFirst      = 200 * time.Millisecond
	retryMax        = time.Second
	retryElapsed    = 3 * time.Second
	shutdownTimeout = 2 * time.Second
)

// ExportOTLP sends the spans of a run to the collector that the standard
// variables name (OTEL_EXPORTER_OTLP_ENDPOINT and its kin, over gRPC or HTTP).
// OTEL_TRACES_EXPORTER=none and OTEL_SDK_DISABLED=true turn it off, which is no
// error. It returns in bounded time. An error is worth one warning; the run
// itself was fine.
func ExportOTLP(ctx context.Context, r *Run, info Info, o SpanOptions) (ExportStats, error) {
	if why, err := exportDisabled(&info, signalTraces); why != "" || err != nil {
		return ExportStats{Disabled: why}, err
	}
	deadline := time.Now().Add(exportTimeout)
	client, err := startClient(ctx, &info)
	if err != nil {
		err = fmt.Errorf("export spans: %w", err)
		return allFailed(r, &info, o), err
	}
	defer stopClient(ctx, client)
	wire := newWire(&info)
	stats, err := inBatches(r, &info, o, func(batch []*Span) (int64, error) {
		inTime, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		deadline = deadline.Add(time.Duration(len(batch)) * exportSpanTime)
		return deliver(inTime, client, wire, batch)
	})
	if err != nil {
		return stats, fmt.Errorf("export spans: %w", err)
	}
	if stats.Failed > 0 {
		return stats, fmt.Errorf("export spans: the collector rejected %d of them", stats.Failed)
	}
	return stats, nil
}

// startClient makes the client of the protocol asked for, after a look whether
// anybody listens at all: the clients take longer to find that out.
func startClient(ctx context.Context, info *Info) (otlptrace.Client, error) {
	target, err := newCollectorTarget(info, signalTraces)
	if err != nil {
		return nil, err
	}
	if err := target.probe(ctx, requestTimeout); err != nil {
		return nil, err
	}
	client := target.client(info)
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	return client, nil
}

// stopClient closes the connection, even if the time for exporting is over.
func stopClient(ctx context.Context, client otlptrace.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	_ = client.Stop(ctx) // nothing is buffered: every batch has been answered for
}

// allFailed counts the spans that there would have been.
func allFailed(r *Run, info *Info, o SpanOptions) (stats ExportStats) {
	stats.Dropped = walk(r, info, o, func(*Span) bool {
		stats.Failed++
		return true
	})
	return stats
}

// deliver sends one batch and says how many of its spans the collector
// rejected.
func deliver(ctx context.Context, client otlptrace.Client, wire *wire, batch []*Span) (rejected int64, err error) {
	err = client.UploadTraces(ctx, wire.encode(batch))
	if n, ok := partialSuccess(err); ok {
		return min(n, int64(len(batch))), nil
	}
	if err != nil {
		return 0, errors.New(oneLine(err.Error()))
	}
	return 0, nil
}

// lineBytesMax bounds what is repeated of a collector's answer.
const lineBytesMax = 300

// oneLine makes an error that may quote a collector's answer fit for a
// terminal.
func oneLine(text string) string {
	if len(text) > lineBytesMax {
		text = text[:lineBytesMax] + "..."
	}
	return printable(text)
}

var partialSuccessText = regexp.MustCompile(`OTLP partial success: .*\((\d+) spans rejected\)`)

// partialSuccess reads how many spans a collector rejected that took the
// others. The exporters tell it by an error of a type of their own, so only
// its text is left to go by.
func partialSuccess(err error) (rejected int64, ok bool) {
	if err == nil {
		return 0, false
	}
	m := partialSuccessText.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, false
	}
	rejected, parseErr := strconv.ParseInt(m[1], 10, 64)
	return rejected, parseErr == nil
}
