package traces

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ccrun/ccrun/host/flight"
)

// MetricStats counts what became of the metrics of a run.
type MetricStats struct {
	Points int64 // exported
	Failed int64 // refused or not delivered
	// Collector is where they went.
	Collector string
	// Disabled says why nothing was exported although nothing failed, "" if
	// not so.
	Disabled string
}

// String is the counts in words.
func (s MetricStats) String() string {
	if s.Disabled != "" {
		return "no metrics: " + s.Disabled
	}
	return fmt.Sprintf("%d points exported, %d failed", s.Points, s.Failed)
}

// ExportMetrics sends the metrics of a run that is over to the collector that
// the standard variables name, as [ExportOTLP] does spans. The variables for
// metrics come before those for all signals; OTEL_METRICS_EXPORTER=none and
// OTEL_SDK_DISABLED=true turn it off. A collector that only takes traces, as
// Jaeger does, is no error unless the environment names it for metrics.
func ExportMetrics(ctx context.Context, r *Run, info Info) (MetricStats, error) {
	why, err := metricsDisabled(&info)
	if why != "" || err != nil {
		return MetricStats{Disabled: why}, err
	}
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	stats, err := exportMetrics(ctx, r, &info)
	if notTaken(err) && !metricsNamed(&info) {
		return MetricStats{Disabled: "the collector takes none"}, nil
	}
	if err != nil {
		err = fmt.Errorf("export metrics: %s", oneLine(err.Error()))
	}
	return stats, err
}

// metricsDisabled says why no metrics are exported. An endpoint for traces
// alone is not one for metrics.
func metricsDisabled(info *Info) (why string, err error) {
	why, err = exportDisabled(info, signalMetrics)
	if why != "" || err != nil {
		return why, err
	}
	if info.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" && signalMetrics.setting(info, "ENDPOINT") == "" && !metricsNamed(info) {
		return "the endpoint is for traces", nil
	}
	return "", nil
}

// metricsNamed reports whether the environment asks for metrics in so many
// words.
func metricsNamed(info *Info) bool {
	return firstOf(info, "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") != ""
}

func exportMetrics(ctx context.Context, r *Run, info *Info) (stats MetricStats, err error) {
	target, err := newCollectorTarget(info, signalMetrics)
	if err != nil {
		return stats, err
	}
	if err := target.probe(ctx, requestTimeout); err != nil {
		return stats, err
	}
	exporter, err := target.metricExporter(ctx, info)
	if err != nil {
		return stats, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		_ = exporter.Shutdown(ctx) // nothing is buffered
	}()
	stats.Collector = target.String()
	data, err := collectMetrics(r, info, exporter.Temporality)
	if err != nil {
		return stats, err
	}
	points := pointsOf(data)
	err = exporter.Export(ctx, data)
	if rejected, ok := rejectedPoints(err); ok {
		stats.Failed, stats.Points = min(rejected, points), points-min(rejected, points)
		if stats.Failed == 0 {
			return stats, nil
		}
		return stats, fmt.Errorf("the collector rejected %d points", rejected)
	}
	if err != nil {
		stats.Failed = points
		return stats, err
	}
	stats.Points = points
	return stats, nil
}

var rejectedPointsText = regexp.MustCompile(`OTLP partial success: .*\((\d+) metric data points rejected\)`)

// rejectedPoints reads how many points a collector rejected that took the
// others: the exporters' error type for it is their own.
func rejectedPoints(err error) (rejected int64, ok bool) {
	if err == nil {
		return 0, false
	}
	m := rejectedPointsText.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, false
	}
	rejected, parseErr := strconv.ParseInt(m[1], 10, 64)
	return rejected, parseErr == nil
}

var notFoundText = regexp.MustCompile(`failed to send metrics to \S+ ` + strconv.Itoa(http.StatusNotFound) + ` `)

// notTaken reports whether the collector does not know of metrics.
func notTaken(err error) bool {
	return err != nil && (status.Code(err) == codes.Unimplemented || notFoundText.MatchString(err.Error()))
}

// metricExporter makes the exporter, which reads the other variables itself.
func (t collectorTarget) metricExporter(ctx context.Context, info *Info) (sdkmetric.Exporter, error) {
	hasTimeout := signalMetrics.setting(info, "TIMEOUT") != ""
	if t.grpc {
		options := []otlpmetricgrpc.Option{otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{
			Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryElapsed,
		})}
		if !hasTimeout {
			options = append(options, otlpmetricgrpc.WithTimeout(requestTimeout))
		}
		return otlpmetricgrpc.New(ctx, options...)
	}
	options := []otlpmetrichttp.Option{otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{
		Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryElapsed,
	})}
	if !hasTimeout {
		options = append(options, otlpmetrichttp.WithTimeout(requestTimeout))
	}
	return otlpmetrichttp.New(ctx, options...)
}

// collectMetrics measures a run that is over. All points are of the time of
// the run, whenever it is exported.
func collectMetrics(r *Run, info *Info, temporality sdkmetric.TemporalitySelector) (*metricdata.ResourceMetrics, error) {
	reader := sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(temporality))
	exponential := info.env("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION") != "explicit_bucket_histogram"
	m, err := newMeters(reader, exponential, (*wholeRun)(r), info, newResources(r, info).run.Attributes)
	if err != nil {
		return nil, err
	}
	wallOffset := int64(0)
	if len(r.logs) > 0 {
		wallOffset = r.logs[0].WallOffset()
	}
	for _, c := range r.Collectives() {
		m.collective(c, wallOffset)
	}
	data := &metricdata.ResourceMetrics{}
	err = reader.Collect(context.Background(), data)
	start, end := r.extent()
	between(data, time.Unix(0, max(0, wallOffset+start)), time.Unix(0, max(0, wallOffset+end)))
	return data, errors.Join(err, m.provider.Shutdown(context.Background()))
}

// wholeRun is a run that is over as the source of what meters look at.
type wholeRun Run

func (r *wholeRun) eachRank(f func(log *flight.Log, open int64)) {
	for _, log := range r.logs {
		marks := marksOf(log)
		begun, _ := log.Collective()
		if n := len(marks); n > 0 { // the one begun last need not have the highest number
			begun = max(begun, marks[n-1].Collective)
		}
		f(log, max(0, int64(begun)-int64(len(marks))))
	}
}

func (r *wholeRun) unused() map[string]int64 {
	all := (*Run)(r).gather()
	return map[string]int64{"damaged": all.damaged, "unplaced": all.unplaced, "late": 0}
}
