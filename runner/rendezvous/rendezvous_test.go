package rendezvous

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
)

const token = "0123456789abcdef"

func listen(t *testing.T) (*Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rendezvous")
	server, err := Listen(path, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server, path
}

func dial(t *testing.T, path, token string) *Client {
	t.Helper()
	client, err := Dial(path, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// each runs a test against a store in this process and one behind a socket:
// they are the same exchange.
func each(t *testing.T, test func(t *testing.T, x device.Exchange)) {
	t.Run("store", func(t *testing.T) {
		store := NewStore()
		defer store.Close()
		test(t, store)
	})
	t.Run("client", func(t *testing.T) {
		_, path := listen(t)
		test(t, dial(t, path, token))
	})
}

func TestExchange(t *testing.T) {
	each(t, func(t *testing.T, x device.Exchange) {
		steps := []struct {
			name string
			do   func() ([]byte, error)
			want string // %q of the value, or an error's condition
		}{
			{"get unset", func() ([]byte, error) { return x.Get("k", 0) }, "timed out"},
			{"set", func() ([]byte, error) { return nil, x.Set("k", []byte("one")) }, "<nil>"},
			{"get", func() ([]byte, error) { return x.Get("k", 0) }, `"one"`},
			{"replace", func() ([]byte, error) { return nil, x.Set("k", []byte("two")) }, "<nil>"},
			{"get for ever", func() ([]byte, error) { return x.Get("k", device.Forever) }, `"two"`},
			{"swap wrong", func() ([]byte, error) { return x.CompareAndSwap("k", []byte("one"), []byte("x")) }, `"two"`},
			{"swap set as unset", func() ([]byte, error) { return x.CompareAndSwap("k", nil, []byte("x")) }, `"two"`},
			{"swap", func() ([]byte, error) { return x.CompareAndSwap("k", []byte("two"), []byte("three")) }, `"three"`},
			{"swap unset as set", func() ([]byte, error) { return x.CompareAndSwap("n", []byte("?"), []byte("x")) }, "<nil>"},
			{"swap unset as empty", func() ([]byte, error) { return x.CompareAndSwap("n", []byte{}, []byte("x")) }, "<nil>"},
			{"swap unset", func() ([]byte, error) { return x.CompareAndSwap("n", nil, []byte("x")) }, `"x"`},
			{"set empty", func() ([]byte, error) { return nil, x.Set("e", nil) }, "<nil>"},
			{"get empty", func() ([]byte, error) { return x.Get("e", 0) }, `""`},
			{"no key", func() ([]byte, error) { return nil, x.Set("", nil) }, "too many streams, events or buffers"},
			{"long key", func() ([]byte, error) { return x.Get(strings.Repeat("k", KeyBytesMax+1), 0) }, "too many streams, events or buffers"},
			{"largest value", func() ([]byte, error) { return nil, x.Set("l", make([]byte, ValueBytesMax)) }, "<nil>"},
			{"oversized value", func() ([]byte, error) { return nil, x.Set("l", make([]byte, ValueBytesMax+1)) }, "too many streams, events or buffers"},
		}
		for _, step := range steps {
			value, err := step.do()
			if got := outcome(value, err); got != step.want {
				t.Errorf("%s: got %s (%v), want %s", step.name, got, err, step.want)
			}
		}
	})
}

func outcome(value []byte, err error) string {
	for _, c := range conditions {
		if errors.Is(err, c.err) {
			return c.err.Error()
		}
	}
	if err != nil {
		return err.Error()
	}
	if value == nil {
		return "<nil>"
	}
	return fmt.Sprintf("%q", value)
}

func TestHugeMessageIsRefused(t *testing.T) {
	_, path := listen(t)
	client := dial(t, path, token)
	if err := client.Set("k", make([]byte, 8<<20)); !errors.Is(err, device.ErrTooMany) {
		t.Errorf("8 MiB value: %v", err)
	}
	if err := client.Set("k", []byte("small")); err != nil {
		t.Errorf("the client is of no use after a refusal: %v", err)
	}
}

func TestStoreHoldsLimitedBytes(t *testing.T) {
	store := NewStore()
	value := make([]byte, ValueBytesMax)
	var err error
	for i := 0; err == nil && i <= TotalBytesMax/ValueBytesMax; i++ {
		err = store.Set(fmt.Sprint(i), value)
	}
	if !errors.Is(err, device.ErrTooMany) {
		t.Fatalf("a store of more than %d bytes: %v", TotalBytesMax, err)
	}
	if err := store.Set("0", nil); err != nil {
		t.Errorf("shrink a value of a full store: %v", err)
	}
}

func TestWrongTokenIsRefused(t *testing.T) {
	server, path := listen(t)
	for _, wrong := range []string{"", "x", token + "0", strings.ToUpper(token)} {
		if err := dial(t, path, wrong).Set("k", []byte("v")); err == nil || !strings.Contains(err.Error(), "wrong run token") {
			t.Errorf("token %q: %v", wrong, err)
		}
	}
	if _, set := server.Peek("k"); set {
		t.Error("a caller with a wrong token stored a value")
	}
}

func TestSocketIsPrivate(t *testing.T) {
	_, path := listen(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if perm := info.Mode().Perm(); perm != 0o600 {
		t.Errorf("socket has mode %v", perm)
	}
}

func TestGarbageOnTheSocket(t *testing.T) {
	_, path := listen(t)
	garbage := []string{"", "hello\n", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("\x00\xff", 4096),
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\xff", 64)}
	for _, g := range garbage {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(g)) // the server may have hung up already
		conn.Close()
	}
	client := dial(t, path, token)
	if err := client.Set("k", []byte("v")); err != nil {
		t.Errorf("after garbage: %v", err)
	}
}

func TestGarbageInsideTheProtocol(t *testing.T) {
	_, path := listen(t)
	client := dial(t, path, token)
	var reply message
	if err := client.conn.Invoke(client.ctx, "/"+serviceName+"/Set", "not a message", &reply); err == nil {
		t.Error("a request that is no message was accepted")
	}
	if err := client.conn.Invoke(client.ctx, "/"+serviceName+"/Nothing", &message{}, &reply); err == nil {
		t.Error("an unknown method was accepted")
	}
	if err := client.Set("k", nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestManyWaiters(t *testing.T) {
	server, path := listen(t)
	const clients, waitersEach = 8, 32
	var waiting sync.WaitGroup
	errs := make(chan error, clients*waitersEach)
	for range clients {
		client := dial(t, path, token)
		for range waitersEach {
			waiting.Go(func() {
				value, err := client.Get("late", 20*time.Second)
				if err == nil && string(value) != "now" {
					err = fmt.Errorf("got %q", value)
				}
				errs <- err
			})
		}
	}
	if err := server.Set("late", []byte("now")); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestExactlyOneSwapWins(t *testing.T) {
	_, path := listen(t)
	const ranks = 16
	winners := make([]string, ranks)
	var swapping sync.WaitGroup
	for i := range ranks {
		client := dial(t, path, token)
		swapping.Go(func() {
			got, err := client.CompareAndSwap("winner", nil, fmt.Append(nil, i))
			if err != nil {
				t.Error(err)
			}
			winners[i] = string(got)
		})
	}
	swapping.Wait()
	for i := range ranks {
		if winners[i] == "" || winners[i] != winners[0] {
			t.Fatalf("ranks see different winners: %q", winners)
		}
	}
}

func TestWaitsEndWithTheServer(t *testing.T) {
	server, path := listen(t)
	client := dial(t, path, token)
	if err := client.Set("k", nil); err != nil { // connected
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.Get("never", device.Forever)
		ended <- err
	}()
	server.Close()
	if err := within(t, ended); !errors.Is(err, device.ErrAborted) {
		t.Errorf("wait ended with %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestWaitsEndWithTheClient(t *testing.T) {
	_, path := listen(t)
	client := dial(t, path, token)
	ended := make(chan error, 1)
	go func() {
		_, err := client.Get("never", device.Forever)
		ended <- err
	}()
	client.Close()
	if err := within(t, ended); !errors.Is(err, device.ErrAborted) {
		t.Errorf("wait ended with %v", err)
	}
}

func within(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the wait did not end")
		return nil
	}
}

func TestLongSocketPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "rendezvous")
	server, err := Listen(path, token)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := dial(t, path, token).Set("k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if value, set := server.Peek("k"); !set || string(value) != "v" {
		t.Errorf("got %q, %v", value, set)
	}
}

func TestListenRefuses(t *testing.T) {
	_, path := listen(t)
	if _, err := Listen(path, token); err == nil {
		t.Error("two servers at one path")
	}
	if _, err := Listen(path+"2", ""); err == nil {
		t.Error("a server without a token")
	}
	if _, err := Listen(filepath.Join(path, "no", "directory"), token); err == nil {
		t.Error("a server in no directory")
	}
}
