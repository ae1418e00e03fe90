package rendezvous

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/ccrun/ccrun/host/device"
)

// replyTimeout bounds a call that waits for no key: the launcher answers at
// once or is in trouble.
const replyTimeout = 10 * time.Second

// Client is a rank's end. Its methods may be called from any goroutine.
type Client struct {
	conn   *grpc.ClientConn
	ctx    context.Context
	cancel context.CancelFunc
}

var _ device.Exchange = (*Client)(nil)

// Dial makes a client of the server at path. It does not wait for the server:
// the first call fails if there is none.
func Dial(path, token string) (*Client, error) {
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		short, done, err := shorten(path)
		if err != nil {
			return nil, err
		}
		defer done()
		var d net.Dialer
		return d.DialContext(ctx, "unix", short)
	}
	conn, err := grpc.NewClient("passthrough:///rendezvous",
		grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(messageBytesMax)),
	)
	if err != nil {
		return nil, fmt.Errorf("rendezvous: %w", err)
	}
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), tokenHeader, token))
	return &Client{conn: conn, ctx: ctx, cancel: cancel}, nil
}

// Close ends every call.
func (c *Client) Close() error {
	c.cancel()
	return c.conn.Close()
}

// Set implements [device.Exchange].
func (c *Client) Set(key string, value []byte) error {
	_, err := c.call("Set", &message{Key: key, Value: value}, 0)
	return err
}

// Get implements [device.Exchange].
func (c *Client) Get(key string, timeout time.Duration) ([]byte, error) {
	reply, err := c.call("Get", &message{Key: key, TimeoutNanos: int64(timeout)}, timeout)
	if err != nil {
		return nil, err
	}
	return orEmpty(reply.Value), nil
}

// CompareAndSwap implements [device.Exchange].
func (c *Client) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	reply, err := c.call("CompareAndSwap", &message{Key: key, Old: old, Unset: old == nil, Value: value}, 0)
	if err != nil || reply.Unset {
		return nil, err
	}
	return orEmpty(reply.Value), nil
}

// call makes one call that the server may take wait to answer, for ever if
// wait is negative.
func (c *Client) call(method string, request *message, wait time.Duration) (*message, error) {
	ctx := c.ctx
	if wait >= 0 {
		limited, cancel := context.WithTimeout(ctx, wait+replyTimeout)
		defer cancel()
		ctx = limited
	}
	var reply message
	if err := c.conn.Invoke(ctx, "/"+serviceName+"/"+method, request, &reply); err != nil {
		return nil, fromStatus(request.Key, err)
	}
	return &reply, nil
}

func fromStatus(key string, err error) error {
	s := status.Convert(err)
	for _, c := range conditions {
		if s.Code() == c.code {
			return fmt.Errorf("rendezvous key %q: %s: %w", key, s.Message(), c.err)
		}
	}
	if s.Code() == codes.Canceled {
		return fmt.Errorf("rendezvous key %q: %w", key, device.ErrAborted)
	}
	return fmt.Errorf("rendezvous key %q: %w", key, err)
}

// orEmpty tells an empty value, which JSON leaves out, from none.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
