package traces

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// signal is one of OpenTelemetry's, as it stands in the names of variables.
type signal string

const (
	signalTraces  signal = "TRACES"
	signalMetrics signal = "METRICS"
)

// setting is a variable of the exporters: the signal's own comes before the one
// for all signals.
func (s signal) setting(info *Info, name string) string {
	return firstOf(info, "OTEL_EXPORTER_OTLP_"+string(s)+"_"+name, "OTEL_EXPORTER_OTLP_"+name)
}

// exportDisabled says why the environment turns exporting off, or that it asks
// for an exporter that is not there.
func exportDisabled(info *Info, s signal) (why string, err error) {
	if strings.EqualFold(info.env("OTEL_SDK_DISABLED"), "true") {
		return "OTEL_SDK_DISABLED is true", nil
	}
	variable := "OTEL_" + string(s) + "_EXPORTER"
	switch name := info.env(variable); name {
	case "", "otlp":
		return "", nil
	case "none":
		return variable + " is none", nil
	default:
		return "", fmt.Errorf("%s is %q: the exporters are otlp and none", variable, name)
	}
}

var errNoScheme = errors.New("it needs a scheme, as in http://localhost:4318")

// exportEndpoint checks the endpoint, which the exporters would otherwise
// misread in silence.
func exportEndpoint(info *Info, s signal) (*url.URL, error) {
	text := s.setting(info, "ENDPOINT")
	if text == "" {
		return &url.URL{}, nil // the exporter's default: this host
	}
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "unix" {
		err = errNoScheme
	}
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", text, err)
	}
	return u, nil
}

// firstOf is the first of the variables that is set.
func firstOf(info *Info, names ...string) string {
	for _, name := range names {
		if v := info.env(name); v != "" {
			return v
		}
	}
	return ""
}
