package traces

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// collector takes spans over gRPC and HTTP.
type collector struct {
	coltracepb.UnimplementedTraceServiceServer
	endpoint string
	rejects  int64 // spans of each request
	status   int   // of HTTP answers, 0 for 200

	mu       sync.Mutex
	requests []*coltracepb.ExportTraceServiceRequest
	headers  []http.Header
}

func (c *collector) Export(_ context.Context, req *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, req)
	answer := &coltracepb.ExportTraceServiceResponse{}
	if c.rejects > 0 {
		answer.PartialSuccess = &coltracepb.ExportTracePartialSuccess{RejectedSpans: c.rejects, ErrorMessage: "too (many) spans"}
	}
	return answer, nil
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		var unzip *gzip.Reader
		if unzip, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(unzip)
		}
	}
	req := &coltracepb.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, req)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	answer, _ := c.Export(r.Context(), req)
	c.mu.Lock()
	c.headers = append(c.headers, r.Header)
	c.mu.Unlock()
	encoded, err := proto.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.Write(encoded)
}

func newHTTPCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.endpoint = server.URL
	return c
}

func newGRPCCollector(t *testing.T) *collector {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{endpoint: "http://" + listener.Addr().String()}
	server := grpc.NewServer()
	coltracepb.RegisterTraceServiceServer(server, c)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-stopped; err != nil {
			t.Errorf("collector: %v", err)
		}
	})
	return c
}

// received is everything that arrived, in a canonical order.
func (c *collector) received() []*tracepb.ResourceSpans {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*tracepb.ResourceSpans
	for _, req := range c.requests {
		all = append(all, req.ResourceSpans...)
	}
	return canonical(all)
}

// canonical merges what belongs to the same resource and sorts spans by
// identifier and attributes by key.
func canonical(list []*tracepb.ResourceSpans) []*tracepb.ResourceSpans {
	byName := map[string]*tracepb.ResourceSpans{}
	for _, rs := range list {
		sortAttributes(rs.Resource.Attributes)
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				sortAttributes(s.Attributes)
				s.Status = cmp.Or(s.Status, &tracepb.Status{})
			}
		}
		name := rs.Resource.String()
		if first := byName[name]; first != nil {
			first.ScopeSpans[0].Spans = append(first.ScopeSpans[0].Spans, rs.ScopeSpans[0].Spans...)
			continue
		}
		byName[name] = rs
	}
	out := make([]*tracepb.ResourceSpans, 0, len(byName))
	for _, rs := range byName {
		slices.SortFunc(rs.ScopeSpans[0].Spans, func(a, b *tracepb.Span) int {
			return cmp.Or(bytes.Compare(a.TraceId, b.TraceId), bytes.Compare(a.SpanId, b.SpanId))
		})
		out = append(out, rs)
	}
	slices.SortFunc(out, func(a, b *tracepb.ResourceSpans) int { return cmp.Compare(serviceName(a), serviceName(b)) })
	return out
}

func sortAttributes(list []*commonpb.KeyValue) {
	slices.SortFunc(list, func(a, b *commonpb.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
}

func serviceName(rs *tracepb.ResourceSpans) string {
	for _, kv := range rs.Resource.Attributes {
		if kv.Key == "service.name" {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}
