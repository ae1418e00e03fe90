package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/traces"
)

const prometheusOutput = "prometheus"

// liveMetrics are the servers of metrics of a run that lasts.
type liveMetrics []*traces.MetricsServer

// serve begins to serve at every address that was asked for, and says where.
// The run is refused if that is not possible.
func (l *liveMetrics) serve(s *state, o *runOptions, start runner.Start) error {
	r := report{RunID: start.RunID, Device: start.Device}
	for i := range o.outputs {
		out := &o.outputs[i]
		if out.kind.name != prometheusOutput {
			continue
		}
		server, err := traces.ServeMetrics(out.argument, start.RunDir, start.Ranks, r.info(o.labels, s.env))
		if err != nil {
			return usageError{"--out " + quote(out.String()) + ": " + listenFailure(err), "name another address; port 0 takes one that is free"}
		}
		*l = append(*l, server)
		if !o.silent || strings.HasSuffix(out.argument, ":0") { // who takes any port must learn which
			fmt.Fprintln(s.stderr, "ccrun: metrics at", server.URL())
		}
	}
	return nil
}

// listenFailure says why nobody can listen, without the address.
func listenFailure(err error) string {
	var failed *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "the address is in use"
	case errors.As(err, &failed):
		return failed.Err.Error()
	}
	return err.Error()
}

// finish tells the servers that the run is over.
func (l liveMetrics) finish() {
	for _, server := range l {
		server.Finish()
	}
}

// close stops serving.
func (l *liveMetrics) close() {
	for _, server := range *l {
		_ = server.Close() // the run is over, and nobody is promised an answer
	}
}

// servedAlready is all that is left to do after a run.
func servedAlready(*export, string) error { return nil }

// checkAddress refuses what is no address to listen at.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return hinted("not an address to listen at", "[HOST]:PORT, as in -o prometheus=localhost:9464 or -o prometheus=:9464")
	}
	return nil
}

// refuseLive is for runs that are over.
func (v outputsValue) refuseLive() error {
	if !v.names(prometheusOutput) {
		return nil
	}
	return usageError{"--out prometheus serves a run while it lasts, and this one is over",
		"give it to ccrun run; -o otlp sends the metrics of a kept run to a collector"}
}
