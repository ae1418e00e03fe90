package traces

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
)

// Info is what spans say of a run beside its records.
type Info struct {
	RunID          string
	Device         string
	Preset         string
	Labels         map[string]string
	Fault          string // what was made wrong on purpose, "" for nothing
	TraceParent    string // W3C trace context of who started the run, "" if none
	ServiceVersion string
	Host           string // name of the node, "" to leave it out

	// Env looks up the standard OTEL_ variables; nil for none.
	Env func(string) string
}

// env is Env with nil taken care of.
func (i *Info) env(name string) string {
	if i.Env == nil {
		return ""
	}
	return i.Env(name)
}

// Resource is who a span belongs to: one rank, or the run as a whole.
type Resource struct {
	Service    string // service.name
	Rank       int    // -1 for the run
	Attributes []Attribute
}

// ranksWithService is the largest run in which each rank is a service of its
// own. Jaeger colours, groups and filters by service only, but its colours
// repeat, and backends index services.
const ranksWithService = 64

// resources are those of a run.
type resources struct {
	run    *Resource
	byRank []*Resource // nil where a rank left no file
}

// newResources makes the run's resource and one per rank.
func newResources(r *Run, info *Info) *resources {
	given, service := resourceAttributes(info)
	prefix := ""
	if service == "" {
		service = "ccrun"
	} else {
		prefix = service + "-"
	}
	shared := sharedAttributes(r, info, given)
	out := &resources{byRank: make([]*Resource, r.size)}
	out.run = &Resource{Service: service, Rank: -1, Attributes: append([]Attribute{
		textAttr("service.name", service), textAttr("service.instance.id", printable(info.RunID)),
	}, shared...)}
	width := max(2, len(strconv.Itoa(max(r.size-1, 0))))
	for _, log := range r.logs {
		name := service
		if r.size <= ranksWithService {
			name = fmt.Sprintf("%srank-%0*d", prefix, width, log.Rank)
		}
		out.byRank[log.Rank] = rankResource(log, name, info, shared)
	}
	return out
}

func rankResource(log *flight.Log, service string, info *Info, shared []Attribute) *Resource {
	own := []Attribute{
		textAttr("service.name", service),
		textAttr("service.instance.id", fmt.Sprintf("%s-rank%d", printable(info.RunID), log.Rank)),
		intAttr("ccl.rank", log.Rank),
	}
	if log.PID != 0 { // simulated ranks have no process
		own = append(own, intAttr("process.pid", log.PID))
	}
	return &Resource{Service: service, Rank: log.Rank, Attributes: append(own, shared...)}
}

// sharedAttributes are those of every resource of a run. The node's name
// stands in all three places in which versions of Jaeger look for it to tell
// that two spans share a clock. Attributes given by the environment never
// replace ours.
func sharedAttributes(r *Run, info *Info, given []Attribute) []Attribute {
	out := []Attribute{
		textAttr("service.namespace", "ccrun"), textAttr("ccl.run.id", printable(info.RunID)), intAttr("ccl.size", r.size),
	}
	optional := func(key, value string) {
		if value != "" {
			out = append(out, textAttr(key, printable(value)))
		}
	}
	optional("service.version", info.ServiceVersion)
	optional("ccl.transport", info.Device)
	optional("ccl.preset", info.Preset)
	optional("ccl.fault", info.Fault)
	optional("host.name", info.Host)
	optional("host.id", info.Host)
	optional("ip", info.Host)
	for _, key := range slices.Sorted(maps.Keys(info.Labels)) {
		optional("ccl.label."+printable(key), info.Labels[key])
	}
	taken := map[string]bool{"process.pid": true}
	for _, a := range out {
		taken[a.Key] = true
	}
	for _, a := range given {
		if !taken[a.Key] && !strings.HasPrefix(a.Key, "ccl.") {
			out = append(out, a)
		}
	}
	return out
}

// resourceAttributes reads OTEL_RESOURCE_ATTRIBUTES and the service's name,
// for which OTEL_SERVICE_NAME comes first.
func resourceAttributes(info *Info) (attributes []Attribute, service string) {
	values := make(map[string]string)
	for pair := range strings.SplitSeq(info.env("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if decoded, err := url.PathUnescape(value); err == nil {
			value = decoded
		}
		values[printable(key)] = printable(value)
	}
	service = values["service.name"]
	if name := info.env("OTEL_SERVICE_NAME"); name != "" {
		service = printable(name)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key != "service.name" && key != "service.instance.id" {
			attributes = append(attributes, textAttr(key, values[key]))
		}
	}
	return attributes, service
}
