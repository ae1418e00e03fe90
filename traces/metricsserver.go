package traces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/otlptranslator"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"

	"github.com/ccrun/ccrun/host/flight"
)

// MetricsServer serves the metrics of a run for Prometheus while the run
// lasts. It reads the flight files, each record once, when it is asked, and at
// most once a second.
type MetricsServer struct {
	listener net.Listener
	server   *http.Server
	serving  chan error // of the server's end
	cache    metricsCache
}

// metricsInterval is how old metrics may be that are served again.
const metricsInterval = time.Second

// Limits for those who ask: two scrapes at a time, and none that takes for
// ever.
const (
	scrapesMax     = 2
	headerTimeout  = 5 * time.Second
	scrapeTimeout  = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	headerBytesMax = 16 << 10
)

// ServeMetrics listens at an address such as "localhost:9464" and serves
// /metrics of the run in the directory, whose flight files, one for each of so
// many ranks, may still be to come. The error says that nobody can listen there.
func ServeMetrics(address, dir string, ranks int, info Info) (*MetricsServer, error) {
	s := &MetricsServer{serving: make(chan error, 1)}
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes),
	)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	follower := newFollower(dir)
	none := &Run{size: ranks} // no rank has a file yet
	meters, err := newMeters(exporter, false, (*followedRun)(follower), &info, newResources(none, &info).run.Attributes)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	s.cache = metricsCache{follower: follower, meters: meters, registry: registry}
	if s.listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", address); err != nil {
		return nil, errors.Join(err, s.cache.close())
	}
	s.start()
	return s, nil
}

func (s *MetricsServer) start() {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(&s.cache, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: scrapesMax,
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the metrics are at /metrics", http.StatusNotFound)
	})
	s.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: scrapeTimeout, WriteTimeout: scrapeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytesMax, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { s.serving <- s.server.Serve(s.listener) }()
}

// URL is where the metrics are, seen from this machine.
func (s *MetricsServer) URL() string {
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/metrics"
}

// Finish says that the run is over: what is served to those who ask from then on
// is what the run's summary says. The rest of the records is read for the first
// of them.
func (s *MetricsServer) Finish() { s.cache.over.Store(true) }

// Close stops serving.
func (s *MetricsServer) Close() error {
	err := s.server.Close()
	if served := <-s.serving; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, s.cache.close())
}

// metricsCache gathers metrics anew if those that it has are old.
type metricsCache struct {
	mu       sync.Mutex
	follower *follower
	meters   *meters
	registry *prometheus.Registry

	families []*dto.MetricFamily
	err      error
	at       time.Time // when they were gathered
	finished bool      // they are those of the whole run
	closed   bool
	over     atomic.Bool // the run is, set without waiting for who gathers
}

// Gather gives the metrics, which are not to be changed.
func (c *metricsCache) Gather() ([]*dto.MetricFamily, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, net.ErrClosed
	}
	switch {
	case c.finished:
	case c.over.Load():
		c.follower.finish(c.take)
		c.finished = true
		c.gather()
	case c.at.IsZero() || time.Since(c.at) >= metricsInterval:
		c.follower.poll(c.take)
		c.gather()
	}
	return slices.Clone(c.families), c.err
}

func (c *metricsCache) gather() {
	c.families, c.err = c.registry.Gather()
	c.at = time.Now()
}

func (c *metricsCache) take(one *Collective) {
	c.meters.collective(one, c.follower.run.logs[0].WallOffset())
}

func (c *metricsCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return errors.Join(c.meters.provider.Shutdown(context.Background()), c.follower.close())
}

// followedRun is a run that lasts as the source of what meters look at.
type followedRun follower

func (f *followedRun) eachRank(each func(log *flight.Log, open int64)) {
	for _, feed := range f.feeds {
		each(feed.log, feed.inFlight())
	}
}

func (f *followedRun) unused() map[string]int64 {
	return map[string]int64{"damaged": f.damaged, "unplaced": f.unplaced, "late": f.late}
}
