package html_test

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// million opens a page of 1,000,000 slices, which takes half a minute.
var million = flag.Bool("million", false, "also open a page of 1,000,000 slices")

// TestManySlices loads pages of many slices, each of which is three
// operations, and redraws them at all zooms. How long that takes is logged only:
// it says more about the machine's other work than about the page.
func TestManySlices(t *testing.T) {
	browser := startBrowser(t)
	for _, c := range []struct {
		name             string
		run              invented
		onlyWhenAskedFor bool
	}{
		{"200000", invented{ranks: 8, iterations: 100, slices: 36, algorithm: "ring"}, false},
		{"1000000", invented{ranks: 8, iterations: 250, slices: 72, algorithm: "ring"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.onlyWhenAskedFor && !*million {
				t.Skip("takes long: -args -million runs it")
			}
			begin := time.Now()
			path, _ := page(t, c.run.record(t), "many.wasm")
			written := time.Since(begin)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			p := openTab(t, browser, path)
			ready := time.Duration(evaluate[float64](p, "+document.getElementById('timeline').dataset.ready") * 1e6)
			if n := evaluate[string](p, "document.getElementById('timeline').dataset.operations"); n != strconv.Itoa(c.run.operations()) {
				t.Errorf("%s operations, want %d", n, c.run.operations())
			}
			slowest, median := p.redraws()
			t.Logf("%d slices, %d operations: written in %v, %d bytes, shown after %v, redrawn in %v (median), %v (slowest)",
				c.run.messages(), c.run.operations(), written.Round(time.Millisecond), info.Size(), ready, median, slowest)
			p.screenshot("slices-" + c.name)
		})
	}
}

// redraws zooms in and out and pans step by step, and gives the slowest and the
// median time of a redraw.
func (p *tab) redraws() (slowest, median time.Duration) {
	p.t.Helper()
	const script = `new Promise(async (done) => {
		const canvas = document.getElementById("timeline"), times = [];
		for (const key of "wdwdwdwdwdwdwdwdwdwdwdwdwdwdwdwdwdwdsasasasasasasasasasasasasasasasasasas") {
			canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
			await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
			times.push(+canvas.dataset.drawMillis);
		}
		done(times.sort((a, b) => a - b));
	})`
	times, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]float64](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	millis := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	return millis(times[len(times)-1]), millis(times[len(times)/2])
}
