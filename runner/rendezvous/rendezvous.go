// Package rendezvous is the control plane that the ranks of a run find each
// other through: a small key-value service over a Unix socket. [Listen] starts
// it in the launcher, [Dial] reaches it from a rank and gives a
// [device.Exchange].
//
// No payload crosses it, it keeps nothing on disk, and it trusts nobody: a
// caller must show the run's token, and keys, values and their number are
// limited.
package rendezvous

import (
	"context"
	"encoding/json"
	"time"

	"google.golang.org/grpc"
)

// Limits of what the service keeps.
const (
	KeyBytesMax   = 256
	ValueBytesMax = 64 << 10
	KeysMax       = 1 << 20
	TotalBytesMax = 256 << 20
)

const (
	serviceName = "ccrun.Rendezvous"
	tokenHeader = "ccrun-token"
	// messageBytesMax holds the largest request: two values in base64.
	messageBytesMax = 4 * ValueBytesMax
	connectTimeout  = 10 * time.Second
)

// message is every request and every reply; a method uses the fields that it
// needs.
type message struct {
	Key          string `json:"key,omitempty"`
	Value        []byte `json:"value,omitempty"`
	Old          []byte `json:"old,omitempty"`
	Unset        bool   `json:"unset,omitempty"`         // of CompareAndSwap: the key must not be set
	TimeoutNanos int64  `json:"timeout_nanos,omitempty"` // of Get: negative waits for ever
}

// codec puts messages on the wire as JSON: the service needs no generated code
// and a captured message can be read.
type codec struct{}

func (codec) Name() string                       { return "json" }
func (codec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (codec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// handler is what a method of the service does.
type handler func(*Store, context.Context, *message) (*message, error)

// service describes the methods to grpc.
func service() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("Set", (*Store).serveSet),
			method("Get", (*Store).serveGet),
			method("CompareAndSwap", (*Store).serveCompareAndSwap),
		},
	}
}

func method(name string, h handler) grpc.MethodDesc {
	full := "/" + serviceName + "/" + name
	serve := func(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		var request message
		if err := decode(&request); err != nil {
			return nil, err
		}
		next := func(ctx context.Context, r any) (any, error) { return h(srv.(*Store), ctx, r.(*message)) }
		if intercept == nil {
			return next(ctx, &request)
		}
		return intercept(ctx, &request, &grpc.UnaryServerInfo{Server: srv, FullMethod: full}, next)
	}
	return grpc.MethodDesc{MethodName: name, Handler: serve}
}
