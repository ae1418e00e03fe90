package traces

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// Times that bound an export. A collector that is away costs seconds, once:
// after a batch that could not be delivered the rest is not tried.
const (
	exportTimeout   = 60 * time.Second // of all batches together
	requestTimeout  = 5 * time.Second  // of one, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise
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
	if why, err := exportDisabled(&info); why != "" || err != nil {
		return ExportStats{Disabled: why}, err
	}
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	exporter, err := newExporter(ctx, &info)
	if err != nil {
		return ExportStats{}, fmt.Errorf("export spans: %w", err)
	}
	defer shutdown(ctx, exporter)
	stubs := newStubs(&info)
	stats, err := inBatches(r, &info, o, func(batch []*Span) (int64, error) {
		return deliver(ctx, exporter, stubs, batch)
	})
	if err != nil {
		return stats, fmt.Errorf("export spans: %w", err)
	}
	if stats.Failed > 0 {
		return stats, fmt.Errorf("export spans: the collector rejected %d of them", stats.Failed)
	}
	return stats, nil
}

// shutdown closes the connection, even if the time for exporting is over.
func shutdown(ctx context.Context, exporter *otlptrace.Exporter) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	_ = exporter.Shutdown(ctx) // nothing is buffered: every batch has been answered for
}

// deliver sends one batch and says how many of its spans the collector
// rejected.
func deliver(ctx context.Context, exporter *otlptrace.Exporter, stubs *stubs, batch []*Span) (rejected int64, err error) {
	err = exporter.ExportSpans(ctx, stubs.snapshots(batch))
	if n, ok := partialSuccess(err); ok {
		return min(n, int64(len(batch))), nil
	}
	return 0, err
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

// exportDisabled says why the environment turns exporting off, or that it asks
// for an exporter that is not there.
func exportDisabled(info *Info) (why string, err error) {
	if strings.EqualFold(info.env("OTEL_SDK_DISABLED"), "true") {
		return "OTEL_SDK_DISABLED is true", nil
	}
	switch name := info.env("OTEL_TRACES_EXPORTER"); name {
	case "", "otlp":
		return "", nil
	case "none":
		return "OTEL_TRACES_EXPORTER is none", nil
	default:
		return "", fmt.Errorf("OTEL_TRACES_EXPORTER is %q: the exporters are otlp and none", name)
	}
}

// newExporter makes the exporter of the protocol asked for, which reads the
// other variables itself.
func newExporter(ctx context.Context, info *Info) (*otlptrace.Exporter, error) {
	endpoint, err := exportEndpoint(info)
	if err != nil {
		return nil, err
	}
	protocol := firstOf(info, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if protocol == "" && endpoint.Port() == "4317" {
		protocol = "grpc" // the port that is registered for it
	}
	hasTimeout := firstOf(info, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT") != ""
	switch protocol {
	case "grpc":
		return newGRPCExporter(ctx, hasTimeout)
	case "", "http/protobuf":
		return newHTTPExporter(ctx, hasTimeout)
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: the protocols are grpc and http/protobuf", protocol)
	}
}

func newGRPCExporter(ctx context.Context, hasTimeout bool) (*otlptrace.Exporter, error) {
	options := []otlptracegrpc.Option{otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
		Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryElapsed,
	})}
	if !hasTimeout {
		options = append(options, otlptracegrpc.WithTimeout(requestTimeout))
	}
	return otlptracegrpc.New(ctx, options...)
}

func newHTTPExporter(ctx context.Context, hasTimeout bool) (*otlptrace.Exporter, error) {
	options := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryElapsed,
	})}
	if !hasTimeout {
		options = append(options, otlptracehttp.WithTimeout(requestTimeout))
	}
	return otlptracehttp.New(ctx, options...)
}

var errNoScheme = errors.New("it needs a scheme, as in http://localhost:4318")

// exportEndpoint checks the endpoint, which the exporters would otherwise
// misread in silence.
func exportEndpoint(info *Info) (*url.URL, error) {
	text := firstOf(info, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if text == "" {
		return &url.URL{}, nil // the exporter's default: this host
	}
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "unix" {
		err = errNoScheme
	}
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", text, err)
	}
	return u, nil
}

// firstOf is the first of the variables that is set.
func firstOf(info *Info, names ...string) string {
	for _, name := range names {
		if v := info.env(name); v != "" {
			return v
		}
	}
	return ""
}
