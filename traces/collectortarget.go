package traces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// collectorTarget is where spans or metrics go, and how.
type collectorTarget struct {
	endpoint *url.URL
	grpc     bool
}

// newCollectorTarget reads the variables that say where a signal goes. The
// clients read them as well; what they would misread in silence is an error
// here.
func newCollectorTarget(info *Info, s signal) (collectorTarget, error) {
	endpoint, err := exportEndpoint(info, s)
	if err != nil {
		return collectorTarget{}, err
	}
	protocol := s.setting(info, "PROTOCOL")
	if protocol == "" && endpoint.Port() == "4317" {
		protocol = "grpc" // the port that is registered for it
	}
	switch protocol {
	case "grpc":
		return collectorTarget{endpoint, true}, nil
	case "", "http/protobuf":
		return collectorTarget{endpoint, false}, nil
	default:
		return collectorTarget{}, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: the protocols are grpc and http/protobuf", protocol)
	}
}

// String is the endpoint without what may be secret in it.
func (t collectorTarget) String() string {
	if t.endpoint.Scheme == "" {
		return "http://" + t.defaultAddress()
	}
	return oneLine(t.endpoint.Redacted())
}

func (t collectorTarget) defaultAddress() string {
	if t.grpc {
		return "localhost:4317"
	}
	return "localhost:4318"
}

// client makes the client, which reads the other variables itself.
func (t collectorTarget) client(info *Info) otlptrace.Client {
	hasTimeout := signalTraces.setting(info, "TIMEOUT") != ""
	if t.grpc {
		return t.newGRPCClient(hasTimeout)
	}
	return t.newHTTPClient(hasTimeout)
}

func (t collectorTarget) newGRPCClient(hasTimeout bool) otlptrace.Client {
	options := []otlptracegrpc.Option{otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
		Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryElapsed,
	})}
	if !hasTimeout {
		options = append(options, otlptracegrpc.WithTimeout(requestTimeout))
	}
	if t.endpoint.Scheme == "" { // the client's own default wants TLS
		options = append(options, otlptracegrpc.WithEndpointURL(t.String()))
	}
	return otlptracegrpc.NewClient(options...)
}

func (t collectorTarget) newHTTPClient(hasTimeout bool) otlptrace.Client {
	options := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMax, MaxElapsedTime: retryElapsed,
	})}
	if !hasTimeout {
		options = append(options, otlptracehttp.WithTimeout(requestTimeout))
	}
	if t.endpoint.Scheme == "" {
		options = append(options, otlptracehttp.WithEndpointURL(t.String()+"/v1/traces"))
	}
	return otlptracehttp.NewClient(options...)
}

// CollectorName is the endpoint that spans go to, fit for a message; "" if
// the environment names none that can be used.
func CollectorName(info Info) string {
	target, err := newCollectorTarget(&info, signalTraces)
	if err != nil {
		return ""
	}
	return target.String()
}

// ProbeTimeout bounds [ProbeOTLP].
const ProbeTimeout = 500 * time.Millisecond

// ProbeOTLP says, before a run, whether its spans will find somebody who
// listens. nil also stands for what cannot be known, and for exporting that is
// turned off.
func ProbeOTLP(ctx context.Context, info Info) error {
	why, err := exportDisabled(&info, signalTraces)
	if why != "" || err != nil {
		return err
	}
	target, err := newCollectorTarget(&info, signalTraces)
	if err != nil {
		return err
	}
	return target.probe(ctx, ProbeTimeout)
}

// probe connects and hangs up. Behind a proxy nobody can say by that whether
// the collector is there.
func (t collectorTarget) probe(ctx context.Context, timeout time.Duration) error {
	network, address := t.address()
	if network == "tcp" && t.proxied(address) {
		return nil
	}
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err == nil {
		return conn.Close()
	}
	var failed *net.OpError
	if errors.As(err, &failed) {
		err = failed.Err // what it says of addresses is said already
	}
	return fmt.Errorf("no collector at %s: %s", t, oneLine(err.Error()))
}

// address is what to connect to.
func (t collectorTarget) address() (network, address string) {
	u := t.endpoint
	switch u.Scheme {
	case "":
		return "tcp", t.defaultAddress()
	case "unix":
		return "unix", cmp.Or(u.Path, u.Opaque)
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https" || t.grpc:
		port = "443"
	default:
		port = "80"
	}
	return "tcp", net.JoinHostPort(u.Hostname(), port)
}

// proxied reports whether the environment puts a proxy before the address.
func (t collectorTarget) proxied(address string) bool {
	scheme := cmp.Or(t.endpoint.Scheme, "http")
	if t.grpc {
		scheme = "https" // gRPC tunnels through the proxy for it, always
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: scheme, Host: address}})
	return err == nil && proxy != nil
}
