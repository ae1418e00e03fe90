package html_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// screenshots is where to leave what the browser showed; nowhere if empty.
var screenshots = flag.String("screenshots", "", "leave screenshots in this `directory`")

// tab is a page in a real browser.
type tab struct {
	t        *testing.T
	ctx      context.Context
	expected string // what messages of the console may speak of, "" for nothing
}

// browserNames are what a Chromium is called.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell"}

// startBrowser starts a Chromium for a test and what it runs, which is skipped
// where there is none.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no Chromium on the PATH (" + strings.Join(browserNames, ", ") + "): the page is not tried in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 1000),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// openTab loads a page and waits until its timeline stands. At the end of the
// test, whatever the console said is an error.
func openTab(t *testing.T, browser context.Context, path string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	messages := make(chan string, 100)
	console := chromedp.Console(ctx)
	go func() {
		defer close(messages)
		for message, err := range console {
			if err != nil {
				return
			}
			select {
			case messages <- message.String():
			default: // enough of them
			}
		}
	}()
	p := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		for message := range messages {
			if p.expected == "" || !strings.Contains(message, p.expected) {
				t.Errorf("console: %s", message)
			}
		}
	})
	p.do(chromedp.EmulateViewport(1400, 1000), chromedp.Navigate("file://"+path))
	p.do(chromedp.WaitReady(chromedp.CSS("#timeline[data-ready]")))
	return p
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// evaluate gives what an expression of the page's language is.
func evaluate[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// text is what an element says.
func (p *tab) text(id string) string {
	p.t.Helper()
	return evaluate[string](p, "document.getElementById('"+id+"').innerText")
}

// settle waits until what was asked for is drawn.
func (p *tab) settle() {
	p.t.Helper()
	const twoFrames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](twoFrames, chromedp.EvalAwaitPromise)); err != nil {
		p.t.Fatal(err)
	}
}

// keys presses keys with the timeline in focus.
func (p *tab) keys(keys string) {
	p.t.Helper()
	evaluate[any](p, "document.getElementById('timeline').focus()")
	for _, key := range keys {
		p.do(chromedp.KeyEvent(string(key)))
	}
	p.settle()
}

func (p *tab) moveTo(x, y float64) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	p.settle()
}

func (p *tab) click(x, y float64) {
	p.t.Helper()
	p.do(chromedp.MouseClickXY(x, y))
	p.settle()
}

// place is where the timeline lies on the page, and what it shows.
type place struct {
	Left, Top, Width, Gutter, From, To float64
	Rows                               []struct{ Rank, Stream, Top, Height float64 }
}

func (p *tab) place() *place {
	p.t.Helper()
	return new(evaluate[place](p, `(() => {
		const canvas = document.getElementById("timeline"), box = canvas.getBoundingClientRect(), d = canvas.dataset;
		return { Left: box.left, Top: box.top, Width: box.width, Gutter: +d.gutter, From: +d.from, To: +d.to, Rows: JSON.parse(d.places) };
	})()`))
}

// point is where a time of a row is on the page, with time from the first
// record on.
func (l *place) point(row int, nanos float64) (x, y float64) {
	r := l.Rows[row]
	return l.Left + l.Gutter + (nanos-l.From)/(l.To-l.From)*(l.Width-l.Gutter), l.Top + r.Top + r.Height/2
}

// screenshot leaves a picture if it is asked for, and gives it.
func (p *tab) screenshot(name string) []byte {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if *screenshots != "" {
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	return picture
}
