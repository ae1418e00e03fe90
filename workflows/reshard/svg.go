package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// chart is two panels or more over one x axis, to be drawn as one SVG file that
// needs nothing else.
type chart struct {
	title, subtitle string
	x               axis
	panels          []panel
}

// axis is numbers along one side. Names, if it has them, stand for 0, 1, ...
type axis struct {
	label string
	unit  unit
	log   bool // base 2
	names []string
}

// panel is series over the chart's x axis.
type panel struct {
	y      axis
	series []series
}

// series is a line with a mark at each point.
type series struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

// Sizes of a chart, in pixels.
const (
	chartWidth  = 760
	panelHeight = 220
	marginLeft  = 84
	marginRight = 28
	headHeight  = 106
	gapHeight   = 44
	footHeight  = 58
	plotWidth   = chartWidth - marginLeft - marginRight
)

// Colours of the series, which those who see no red or no green can tell apart.
var colours = [...]string{"#c2410c", "#1d4ed8", "#047857", "#6b21a8"}

const font = `font-family="system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"`

// writeSVG draws c.
func writeSVG(out io.Writer, c chart) error {
	var b strings.Builder
	height := headHeight + len(c.panels)*panelHeight + (len(c.panels)-1)*gapHeight + footHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" %s font-size="12" fill="#334155">`+"\n",
		chartWidth, height, chartWidth, height, font)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", escaped(c.title), chartWidth, height)
	text(&b, marginLeft, 28, `font-size="17" font-weight="600" fill="#0f172a"`, c.title)
	text(&b, marginLeft, 47, `fill="#64748b"`, c.subtitle)
	drawLegend(&b, c.panels)
	x := c.horizontal()
	top := headHeight
	for i := range c.panels {
		c.panels[i].draw(&b, x, c.x, top)
		top += panelHeight + gapHeight
	}
	c.drawFoot(&b, x, top-gapHeight)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

func text(b *strings.Builder, x, y float64, attributes, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attributes, escaped(s))
}

func line(b *strings.Builder, x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

// drawLegend names the series of the first panel: all panels have the same.
func drawLegend(b *strings.Builder, panels []panel) {
	if len(panels) == 0 || len(panels[0].series) < 2 {
		return
	}
	x := float64(marginLeft)
	for i, s := range panels[0].series {
		mark(b, i, x+5, 64)
		text(b, x+16, 68, `fill="#0f172a"`, s.name)
		x += 40 + 6.4*float64(len(s.name))
	}
}

// mark is a dot of the colour of series i, hollow for every second one so that
// those that lie on each other are both seen.
func mark(b *strings.Builder, i int, x, y float64) {
	colour, fill, radius := colours[i%len(colours)], "#ffffff", 5.0
	if i%2 == 1 {
		fill, radius = colour, 3.2
	}
	fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" stroke="%s" stroke-width="1.8"/>`+"\n", x, y, radius, fill, colour)
}

// horizontal is the scale of the x axis, with half a step of room at both ends
// where it has names.
func (c *chart) horizontal() scale {
	if len(c.x.names) > 0 {
		return scale{low: -0.5, high: float64(len(c.x.names)) - 0.5}
	}
	var values []float64
	for _, p := range c.panels {
		for _, s := range p.series {
			for _, at := range s.points {
				values = append(values, at.x)
			}
		}
	}
	return scaleOf(values, c.x.log, false)
}

func (p *panel) draw(b *strings.Builder, x scale, horizontal axis, top int) {
	var values []float64
	for _, s := range p.series {
		for _, at := range s.points {
			values = append(values, at.y)
		}
	}
	y := scaleOf(values, p.y.log, true)
	bottom := float64(top + panelHeight)
	text(b, marginLeft, float64(top)-8, `font-weight="600"`, p.y.label)
	if p.y.unit == byteUnit && !slices.ContainsFunc(values, func(v float64) bool { return v > 0 }) {
		text(b, marginLeft+plotWidth/2, bottom-panelHeight/2, `text-anchor="middle" fill="#64748b"`, "nothing staged")
	} else {
		for _, tick := range y.ticks(p.y.unit) {
			at := bottom - panelHeight*y.at(tick)
			line(b, marginLeft, at, marginLeft+plotWidth, at, "#e2e8f0")
			text(b, marginLeft-8, at+4, `text-anchor="end"`, p.y.unit.tick(tick))
		}
	}
	for _, tick := range horizontal.ticks(x) {
		at := marginLeft + plotWidth*x.at(tick)
		line(b, at, float64(top), at, bottom, "#f1f5f9")
	}
	line(b, marginLeft, bottom, marginLeft+plotWidth, bottom, "#94a3b8")
	for i, s := range p.series {
		s.draw(b, i, len(horizontal.names) == 0, func(at point) (float64, float64) {
			return marginLeft + plotWidth*x.at(at.x), bottom - panelHeight*y.at(at.y)
		}, p.y.unit)
	}
}

// draw draws a series, its points joined by a line unless they are of names,
// and says at each mark what it is, for who points at it.
func (s *series) draw(b *strings.Builder, i int, joined bool, place func(point) (x, y float64), unit unit) {
	if joined {
		b.WriteString(`<polyline fill="none" stroke="` + colours[i%len(colours)] + `" stroke-width="2" points="`)
		for n, at := range s.points {
			if n > 0 {
				b.WriteByte(' ')
			}
			px, py := place(at)
			fmt.Fprintf(b, "%.1f,%.1f", px, py)
		}
		b.WriteString("\"/>\n")
	}
	for _, at := range s.points {
		px, py := place(at)
		fmt.Fprintf(b, "<g><title>%s: %s</title>", escaped(s.name), unit.format(at.y))
		mark(b, i, px, py)
		b.WriteString("</g>\n")
	}
}

func (c *chart) drawFoot(b *strings.Builder, x scale, bottom int) {
	for _, tick := range c.x.ticks(x) {
		name := c.x.unit.tick(tick)
		if len(c.x.names) > 0 {
			name = c.x.names[int(tick)]
		}
		text(b, marginLeft+plotWidth*x.at(tick), float64(bottom)+18, `text-anchor="middle"`, name)
	}
	text(b, marginLeft+plotWidth/2, float64(bottom)+40, `text-anchor="middle" font-weight="600"`, c.x.label)
}

// ticks are those of a horizontal axis: its names, or round numbers.
func (a *axis) ticks(s scale) []float64 {
	if len(a.names) == 0 {
		return s.ticks(a.unit)
	}
	ticks := make([]float64, len(a.names))
	for i := range ticks {
		ticks[i] = float64(i)
	}
	return ticks
}
