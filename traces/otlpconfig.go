package traces

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// exportDisabled says why the environment turns exporting off, or that it asks
// for an exporter that is not there.
func exportDisabled(info *Info) (why string, err error) {
	if strings.EqualFold(info.env("OTEL_SDK_DISABLED"), "true") {
		return "OTEL_SDK_DISABLED is true", nil
	}
	switch name := info.env("OTEL_TRACES_EXPORTER"); name {
	case "", "otlp":
		return "", nil
	case "none":
		return "OTEL_TRACES_EXPORTER is none", nil
	default:
		return "", fmt.Errorf("OTEL_TRACES_EXPORTER is %q: the exporters are otlp and none", name)
	}
}

var errNoScheme = errors.New("it needs a scheme, as in http://localhost:4318")

// exportEndpoint checks the endpoint, which the exporters would otherwise
// misread in silence.
func exportEndpoint(info *Info) (*url.URL, error) {
	text := firstOf(info, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
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
