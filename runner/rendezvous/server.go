package rendezvous

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/ccrun/ccrun/host/device"
)

// Server serves a [Store] over a Unix socket.
type Server struct {
	*Store
	grpc   *grpc.Server
	path   string
	served chan struct{}
}

// Listen makes the socket at path, which must not exist, and serves whoever
// shows the token. The directory of path is what keeps other users out.
func Listen(path, token string) (*Server, error) {
	if token == "" {
		return nil, errors.New("rendezvous: no token")
	}
	short, done, err := shorten(path)
	if err != nil {
		return nil, fmt.Errorf("rendezvous: %w", err)
	}
	defer done()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("rendezvous: %w", err)
	}
	listener.SetUnlinkOnClose(false) // short may be gone by then; Close removes path
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("rendezvous: %w", err)
	}
	s := &Server{Store: NewStore(), path: path, served: make(chan struct{})}
	s.grpc = grpc.NewServer(
		grpc.ForceServerCodec(codec{}),
		grpc.MaxRecvMsgSize(messageBytesMax),
		grpc.ConnectionTimeout(connectTimeout),
		grpc.UnaryInterceptor(checkToken(token)),
	)
	s.grpc.RegisterService(service(), s.Store)
	go func() {
		defer close(s.served)
		_ = s.grpc.Serve(listener) // ends with Close, and then with nil
	}()
	return s, nil
}

// Close ends all waits and connections and removes the socket.
func (s *Server) Close() {
	s.Store.Close()
	s.grpc.Stop()
	<-s.served
	os.Remove(s.path)
}

func checkToken(token string) grpc.UnaryServerInterceptor {
	want := []byte(token)
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		shown := md.Get(tokenHeader)
		if len(shown) != 1 || subtle.ConstantTimeCompare([]byte(shown[0]), want) != 1 {
			return nil, status.Error(codes.Unauthenticated, "wrong run token")
		}
		return next(ctx, request)
	}
}

func (s *Store) serveSet(_ context.Context, m *message) (*message, error) {
	return &message{}, toStatus(s.Set(m.Key, m.Value))
}

func (s *Store) serveGet(ctx context.Context, m *message) (*message, error) {
	value, err := s.GetContext(ctx, m.Key, time.Duration(m.TimeoutNanos))
	return &message{Value: value}, toStatus(err)
}

func (s *Store) serveCompareAndSwap(_ context.Context, m *message) (*message, error) {
	value, err := s.compareAndSwap(m.Key, m.Old, m.Unset, m.Value)
	return &message{Value: value, Unset: value == nil}, toStatus(err)
}

// conditions pairs the errors of a store with what they are on the wire.
var conditions = [...]struct {
	err  error
	code codes.Code
}{
	{device.ErrTimeout, codes.DeadlineExceeded},
	{device.ErrTooMany, codes.ResourceExhausted},
	{device.ErrAborted, codes.Unavailable},
}

func toStatus(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range conditions {
		if errors.Is(err, c.err) {
			return status.Error(c.code, err.Error())
		}
	}
	return status.FromContextError(err).Err()
}
