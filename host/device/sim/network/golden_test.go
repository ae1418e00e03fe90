package network

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestGoldens reads testdata. A case is an instant:
//
//	at SECONDS
//
// or "at next", when the next flow is done, or "at end", when all are. Each line
// changes something then; what is done by then ends first:
//
//	link NAME CAPACITY              add a link, or change it
//	start NAME AMOUNT [LINK...] [limit=RATE]
//	finish NAME
//
// The output is what has ended and then, after one Settle, each flow with its
// rate and the time at which it will be done, marked * if Settle has listed it.
// "load" gives the flows on each link and what it has moved. "reset" begins a
// new network.
func TestGoldens(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.HasPrefix(path, "testdata/fuzz") {
			return
		}
		p := newPlay()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "reset":
				p = newPlay()
				return ""
			case "at":
				return p.at(t, d)
			case "load":
				return p.load()
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// play is a network whose links and flows have names.
type play struct {
	network Network
	now     int64
	links   map[string]Link
	order   []string // of the links
	flows   []named  // in the order of their starts
}

type named struct {
	name string
	flow Flow
}

func newPlay() *play { return &play{links: make(map[string]Link)} }

func (p *play) at(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	switch when := d.CmdArgs[0].Key; when {
	case "next":
		p.endUntil(p.next(), &out)
	case "end":
		for next := p.next(); next < Never; next = p.next() {
			p.endUntil(next, &out)
			p.network.Settle(next)
		}
		return out.String()
	default:
		seconds, err := strconv.ParseFloat(when, 64)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		for next := p.next(); next < int64(seconds*1e12); next = p.next() {
			p.endUntil(next, &out)
			p.network.Settle(next)
		}
		p.endUntil(int64(seconds*1e12), &out)
	}
	for line := range strings.Lines(d.Input) {
		p.change(t, d, strings.Fields(line))
	}
	p.settle(&out)
	return out.String()
}

// next returns the earliest completion time.
func (p *play) next() int64 {
	next := int64(Never)
	for _, f := range p.flows {
		next = min(next, p.network.Due(f.flow))
	}
	return next
}

// endUntil goes to a time and ends what is done then.
func (p *play) endUntil(at int64, out *strings.Builder) {
	p.now = at
	var rest []named
	for _, f := range p.flows {
		if p.network.Due(f.flow) > at {
			rest = append(rest, f)
			continue
		}
		fmt.Fprintf(out, "%s is done at %s\n", f.name, secondsText(at))
		p.network.Finish(at, f.flow)
	}
	p.flows = rest
}

func (p *play) change(t *testing.T, d *datadriven.TestData, words []string) {
	number := func(word string) float64 {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return x
	}
	switch words[0] {
	case "link":
		if l, ok := p.links[words[1]]; ok {
			p.network.SetCapacity(l, number(words[2]))
			return
		}
		p.links[words[1]] = p.network.AddLink(number(words[2]))
		p.order = append(p.order, words[1])
	case "start":
		var links []Link
		limit := 0.0
		for _, word := range words[3:] {
			if text, ok := strings.CutPrefix(word, "limit="); ok {
				limit = number(text)
				continue
			}
			l, ok := p.links[word]
			if !ok {
				d.Fatalf(t, "no link %s", word)
			}
			links = append(links, l)
		}
		p.flows = append(p.flows, named{words[1], p.network.Start(p.now, number(words[2]), limit, 0, links...)})
	case "finish":
		for i, f := range p.flows {
			if f.name == words[1] {
				p.network.Finish(p.now, f.flow)
				p.flows = append(p.flows[:i], p.flows[i+1:]...)
				return
			}
		}
		d.Fatalf(t, "no flow %s", words[1])
	default:
		d.Fatalf(t, "unknown change %s", words[0])
	}
}

// settle prints all flows.
func (p *play) settle(out *strings.Builder) {
	listed := make(map[Flow]bool)
	for _, due := range p.network.Settle(p.now) {
		listed[due.Flow] = true
	}
	for _, f := range p.flows {
		mark := " "
		if listed[f.flow] {
			mark = "*"
		}
		rate := fmt.Sprintf("%8.6g/s", p.network.Rate(f.flow))
		if p.network.Rate(f.flow) >= maxRate {
			rate = "no limit"
		}
		fmt.Fprintf(out, "%s %-5s %10s  done at %s\n", mark, f.name, rate, secondsText(p.network.Due(f.flow)))
	}
}

func (p *play) load() string {
	var out strings.Builder
	for _, name := range p.order {
		flows, moved := p.network.Load(p.links[name])
		fmt.Fprintf(&out, "%-6s %d flows, %.6g moved\n", name, flows, moved)
	}
	return out.String()
}

func secondsText(picos int64) string {
	if picos == Never {
		return "no time"
	}
	text := fmt.Sprintf("%d.%012d", picos/1e12, picos%1e12)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " s"
}
