// Package jaegertest lets tests look at spans in a real Jaeger: [Start] one,
// export to it, and ask its query API with [Server.Trace]. It knows nothing of
// package traces, whose own tests use it.
package jaegertest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a Jaeger that runs as long as the test that started it.
type Server struct {
	GRPC, HTTP string // endpoints for spans

	query, metrics string
	output         lockedBuffer
}

// startTimeout is for Jaeger to answer, on a machine that has other things to
// do.
const startTimeout = 60 * time.Second

// Start runs bin/jaeger on free ports of this machine. The test is skipped if
// there is none.
func Start(tb testing.TB) *Server {
	tb.Helper()
	root := repository(tb)
	program := filepath.Join(root, "bin", "jaeger")
	if _, err := os.Stat(program); err != nil {
		tb.Skip("there is no bin/jaeger, which make jaeger builds")
	}
	ports := freePorts(tb, 5)
	address := func(i int) string { return "http://127.0.0.1:" + ports[i] }
	s := &Server{GRPC: address(0), HTTP: address(1), query: address(2), metrics: address(4)}
	cmd := exec.Command(program, "--config", filepath.Join(root, "traces", "jaeger.yaml"))
	cmd.Env = append(cmd.Environ(),
		"JAEGER_OTLP_GRPC_PORT="+ports[0], "JAEGER_OTLP_HTTP_PORT="+ports[1], "JAEGER_QUERY_PORT="+ports[2],
		"JAEGER_QUERY_GRPC_PORT="+ports[3], "JAEGER_METRICS_PORT="+ports[4])
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ended := make(chan error, 1)
	started := make(chan error)
	go func() { // the thread that starts a process with a death signal must live on
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	s.awaitReady(tb, ended)
	return s
}

// awaitReady returns when the query API answers.
func (s *Server) awaitReady(tb testing.TB, ended chan error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.query+"/api/services", nil)
		if err != nil {
			tb.Fatal(err)
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			answer.Body.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			tb.Fatalf("jaeger ended: %v\n%s", err, s.output.String())
		case <-ctx.Done():
			tb.Fatalf("jaeger does not answer:\n%s", s.output.String())
		case <-tick.C:
		}
	}
}

// repository is the root of this repository, above the test's directory.
func repository(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			tb.Fatal("there is no go.mod above the test")
		}
		dir = above
	}
}

// freePorts are ports that nobody listens on, or did not a moment ago.
func freePorts(tb testing.TB, n int) []string {
	tb.Helper()
	var ports []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		defer listener.Close()
		ports = append(ports, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

// lockedBuffer is what a process has said so far.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is the text, or its end if there is much.
func (b *lockedBuffer) String() string {
	const enough = 4 << 10
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.String()
	return strings.ToValidUTF8(text[max(0, len(text)-enough):], "?")
}
