package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/traces/html"
)

// tagBreakers are what would end or confuse a script or style element.
var tagBreakers = regexp.MustCompile(`(?i)</(script|style)|<!--|<script`)

// element finds the only element of that start tag and gives what is in it.
func element(t *testing.T, page, start, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, start)
	inside, after, closed := strings.Cut(rest, end)
	if !found || !closed || strings.Contains(after, start) {
		t.Fatalf("%s is not there once", start)
	}
	return inside
}

// TestPolicy checks that the page's own style and script, and nothing else, may
// be used on it.
func TestPolicy(t *testing.T) {
	path, _ := page(t, ring.record(t), hostile)
	text := readFile(t, path)
	policy := element(t, text, `<meta http-equiv="Content-Security-Policy" content="`, `"`)
	policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
	for directive, part := range map[string]string{
		"style-src":  element(t, text, "<style>", "</style>"),
		"script-src": element(t, text, "<script>", "</script>\n</body>"),
	} {
		sum := sha256.Sum256([]byte(part))
		want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(policy, want) || !strings.HasPrefix(policy, "default-src 'none';") {
			t.Errorf("the policy is %s, want %s", policy, want)
		}
		if bad := tagBreakers.FindString(part); bad != "" {
			t.Errorf("%s: the text holds %q", directive, bad)
		}
	}
}

// TestNamesAreText looks for a hostile name anywhere outside of text.
func TestNamesAreText(t *testing.T) {
	path, _ := page(t, ring.record(t), hostile)
	text := readFile(t, path)
	for _, part := range []string{"<script>window", "<img", "onerror=\"", "<i>"} {
		if strings.Contains(text, part) {
			t.Errorf("the page holds %q", part)
		}
	}
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("%d script elements end, want 2", n)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPageIsDeterministic writes the same page twice.
func TestPageIsDeterministic(t *testing.T) {
	dir := ring.record(t)
	first, _ := page(t, dir, "w.wasm")
	second, _ := page(t, dir, "w.wasm")
	if readFile(t, first) != readFile(t, second) {
		t.Error("two pages of one run differ")
	}
}

// failing is a writer with room for some bytes.
type failing struct{ room int }

var errFull = errors.New("no room")

func (f *failing) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFullDisk lets every part of the page be the one for which there is no
// room.
func TestFullDisk(t *testing.T) {
	p := html.Page{Title: "w.wasm", Text: strings.Repeat("x", 2000)}
	payload := func(w io.Writer) error {
		columns := html.NewColumns(w)
		columns.Bytes(100_000, func(i int) byte { return byte(i * i >> 3) })
		return columns.Flush()
	}
	var whole bytes.Buffer
	if err := p.Write(&whole, payload); err != nil {
		t.Fatal(err)
	}
	for room := 0; room < whole.Len(); room += 997 {
		if err := p.Write(&failing{room}, payload); !errors.Is(err, errFull) {
			t.Fatalf("with room for %d of %d bytes: %v", room, whole.Len(), err)
		}
	}
	if err := p.Write(&failing{whole.Len()}, payload); err != nil {
		t.Error(err)
	}
}

// TestColumns writes random columns and reads them back, by a reader of its
// own.
func TestColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		n := random.IntN(50)
		numbers, differences := make([]uint64, n), make([]uint32, n)
		for i := range n {
			numbers[i] = random.Uint64() >> random.IntN(64)
			differences[i] = random.Uint32() >> random.IntN(32)
		}
		if n > 2 {
			numbers[0], differences[0], differences[1], differences[2] = math.MaxUint64, math.MaxUint32, 0, math.MaxUint32
		}
		var b bytes.Buffer
		out := html.NewColumns(&b)
		out.Text([]byte("text"))
		out.Numbers(n, func(i int) uint64 { return numbers[i] })
		out.Differences(n, func(i int) uint32 { return differences[i] })
		out.Bytes(n, func(i int) byte { return byte(i) })
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		compareColumns(t, &b, numbers, differences)
	}
}

func compareColumns(t *testing.T, b *bytes.Buffer, numbers []uint64, differences []uint32) {
	t.Helper()
	next := func() uint64 {
		v, err := binary.ReadUvarint(b)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if length := next(); length != 4 || string(b.Next(4)) != "text" {
		t.Fatalf("the text has %d bytes", length)
	}
	for i, want := range numbers {
		if got := next(); got != want {
			t.Fatalf("number %d is %d, want %d", i, got, want)
		}
	}
	last := int64(0)
	for i, want := range differences {
		z := next()
		last += int64(z>>1) ^ -int64(z&1)
		if last != int64(want) {
			t.Fatalf("difference %d leads to %d, want %d", i, last, want)
		}
	}
	for i := range differences {
		if got, err := b.ReadByte(); err != nil || got != byte(i) {
			t.Fatalf("byte %d is %d, %v", i, got, err)
		}
	}
	if b.Len() != 0 {
		t.Fatalf("%d bytes are left over", b.Len())
	}
}

// TestPageNotes shows what a simulated run stands for, as text.
func TestPageNotes(t *testing.T) {
	nothing := func(io.Writer) error { return nil }
	var with, without bytes.Buffer
	p := html.Page{Title: "w.wasm", Notes: []string{"preset: <h200>", "validation: none"}}
	if err := p.Write(&with, nothing); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<li>preset: &lt;h200&gt;</li>", "<li>validation: none</li>"} {
		if !strings.Contains(with.String(), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	p.Notes = nil
	if err := p.Write(&without, nothing); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(without.String(), `class="notes"`) {
		t.Error("a page without notes has a place for them")
	}
}
