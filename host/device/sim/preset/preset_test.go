package preset

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// mustFind opens a preset that ccrun comes with.
func mustFind(t testing.TB, name string) *Preset {
	t.Helper()
	p, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNames: the presets that others rely on are there.
func TestNames(t *testing.T) {
	names := Names()
	for _, want := range []string{"a100", "h100", "h200", "b200", "gb200-nvl72", "pcie5", "h800", "cpu", Default} {
		if !slices.Contains(names, want) {
			t.Errorf("no preset %s", want)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("names out of order: %v", names)
	}
}

// TestEveryNumberHasASource: of each preset, in the file itself or in the one
// that it begins with. A source is a name and what was measured; an estimate
// says why.
func TestEveryNumberHasASource(t *testing.T) {
	for _, name := range Names() {
		p := mustFind(t, name)
		if p.Name != name || p.About == "" {
			t.Errorf("%s: name %q, about %q", name, p.Name, p.About)
		}
		for i := range keys {
			k := &keys[i]
			has, needs := k.on(p.Machine)
			source, given := p.Sources[k.name]
			switch {
			case !has && given:
				t.Errorf("%s: %s has a source and no meaning", name, k.name)
			case !needs && !given:
			case strings.Contains(source, "without a source"):
				t.Errorf("%s: %s has no source", name, k.name)
			default:
				who, what, _ := strings.Cut(source, ": ")
				if len(who) < 4 || len(what) < 4 {
					t.Errorf("%s: %s: source %q is not WHO: WHAT", name, k.name, source)
				}
			}
		}
		if len(p.Changed) > 0 {
			t.Errorf("%s: changed %v before anybody changed it", name, p.Changed)
		}
	}
}

// TestPresetsMakeSense holds the numbers against each other.
func TestPresetsMakeSense(t *testing.T) {
	for _, name := range Names() {
		p := mustFind(t, name)
		if p.Machine != GPU {
			continue
		}
		for _, c := range []struct {
			what          string
			lesser, great float64
		}{
			{"links are not faster than memory", p.NVLink.Bandwidth, p.Memory.Bandwidth},
			{"the network is not faster than links", p.NIC.Bandwidth, p.NVLink.Bandwidth},
			{"kernels do not move more than copies", p.NVLink.Kernel, p.NVLink.Bandwidth},
			{"NCCL moves no more than the links", p.NCCL.Bandwidth, p.NVLink.Bandwidth},
			{"NCCL sends no more than a NIC of 400 Gbit/s carries for each GPU", p.NCCL.NetBandwidth, 50e9 * float64(p.Node.NICs) / float64(p.Node.Ranks)},
			{"a switch does not add faster than twice the links", p.NCCL.NVLSBandwidth, 2 * p.NVLink.Bandwidth},
			{"LL is quicker than Simple", p.NCCL.Ring.Hop.LL, p.NCCL.Ring.Hop.Simple},
			{"64-bit products are not faster than 16-bit ones", p.Gemm.F64, p.Gemm.BF16},
		} {
			if !(c.lesser <= c.great) {
				t.Errorf("%s: %s: %v and %v", name, c.what, c.lesser, c.great)
			}
		}
	}
}

// TestKeysCoverPreset walks the type: every number has exactly one key, so that
// none is left out of files, --set and reports.
func TestKeysCoverPreset(t *testing.T) {
	p := &Preset{}
	pointers := make(map[any]int)
	for i := range keys {
		pointers[keys[i].at(p)]++
	}
	fields := 0
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case reflect.Float64, reflect.Int, reflect.Int64, reflect.Slice:
			if e := v.Kind() == reflect.Slice; e && v.Type().Elem() != reflect.TypeFor[Point]() {
				return // text
			}
			fields++
			if n := pointers[v.Addr().Interface()]; n != 1 {
				t.Errorf("%s has %d keys", path, n)
			}
		}
	}
	walk(reflect.ValueOf(p).Elem(), "Preset")
	if fields != len(keys) {
		t.Errorf("%d fields, %d keys", fields, len(keys))
	}
}

// TestKeysAreWellFormed: names are unique, and what a key says of itself can be
// read back.
func TestKeysAreWellFormed(t *testing.T) {
	seen := make(map[string]bool)
	for i := range keys {
		k := &keys[i]
		if seen[k.name] || slices.Contains(words, k.name) {
			t.Errorf("%s is there twice", k.name)
		}
		seen[k.name] = true
		if k.doc == "" || k.least > k.greatest || k.machines|k.optional == 0 || find(k.name) != k {
			t.Errorf("%s: %+v", k.name, *k)
		}
		for _, v := range []float64{k.least, k.greatest} {
			if problem, _ := k.bounds(v); problem != "" {
				t.Errorf("%s: bound %v: %s", k.name, v, problem)
			}
		}
		v, problem, _ := k.unit.parse(k.unit.example)
		if problem != "" || k.unit.format(v) != k.unit.example {
			t.Errorf("%s: example %q is %q: %s", k.name, k.unit.example, k.unit.format(v), problem)
		}
	}
}

// TestRoundTrip: what a preset writes is read back as the same preset.
func TestRoundTrip(t *testing.T) {
	for _, name := range Names() {
		p := mustFind(t, name)
		p.Validation = []Band{{"all_reduce, \"16 MiB\" \\ more", 0.123, true, "somebody: measured"}, {"x", 0, false, "y"}}
		roundTrip(t, p)
		for _, assignment := range []string{"host.call=3x", "gemm.efficiency=0.37", "node.ranks=3"} {
			if err := p.Set(assignment); err != nil {
				t.Fatal(err)
			}
		}
		roundTrip(t, p)
	}
}

func roundTrip(t *testing.T, p *Preset) {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(p.Name, []byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	want := *p
	want.Base, want.Changed = "", nil // they are of the run, not of the numbers
	if !reflect.DeepEqual(got, &want) {
		t.Errorf("%s: read back as\n%v\nwas\n%v", p.Name, got, &want)
	}
}

// TestWriteLikeCalibrate makes a file as ccrun calibrate does: the preset cpu
// with other numbers and sources.
func TestWriteLikeCalibrate(t *testing.T) {
	p := mustFind(t, "cpu")
	const source = "ccrun calibrate: measured on 2026-11-20, 21 rounds"
	p.CPU.Copy = []Point{{64 << 10, 41.25e9}, {16 << 20, 12.5e9}}
	p.CPU.Signal = 163.25e-9
	p.Sources["cpu.copy"], p.Sources["cpu.signal"] = source, source
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(p.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Find(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != path || got.CPU.Signal != 163.25e-9 || !slices.Equal(got.CPU.Copy, p.CPU.Copy) || got.Sources["cpu.copy"] != source {
		t.Errorf("read back as %v", got)
	}
	for _, want := range []string{"value: [[64 KiB, 41.25 GB/s], [16 MiB, 12.5 GB/s]]\n", `cpu.signal: {value: 163.25 ns, source: "` + source + `"}`} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("no %q in\n%v", want, p)
		}
	}
	if lines := strings.Join(got.Honesty(), "\n"); !strings.Contains(lines, "ccrun calibrate (2)") {
		t.Errorf("the source is missing:\n%s", lines)
	}
}

// TestFindReadsOnlyPresets: names do not lead out of the compiled-in directory,
// and a large file is not read to its end.
func TestFindReadsOnlyPresets(t *testing.T) {
	for _, name := range []string{"", ".", "..", "h100.yaml.", "h100 ", "data", "H100"} {
		if p, err := Find(name); err == nil {
			t.Errorf("%q is %v", name, p.Name)
		}
	}
	path := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(path, make([]byte, 3*fileBytesMax), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(path); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("large file: %v", err)
	}
	if _, err := Find(filepath.Join(t.TempDir(), "none.yaml")); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("no file: %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

// TestDecimals: units move the decimal point and nothing else.
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		d    *dimension
		text string
		want float64
	}{
		{duration, "1.5 us", 1.5e-6}, {duration, "0.6us", 0.6e-6}, {duration, "2.7 µs", 2.7e-6}, {duration, "3 s", 3},
		{rate, "396 GB/s", 396e9}, {rate, "1 GiB/s", 1 << 30}, {rate, "4.15TB/s", 4.15e12}, {rate, "1e3 MB/s", 1e9},
		{size, "80 GiB", 80 << 30}, {size, "80 GB", 80e9}, {size, "0.5 KiB", 512}, {speed, "989 TFLOP/s", 989e12},
		{work, "8.8 TFLOP", 8.8e12}, {ratio, "8 %", 0.08}, {ratio, "0.85", 0.85}, {count, "72", 72},
	} {
		if got, problem, _ := c.d.parse(c.text); got != c.want || problem != "" {
			t.Errorf("%s: %v, want %v (%s)", c.text, got, c.want, problem)
		}
	}
	for _, c := range []struct {
		d    *dimension
		v    float64
		want string
	}{
		{rate, 396e9, "396 GB/s"}, {rate, 1e12, "1 TB/s"}, {rate, 999.5e9, "999.5 GB/s"}, {rate, 0, "0 B/s"}, {rate, 0.25, "0.25 B/s"},
		{duration, 1.5e-6, "1.5 us"}, {duration, 2, "2 s"}, {duration, 0, "0 s"}, {duration, 0.25e-12, "0.25 ps"},
		{size, 64 << 10, "64 KiB"}, {size, 80e9, "80 GB"}, {size, 4097, "4097 B"}, {ratio, 0.08, "0.08"}, {ratio, 1e-6, "0.000001"},
		{count, 1 << 20, "1048576"}, {ratio, 1e-9, "1e-9"}, {duration, 12345678901, "12345678901 s"},
	} {
		if got := c.d.format(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

// TestNearest guesses what was meant, and nothing if it is far.
func TestNearest(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"link.nvlink.bandwith", "link.nvlink.bandwidth"},
		{"nvlink.bandwidth", "link.nvlink.bandwidth"},
		{"gem.bf16", "gemm.bf16"},
		{"quite another thing", ""},
		{strings.Repeat("x", 1000), ""},
	} {
		if got := nearest(c.name, keyNames()); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

// naiveDistance is the definition, in exponential time.
func naiveDistance(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return naiveDistance(a[1:], b[1:])
	}
	return 1 + min(naiveDistance(a[1:], b), naiveDistance(a, b[1:]), naiveDistance(a[1:], b[1:]))
}

func TestDistance(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "kitten", "sitting", "cpu.op", "cpu.copy"}
	for _, a := range words {
		for _, b := range words {
			if got, want := distance(a, b), naiveDistance(a, b); got != want {
				t.Errorf("%q to %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestReadme: the table of keys in README.md is what the code has.
func TestReadme(t *testing.T) {
	const begin, end = "<!-- keys: written by go test -rewrite -->\n", "<!-- end of keys -->\n"
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the keys")
	}
	if table == Reference() {
		return
	}
	if flag.Lookup("rewrite").Value.String() != "true" { // datadriven's
		t.Fatal("README.md is out of date: go test ./host/device/sim/preset -rewrite")
	}
	if err := os.WriteFile("README.md", []byte(before+begin+Reference()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPresetsInReadme: README.md lists every preset.
func TestPresetsInReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if !strings.Contains(string(text), "| "+name+" |") {
			t.Errorf("README.md does not list %s", name)
		}
	}
}

var dimensions = []*dimension{rate, duration, size, speed, work, ratio, count}

func FuzzQuantity(f *testing.F) {
	for _, d := range dimensions {
		f.Add(d.example, 1.5e-6)
	}
	f.Add("-1e400 GB/s", math.MaxFloat64)
	f.Add("1e-400 us", 5e-324)
	f.Add("+.e1", 1e22)
	f.Fuzz(func(t *testing.T, text string, value float64) {
		for _, d := range dimensions {
			parsed, problem, _ := d.parse(text)
			if problem == "" {
				checkFormat(t, d, parsed)
			}
			if !math.IsNaN(value) && !math.IsInf(value, 0) && (!d.whole || value == math.Trunc(value)) && math.Abs(value) < 1e290 {
				checkFormat(t, d, value)
			}
		}
	})
}

// checkFormat: a value that is printed is read as the same.
func checkFormat(t *testing.T, d *dimension, value float64) {
	t.Helper()
	text := d.format(value)
	if got, problem, hint := d.parse(text); got != value || problem != "" {
		t.Errorf("%v is printed as %q, which is %v: %s; %s", value, text, got, problem, hint)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		text, err := data.ReadFile("data/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"base: h100\nvalidation: [{what: a, error: 3 %, held_out: true, source: b}]\noutside: [c]", "a: &a [*a]", "? [x]\n: y", "{machine: gpu, machine: cores}", "<<: {base: h100}", "--- !!binary x", "base: !!int h100\nhost.call: &x 2 us\nhost.wake: *x"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("f.yaml", text)
		if err != nil {
			checkLine(t, err)
			return
		}
		for i := range keys {
			k := &keys[i]
			if _, given := p.Sources[k.name]; !given {
				continue
			}
			values := []float64{k.number(p)}
			if points := k.points(p); points != nil {
				values = values[:0]
				for _, point := range *points {
					values = append(values, point.Y)
				}
			}
			for _, v := range values {
				if problem, _ := k.bounds(v); problem != "" {
					t.Errorf("%s: %s", k.name, problem)
				}
			}
		}
		p.Honesty()
		roundTrip(t, p)
	})
}

// checkLine: an error is one printable line with the file and a line number.
func checkLine(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	if !strings.HasPrefix(text, "f.yaml:") || printable(text) != text {
		t.Errorf("error %q", text)
	}
}

func FuzzSet(f *testing.F) {
	for _, text := range []string{"link.nvlink.bandwidth=2x", "host.call=3us", "gemm.efficiency=.5x", "node.ranks=0.5x", "cpu.copy=2x", "=", "x", "memory.size=80GiB", "memory.size=\xff" + strings.Repeat("\xc6", 50)} {
		f.Add(text)
	}
	gpu, cores := mustFind(f, "h100"), mustFind(f, "cpu")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range []*Preset{gpu, cores} {
			before := p.String()
			err := p.Set(text)
			if err != nil && p.String() != before {
				t.Errorf("%v, but the preset has changed", err)
			}
			if err != nil && printable(err.Error()) != err.Error() {
				t.Errorf("error %q", err)
			}
			if err == nil {
				roundTrip(t, p)
			}
		}
	})
}

func FuzzParseTarget(f *testing.F) {
	for _, text := range []string{"sim", "sim:h100x16", "sim:./my.yamlx4", "sim:x", "sim:x4", "simx4", "sim:h100x0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, nodes, err := ParseTarget(text)
		if err == nil && (name == "" || nodes < 0 || nodes > nodesMax) {
			t.Errorf("%q: %q, %d nodes", text, name, nodes)
		}
	})
}
