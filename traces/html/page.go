package html

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// Page is what stands on the page as text. Nothing of it is trusted: names
// come from guests.
type Page struct {
	Title    string
	Outcome  string // of the run, in a word or two
	Good     bool   // the run went well
	Facts    []Fact // under the title
	Verdict  string // why the run ended badly, "" if it did not
	Alarms   []string
	Notes    []string      // on what a simulated run stands for
	Table    Table         // a row per kind of collective
	Explains []Explanation // what the times in it are made of
	Text     string        // the summary as it is printed
}

// Explanation is what is said of one kind of collective.
type Explanation struct {
	Title string
	Lines []string
}

// Fact is a name and a value.
type Fact struct{ Name, Value string }

// Table is a table of text. The first column names its row.
type Table struct {
	Head []string
	Rows [][]string
}

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's one script, callers last.
var scripts = []string{
	"data.js", "units.js", "model.js", "relations.js", "filter.js", "view.js", "density.js", "paint.js", "overview.js",
	"describe.js", "timeline.js", "input.js", "statistics.js", "chart.js", "heat.js", "main.js",
}

// parts are the texts that a page is put together from.
type parts struct {
	page          *template.Template
	style, script string
	policy        string
}

// load reads the embedded texts.
var load = sync.OnceValues(func() (*parts, error) {
	page, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	p := &parts{page: page}
	if p.style, err = text("style.css"); err != nil {
		return nil, err
	}
	var script strings.Builder
	script.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range scripts {
		part, err := text(name)
		if err != nil {
			return nil, err
		}
		script.WriteString(part)
	}
	script.WriteString("})();\n")
	p.script = script.String()
	p.policy = policy(p.style, p.script)
	return p, nil
})

func text(name string) (string, error) {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return "", fmt.Errorf("page: %w", err)
	}
	return string(b), nil
}

// policy is the page's content security policy: its own style and script, by
// their digests, and nothing from anywhere. So even a name that were taken for
// markup could do nothing.
func policy(style, script string) string {
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + digest(style) + "; script-src " + digest(script)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the page, with what payload writes as the data of its script.
func (p *Page) Write(w io.Writer, payload func(io.Writer) error) error {
	parts, err := load()
	if err != nil {
		return err
	}
	view := struct {
		*Page
		Style  template.CSS
		Policy string
	}{p, template.CSS(parts.style), parts.policy}
	if err := parts.page.Execute(w, view); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if err := writePayload(w, payload); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if _, err := io.WriteString(w, "<script>"+parts.script+"</script>\n</body>\n</html>\n"); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// writePayload writes the data as a block that no browser executes: gzip in
// base64, whose letters mean nothing in HTML.
func writePayload(w io.Writer, payload func(io.Writer) error) error {
	if _, err := io.WriteString(w, `<script id="payload" type="application/octet-stream">`); err != nil {
		return err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	compressor := gzip.NewWriter(encoder)
	if err := payload(compressor); err != nil {
		return err
	}
	if err := compressor.Close(); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</script>\n")
	return err
}
