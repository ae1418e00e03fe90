package html_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/ccrun/ccrun/traces"
)

// ring is the run that most tests of the page look at.
var ring = invented{ranks: 4, iterations: 3, slices: 5, mark: hostileMark, algorithm: "ring<i>"}

// TestPage drives the page in a real browser.
func TestPage(t *testing.T) {
	browser := startBrowser(t)
	path, summary := page(t, ring.record(t), hostile)
	for _, c := range []struct {
		name string
		test func(p *tab, s *traces.Summary)
	}{
		{"rows", testRows},
		{"names", testNames},
		{"network", testNetwork},
		{"hover", testHover},
		{"zoom", testZoom},
		{"drag", testDrag},
		{"selection", testSelection},
		{"filter", testFilter},
		{"collectives", testCollectives},
		{"figures", testFigures},
		{"pairs", testPairs},
		{"themes", testThemes},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(openTab(t, browser, path), summary) })
	}
}

// testRows compares the rows with the run's ranks and streams.
func testRows(p *tab, _ *traces.Summary) {
	var got, want []string
	for _, row := range p.place().Rows {
		got = append(got, fmt.Sprintf("rank %.0f stream %.0f", row.Rank, row.Stream))
	}
	for rank := range ring.ranks {
		want = append(want, fmt.Sprintf("rank %d stream -1", rank), fmt.Sprintf("rank %d stream 1", rank))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		p.t.Errorf("rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := evaluate[string](p, "document.getElementById('timeline').dataset.operations"); n != strconv.Itoa(ring.operations()) {
		p.t.Errorf("%s operations, want %d", n, ring.operations())
	}
}

// testNames looks for what a hostile name could have done.
func testNames(p *tab, _ *traces.Summary) {
	if got := evaluate[string](p, "document.querySelector('h1').textContent"); got != hostile {
		p.t.Errorf("the title is %q, want %q", got, hostile)
	}
	l := p.place()
	p.moveTo(l.point(0, 10_000))
	if tip := p.text("tooltip"); !strings.Contains(tip, "mark "+hostileMark) {
		p.t.Errorf("the tooltip of the mark says %q", tip)
	}
	if evaluate[bool](p, "window.broken === 1 || document.images.length > 0 || document.scripts.length !== 1") {
		p.t.Error("a name became part of the page")
	}
}

// testNetwork checks that the page asked for nothing and may not.
func testNetwork(p *tab, _ *traces.Summary) {
	if n := evaluate[int](p, "performance.getEntriesByType('resource').length"); n != 0 {
		p.t.Errorf("the page loaded %d resources", n)
	}
	p.expected = "Content Security Policy"
	const forbidden = "new Promise(done => { document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective)); new Image().src = 'http://127.0.0.1:9/'; })"
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](forbidden, chromedp.EvalAwaitPromise))
	if err != nil || got != "img-src" {
		p.t.Errorf("an image from the network is stopped by %q, %v; want img-src", got, err)
	}
}

// operation is one of the invented ones by its place in time: where rank r is
// in its step at a time after the first record.
func (v *invented) operation(rank int, nanos int64) (kind string, step, slice int) {
	each := int64(inventedSliceNanos + 1000)
	at := nanos % (int64((v.ranks-1)*v.slices)*each + inventedPause)
	n := (at - int64(rank)*1000) / each
	kind = "get"
	switch rest := (at - int64(rank)*1000) % each; {
	case rest < 500:
		kind = "wait"
	case rest >= 500+inventedSliceNanos:
		kind = "signal"
	}
	return kind, int(n) / v.slices, int(n) % v.slices
}

// testHover points at places all over the timeline and compares the tooltip
// with what the run had there.
func testHover(p *tab, _ *traces.Summary) {
	random := rand.New(rand.NewPCG(1, 2))
	p.keys("www")
	l, looked := p.place(), 0
	for looked < 15 {
		rank := random.IntN(ring.ranks)
		each, n := int64(inventedSliceNanos+1000), int64((ring.ranks-1)*ring.slices)
		iteration, slice := random.Int64N(int64(ring.iterations)), random.Int64N(n)
		nanos := iteration*(n*each+inventedPause) + int64(rank)*1000 + slice*each + 500 + random.Int64N(inventedSliceNanos)
		if float64(nanos) < l.From || float64(nanos) > l.To {
			continue
		}
		looked++
		p.moveTo(l.point(2*rank+1, float64(nanos)))
		kind, step, index := ring.operation(rank, nanos)
		tip := p.text("tooltip")
		wants := []string{
			fmt.Sprintf("%s 64 KiB", kind), fmt.Sprintf("rank %d ← %d, stream 1", rank, (rank+3)%4), fmt.Sprintf("all_gather ring<i> #%d", iteration+1),
			fmt.Sprintf("slice %d · flow 0 · message %d · step %d", index, index, step), "64 KiB (65,536), 6.55 GB/s",
			"10 µs from ", fmt.Sprintf("%d → %d, FCT ", (rank+3)%4, rank),
		}
		for _, want := range wants {
			if !strings.Contains(tip, want) {
				p.t.Fatalf("rank %d at %d ns: the tooltip does not say %q:\n%s", rank, nanos, want, tip)
			}
		}
	}
}

// testZoom presses keys and turns the wheel, and looks at the times shown.
func testZoom(p *tab, _ *traces.Summary) {
	whole := p.place()
	span := func(l *place) float64 { return l.To - l.From }
	p.keys("w")
	closer := p.place()
	if got := span(whole) / span(closer); got < 1.49 || got > 1.51 {
		p.t.Errorf("w zooms by %.2f, want 1.5", got)
	}
	p.keys("d")
	if moved := (p.place().From - closer.From) / span(closer); moved < 0.19 || moved > 0.21 {
		p.t.Errorf("d moves by %.2f of the width, want 0.2", moved)
	}
	p.keys("as-f")
	if back := p.place(); back.From != whole.From || back.To != whole.To {
		p.t.Errorf("f shows %.0f..%.0f, want %.0f..%.0f", back.From, back.To, whole.From, whole.To)
	}
	x, y := whole.point(1, 400_000)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, x, y, chromedp.ButtonModifiers(chromedp.ModifierCtrl), func(e *input.DispatchMouseEventParams) {
		e.DeltaX, e.DeltaY = 0.001, -300 // a zero would be left out
	}))
	p.settle()
	if at, _ := p.place().point(1, 400_000); at < x-1 || at > x+1 || span(p.place()) >= span(whole) {
		p.t.Errorf("after zooming at %.1f, what was there is at %.1f", x, at)
	}
}

// testDrag moves the timeline with the pointer.
func testDrag(p *tab, _ *traces.Summary) {
	p.keys("www")
	before := p.place()
	x, y := before.point(1, (before.From+before.To)/2)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	for k := range 10 {
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x-float64(10*(k+1)), y, chromedp.ButtonLeft))
	}
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x-100, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	p.settle()
	if at, _ := p.place().point(1, (before.From+before.To)/2); at < x-101 || at > x-99 {
		p.t.Errorf("dragged from %.0f by -100, what was there is at %.0f", x, at)
	}
}

// testSelection clicks on a slice and follows it to the rank that it came from
// and to the one that it went to.
func testSelection(p *tab, _ *traces.Summary) {
	p.keys("ww")
	const rank, slice = 2, 7 // of the second collective: step 1, slice 2
	each := float64(inventedSliceNanos + 1000)
	second := float64((ring.ranks-1)*ring.slices)*each + inventedPause
	p.click(p.place().point(2*rank+1, second+rank*1000+slice*each+5000))
	details := p.text("details")
	// The wait for value n was let go on by the signal of slice n, that is the
	// (n-1)-th get of the rank before.
	for _, want := range []string{"get 64 KiB", "rank 2 ← 1", "slice 2 · flow 0 · message 2 · step 1", "from: get 64 KiB, rank 1 ← 0", "to: get 64 KiB, rank 3 ← 2"} {
		if !strings.Contains(details, want) {
			p.t.Errorf("the details do not say %q:\n%s", want, details)
		}
	}
	p.screenshot("selection")
	evaluate[bool](p, "document.querySelector('#details button').click() === undefined")
	p.settle()
	if details := p.text("details"); !strings.Contains(details, "rank 1 ← 0, stream 1") || !strings.Contains(details, "slice 1 · flow 0 · message 1 · step 1") {
		p.t.Errorf("its source is\n%s", details)
	}
}

// testFilter types filters and compares the number of operations that fit.
func testFilter(p *tab, _ *traces.Summary) {
	all, gets := ring.operations(), ring.messages()
	for _, c := range []struct {
		filter string
		want   int
	}{
		{"get", gets},
		{"get rank=1", gets / ring.ranks},
		{"get slice=0 step=1", ring.ranks * ring.iterations},
		{"all_gather collective=2", (all - ring.ranks*ring.iterations) / ring.iterations},
		{"time>9us bytes=64KiB", gets},
		{"peer=3 wait time<1ms", gets / ring.ranks},
		{"onerror", ring.ranks * ring.iterations},
	} {
		p.search(c.filter)
		if got, want := p.text("matches"), fmt.Sprintf("%d of %d operations", c.want, all); got != want {
			p.t.Errorf("%q: %s, want %s", c.filter, got, want)
		}
	}
	p.search("rank=x")
	if got := p.text("matches"); got != "not understood: rank=x" {
		p.t.Errorf("rank=x: %s", got)
	}
	p.search("get rank=3 collective=2")
	p.keys("n")
	if details := p.text("details"); !strings.Contains(details, "rank 3 ← 2") || !strings.Contains(details, "#2") || !strings.Contains(details, "slice 0 · flow 0 · message 0 · step 0") {
		p.t.Errorf("n selects\n%s", details)
	}
}

func (p *tab) search(text string) {
	p.t.Helper()
	evaluate[bool](p, "(() => { const s = document.getElementById('search'); s.value = "+strconv.Quote(text)+"; return s.dispatchEvent(new Event('input')); })()")
	p.settle()
}

// testCollectives walks from collective to collective.
func testCollectives(p *tab, _ *traces.Summary) {
	each := float64((ring.ranks-1)*ring.slices) * (inventedSliceNanos + 1000)
	p.keys("]")
	if l := p.place(); l.From > 2*(each+inventedPause) || l.To < 2*(each+inventedPause)+each {
		p.t.Errorf("] shows %.0f..%.0f, want the third collective", l.From, l.To)
	}
	p.keys("[[")
	if l := p.place(); l.From > 0 || l.To < each || l.To > each+inventedPause {
		p.t.Errorf("[ twice shows %.0f..%.0f, want the first collective", l.From, l.To)
	}
	p.moveTo(p.place().Left+600, p.place().Top+30)
	if tip := p.text("tooltip"); !strings.Contains(tip, "all_gather ring<i> #1") || !strings.Contains(tip, "busy longest\nrank ") {
		p.t.Errorf("the tooltip of the collective says\n%s", tip)
	}
}

// testFigures compares the percentiles of the chart with the summary's.
func testFigures(p *tab, s *traces.Summary) {
	row := s.Collectives[0]
	for term, times := range map[string]*traces.Times{"FCT": row.FCT, "RCCT": row.RCCT, "CCT": row.CCT} {
		p.choose("term", term)
		figures := strings.Join(strings.Fields(p.text("figures")), " ")
		for name, secs := range map[string]float64{"min": times.Min, "p50": times.P50, "p95": times.P95, "p99": times.P99, "max": times.Max} {
			if want := fmt.Sprintf("%s %s", name, formatMicros(secs)); !strings.Contains(figures, want) {
				p.t.Errorf("%s: %q does not hold %q", term, figures, want)
			}
		}
	}
	p.choose("term", "slice")
	if figures := p.text("figures"); !strings.Contains(figures, "n "+strconv.Itoa(ring.messages())) {
		p.t.Errorf("slices: %q, want %d of them", figures, ring.messages())
	}
}

// formatMicros writes times of some microseconds as the page does.
func formatMicros(secs float64) string {
	micros := secs * 1e6
	switch {
	case micros == float64(int64(micros)):
		return fmt.Sprintf("%.0f µs", micros)
	case micros >= 99.95:
		return fmt.Sprintf("%.0f µs", micros)
	}
	return fmt.Sprintf("%.1f µs", micros)
}

func (p *tab) choose(id, value string) {
	p.t.Helper()
	evaluate[bool](p, "(() => { const s = document.getElementById('"+id+"'); s.value = "+strconv.Quote(value)+"; return s.dispatchEvent(new Event('change')); })()")
	p.settle()
}

// testPairs reads the map of pairs: a ring has one destination per rank.
func testPairs(p *tab, _ *traces.Summary) {
	p.choose("measure", "bytes")
	bytes := ring.messages() / ring.ranks * inventedSliceBytes
	want := ""
	for from := range ring.ranks {
		for to := range ring.ranks {
			if to == (from+1)%ring.ranks {
				want += fmt.Sprintf("%.2f MiB ", float64(bytes)/(1<<20))
			} else {
				want += "· "
			}
		}
	}
	const cells = "Array.from(document.querySelectorAll('#heat td'), c => c.textContent).join(' ')"
	if got := evaluate[string](p, cells); got != strings.TrimSpace(want) {
		p.t.Errorf("cells\n%s\nwant\n%s", got, want)
	}
}

// testThemes compares the brightness of the page in both themes.
func testThemes(p *tab, _ *traces.Summary) {
	evaluate[bool](p, "document.documentElement.dataset.theme = 'light', document.getElementById('theme').click() === undefined")
	p.settle()
	dark := brightness(p.t, p.screenshot("dark"))
	evaluate[bool](p, "document.getElementById('theme').click() === undefined")
	p.settle()
	light := brightness(p.t, p.screenshot("light"))
	if dark > 90 || light < 200 {
		p.t.Errorf("the mean brightness is %.0f in the dark theme and %.0f in the light one", dark, light)
	}
}

// brightness is the mean of a picture's pixels, 0 to 255.
func brightness(t *testing.T, data []byte) float64 {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	box, sum, n := picture.Bounds(), 0.0, 0.0
	for y := box.Min.Y; y < box.Max.Y; y += 5 {
		for x := box.Min.X; x < box.Max.X; x += 5 {
			sum += float64(grey(picture, x, y))
			n++
		}
	}
	return sum / n
}

func grey(picture image.Image, x, y int) uint8 {
	return color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y
}
