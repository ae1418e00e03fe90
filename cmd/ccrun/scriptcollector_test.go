package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// badCollectors are what may stand where a collector should, by name. Each is
// given a connection from which nothing has been read.
var badCollectors = map[string]func(net.Conn){
	"hangs":  func(c net.Conn) { io.Copy(io.Discard, c) },
	"resets": reset,
	"garbage": func(c net.Conn) {
		io.CopyN(c, bytes.NewReader(bytes.Repeat([]byte("\x1b[31m\x00garbage\n"), 100)), 1500)
	},
	"closes": func(net.Conn) {},
	"status500": answering(http.StatusInternalServerError, "text/html", "",
		"<html>\x1b[31m\n"+strings.Repeat("it broke\n", 10_000)),
	"status503": answering(http.StatusServiceUnavailable, "text/plain", "Retry-After: 86400\r\n", "later"),
	"status404": answering(http.StatusNotFound, "text/plain", "", "404 page not found"),
	"lies":      answering(http.StatusOK, "application/x-protobuf", "", "\xff\xff\xff\xff"),
	// partial_success {rejected_spans: 3, error_message: "too many"}
	"rejects": answering(http.StatusOK, "application/x-protobuf", "", "\x0a\x0c\x08\x03\x12\x08too many"),
	"accepts": answering(http.StatusOK, "application/x-protobuf", "", ""),
}

// reset breaks the connection off in the middle of a request.
func reset(c net.Conn) {
	io.CopyN(io.Discard, c, 100)
	c.(*net.TCPConn).SetLinger(0)
}

// answering is HTTP with the same answer for every request.
func answering(status int, contentType, header, body string) func(net.Conn) {
	return func(c net.Conn) {
		requests := bufio.NewReader(c)
		for {
			request, err := http.ReadRequest(requests)
			if err != nil {
				return
			}
			io.Copy(io.Discard, request.Body)
			answer := http.Response{
				StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
				Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)),
			}
			if name, value, ok := strings.Cut(strings.TrimSpace(header), ": "); ok {
				answer.Header.Set(name, value)
			}
			if answer.Write(c) != nil {
				return
			}
		}
	}
}

// collectorCommand is `collector NAME`: starts one of badCollectors and makes
// the environment name it.
func collectorCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || badCollectors[args[0]] == nil {
		ts.Fatalf("usage: collector NAME")
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	var mu sync.Mutex
	var open []net.Conn
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			serving.Go(func() {
				badCollectors[args[0]](conn)
				conn.Close()
			})
		}
	})
	ts.Defer(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range open {
			conn.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
}

// keptCommand is `kept`: moves the one run directory that was kept to ./kept.
func keptCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: kept")
	}
	dirs, err := filepath.Glob(filepath.Join(ts.Getenv("TMPDIR"), "ccrun-*", "*"))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("%d run directories are kept: %v", len(dirs), slices.Sorted(slices.Values(dirs)))
	}
	ts.Check(os.RemoveAll(ts.MkAbs("kept")))
	ts.Check(os.Rename(dirs[0], ts.MkAbs("kept")))
}
