package traces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	otelmetric "go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/ccrun/ccrun/host/flight"
)

// instrument is a row of what is measured.
type instrument struct {
	name, unit string
	kind       instrumentKind
	attributes []string
	help       string
}

type instrumentKind uint8

const (
	kindHistogram instrumentKind = iota
	kindCounter
	kindGauge
)

var instrumentKinds = [...]string{kindHistogram: "histogram", kindCounter: "counter", kindGauge: "gauge"}

// quantity is what an instrument measures.
type quantity int

const (
	quantityCCT quantity = iota
	quantityRCCT
	quantityFCT
	quantitySlice
	quantitySkew
	quantityMessage
	quantityCollectives
	quantityIO
	quantityAlgBW
	quantityBusBW
	quantityCollectivesOpen
	quantityPending
	quantityShares
	quantityRecords
	quantityDropped
	quantityUnused
	quantityBuffers
	quantityBuffersPeak
)

// ofSeries are the attributes that tell collectives apart.
var ofSeries = []string{"ccl.operation", "ccl.algorithm", "ccl.size", "ccl.data.bytes"}

var ofRank = []string{"ccl.rank"}

// instruments is every metric that a run has, in the order of traces/README.md.
var instruments = [...]instrument{
	quantityCCT:             {"ccl.collective.duration", "s", kindHistogram, ofSeries, "CCT: from the first rank's start to the last rank's finish"},
	quantityRCCT:            {"ccl.chunk.duration", "s", kindHistogram, ofSeries, "RCCT: from the start of a rank-chunk's first flow to the end of its last"},
	quantityFCT:             {"ccl.flow.duration", "s", kindHistogram, ofSeries, "FCT: from the start of a flow's first message to the end of its last"},
	quantitySlice:           {"ccl.slice.duration", "s", kindHistogram, with(ofSeries, "ccl.slice.stage"), "time that one slice took to send, recv, reduce or copy"},
	quantitySkew:            {"ccl.rank.start_skew", "s", kindHistogram, ofSeries, "how much later than the first rank each rank began"},
	quantityMessage:         {"ccl.message.size", "By", kindHistogram, ofSeries, "bytes of one transport message"},
	quantityCollectives:     {"ccl.collectives", "{collective}", kindCounter, with(ofSeries, "ccl.outcome"), "collectives: those measured, and warmup, incomplete and disagreeing ones, which are not"},
	quantityIO:              {"ccl.io", "By", kindCounter, with(ofRank, "ccl.direction"), "bytes of rank-chunks that a rank has sent to and received from others, of all collectives"},
	quantityAlgBW:           {"ccl.algorithm.bandwidth", "By/s", kindGauge, ofSeries, "S by the median CCT of the last 4096"},
	quantityBusBW:           {"ccl.bus.bandwidth", "By/s", kindGauge, ofSeries, "algorithm bandwidth times nccl-tests' factor"},
	quantityCollectivesOpen: {"ccl.collectives.in_flight", "{collective}", kindGauge, ofRank, "collectives that a rank has begun and not ended; none where no or not all records are kept"},
	quantityPending:         {"ccl.operations.in_flight", "{operation}", kindGauge, ofRank, "operations that a rank has submitted and that are not known to be done"},
	quantityShares:          {"ccl.share.lookups", "{lookup}", kindCounter, with(ofRank, "ccl.share.result"), "look-ups of peers' buffers: hit in the cache, or miss"},
	quantityRecords:         {"ccl.trace.records", "{record}", kindCounter, ofRank, "flight records that a rank has written"},
	quantityDropped:         {"ccl.trace.records.dropped", "{record}", kindCounter, ofRank, "flight records that a rank had no room for"},
	quantityUnused:          {"ccl.trace.records.unused", "{record}", kindCounter, []string{"ccl.reason"}, "flight records that are of no collective: damaged, unplaced, or late"},
	quantityBuffers:         {"ccl.buffer.usage", "By", kindGauge, ofRank, "device memory that a rank has allocated"},
	quantityBuffersPeak:     {"ccl.buffer.peak", "By", kindGauge, ofRank, "the most device memory that a rank had allocated"},
}

// WriteMetrics writes the instruments as a Markdown table.
func WriteMetrics(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| metric | kind | unit | attributes | what |\n|---|---|---|---|---|\n")
	for i := range instruments {
		in := &instruments[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", in.name, instrumentKinds[in.kind], in.unit, strings.Join(in.attributes, "`, `"), in.help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func with(keys []string, key string) []string { return append(keys[:len(keys):len(keys)], key) }

// Histograms for readers that want fixed buckets: times in steps of 1, 2 and 5
// from a microsecond to ten seconds, sizes in steps of 4 from 64 B to 1 GiB.
var (
	secondsBounds = []float64{
		1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, .1, .2, .5, 1, 2, 5, 10,
	}
	bytesBounds = []float64{
		1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30,
	}
)

// seriesMax bounds how many kinds of collectives have figures of their own:
// a guest may never use the same size twice.
const seriesMax = 500

// pointsMax is the SDK's own limit for each instrument; what is beyond goes
// into one point with the attribute otel.metric.overflow.
const pointsMax = 8 * seriesMax

// meters are the instruments of one run.
type meters struct {
	provider *sdkmetric.MeterProvider
	source   meterSource
	runID    string
	series   map[rowKey]*series

	histograms  [quantityMessage]otelmetric.Float64Histogram
	messages    otelmetric.Int64Histogram
	collectives otelmetric.Int64Counter
	io          otelmetric.Int64Counter
	traffic     map[int32]*rankTraffic
	observed    [len(instruments)]otelmetric.Int64Observable
	bandwidths  [2]otelmetric.Float64ObservableGauge
}

// meterSource is what is read when metrics are collected.
type meterSource interface {
	// eachRank calls f for each rank whose file is there, with how many
	// collectives it had begun and not ended when it was looked at.
	eachRank(f func(log *flight.Log, open int64))
	// unused counts records that are of no collective, by reason.
	unused() map[string]int64
}

// newMeters makes the instruments and the reader's provider.
func newMeters(reader sdkmetric.Reader, exponential bool, source meterSource, info *Info, attributes []Attribute) (*meters, error) {
	m := &meters{
		source: source, runID: info.RunID, series: make(map[rowKey]*series), traffic: make(map[int32]*rankTraffic),
	}
	m.provider = sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(reader), sdkmetric.WithView(histogramView(exponential)),
		sdkmetric.WithResource(resource.NewSchemaless(keyValues(attributes)...)), sdkmetric.WithCardinalityLimit(pointsMax),
	)
	meter := m.provider.Meter(scopeName, otelmetric.WithInstrumentationVersion(info.ServiceVersion))
	return m, errors.Join(m.makeSynchronous(meter), m.makeObserved(meter))
}

func (m *meters) makeSynchronous(meter otelmetric.Meter) error {
	var errs [len(instruments)]error
	for q := quantityCCT; q < quantityMessage; q++ {
		i := &instruments[q]
		m.histograms[q], errs[q] = meter.Float64Histogram(i.name, otelmetric.WithUnit(i.unit), otelmetric.WithDescription(i.help))
	}
	i := &instruments[quantityMessage]
	m.messages, errs[quantityMessage] = meter.Int64Histogram(i.name, otelmetric.WithUnit(i.unit), otelmetric.WithDescription(i.help))
	i = &instruments[quantityCollectives]
	m.collectives, errs[quantityCollectives] = meter.Int64Counter(i.name, otelmetric.WithUnit(i.unit), otelmetric.WithDescription(i.help))
	i = &instruments[quantityIO]
	m.io, errs[quantityIO] = meter.Int64Counter(i.name, otelmetric.WithUnit(i.unit), otelmetric.WithDescription(i.help))
	return errors.Join(errs[:]...)
}

func (m *meters) makeObserved(meter otelmetric.Meter) error {
	var errs [len(instruments)]error
	var all []otelmetric.Observable
	for q := quantityAlgBW; int(q) < len(instruments); q++ {
		i := &instruments[q]
		unit, help := otelmetric.WithUnit(i.unit), otelmetric.WithDescription(i.help)
		switch {
		case q <= quantityBusBW:
			m.bandwidths[q-quantityAlgBW], errs[q] = meter.Float64ObservableGauge(i.name, unit, help)
			all = append(all, m.bandwidths[q-quantityAlgBW])
			continue
		case i.kind == kindCounter:
			m.observed[q], errs[q] = meter.Int64ObservableCounter(i.name, unit, help)
		default:
			m.observed[q], errs[q] = meter.Int64ObservableGauge(i.name, unit, help)
		}
		all = append(all, m.observed[q])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	_, err := meter.RegisterCallback(m.observe, all...)
	return err
}

// observe gives what is not added up but looked at.
func (m *meters) observe(_ context.Context, o otelmetric.Observer) error {
	m.observeBandwidths(o)
	m.source.eachRank(func(log *flight.Log, open int64) {
		rank := attribute.Int("ccl.rank", log.Rank)
		say := func(q quantity, value int64, also ...attribute.KeyValue) {
			o.ObserveInt64(m.observed[q], value, otelmetric.WithAttributes(append(also, rank)...))
		}
		n := log.Counters()
		if n.Records > 0 && n.Dropped == 0 { // otherwise ends are not known
			say(quantityCollectivesOpen, open)
		}
		say(quantityPending, log.Pending())
		say(quantityShares, n.ShareHits, attribute.String("ccl.share.result", "hit"))
		say(quantityShares, n.ShareMisses, attribute.String("ccl.share.result", "miss"))
		say(quantityRecords, n.Records-n.Dropped)
		say(quantityDropped, n.Dropped)
		say(quantityBuffers, n.BufferBytes)
		say(quantityBuffersPeak, n.BufferPeak)
	})
	for reason, count := range m.source.unused() {
		o.ObserveInt64(m.observed[quantityUnused], count, otelmetric.WithAttributes(attribute.String("ccl.reason", reason)))
	}
	return nil
}

// histogramView gives histograms their buckets and exemplars.
func histogramView(exponential bool) sdkmetric.View {
	return func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
		if i.Kind != sdkmetric.InstrumentKindHistogram {
			return sdkmetric.Stream{}, false
		}
		bounds := secondsBounds
		if i.Unit == "By" {
			bounds = bytesBounds
		}
		stream := sdkmetric.Stream{
			Name: i.Name, Description: i.Description, Unit: i.Unit,
			Aggregation:                       sdkmetric.AggregationExplicitBucketHistogram{Boundaries: bounds},
			ExemplarReservoirProviderSelector: largestOfEach(bounds),
		}
		if exponential {
			stream.Aggregation = sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
		}
		return stream, true
	}
}

// keyValues are attributes as the SDK wants them.
func keyValues(attributes []Attribute) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(attributes))
	for i := range attributes {
		a := &attributes[i]
		switch a.Kind {
		case AttributeInt:
			out[i] = attribute.Int64(a.Key, a.Int)
		case AttributeFloat:
			out[i] = attribute.Float64(a.Key, a.Float)
		case AttributeBool:
			out[i] = attribute.Bool(a.Key, a.Bool)
		default:
			out[i] = attribute.String(a.Key, a.Text)
		}
	}
	return out
}
