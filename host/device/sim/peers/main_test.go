package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device/sim/preset"
)

func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-n 64 -bytes 1MiB -rounds 2 -smpi=false -worlds 8,128/16"), io.Discard)
	if got := fmt.Sprintf("%+v", o); err != nil || got != "{ranks:64 bytes:1048576 rounds:2 smpi:false worlds:[{ranks:8 group:0} {ranks:128 group:16}]}" {
		t.Errorf("got %s, %v", got, err)
	}
	if got := o.worlds.String(); got != "8,128/16" {
		t.Errorf("worlds print as %s", got)
	}
	if o, err = parse([]string{"-worlds", ""}, io.Discard); err != nil || len(o.worlds) != 0 || o.ranks != 1024 {
		t.Errorf("no worlds: %+v, %v", o, err)
	}
	for _, args := range []string{"-n 7", "-n 12", "-n 65536", "-rounds 0", "-bytes 3", "more", "-worlds 8,", "-worlds 12", "-worlds 16/3", "-worlds 16/0", "-worlds x/8"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

func TestWorlds(t *testing.T) {
	for _, c := range []struct {
		world world
		rings string
		steps int
	}{{world{1024, 0}, "1024", 2046}, {world{16384, 128}, "128, 128", 508}, {world{64, 8}, "8, 8", 28}} {
		if c.world.rings() != c.rings || c.world.steps() != c.steps {
			t.Errorf("%v: rings of %s, %d steps, want %s and %d", c.world, c.world.rings(), c.world.steps(), c.rings, c.steps)
		}
	}
}

const wantPlatform = `<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
<cluster id="node0" prefix="gpu" suffix="" radical="0-7" speed="2.5e+11f" bw="4e+11Bps" lat="5e-07s" sharing_policy="SPLITDUPLEX" router_id="switch0"/>
<cluster id="node1" prefix="gpu" suffix="" radical="8-15" speed="2.5e+11f" bw="4e+11Bps" lat="5e-07s" sharing_policy="SPLITDUPLEX" router_id="switch1"/>
<link id="nic0" bandwidth="5e+10Bps" latency="7.5e-07s" sharing_policy="SPLITDUPLEX"/>
<link id="nic1" bandwidth="5e+10Bps" latency="7.5e-07s" sharing_policy="SPLITDUPLEX"/>
<zoneRoute src="node0" dst="node1" gw_src="switch0" gw_dst="switch1"><link_ctn id="nic0" direction="UP"/><link_ctn id="nic1" direction="DOWN"/></zoneRoute>
</zone>
</platform>
`

// The way from a GPU to another of its node takes 1 microsecond, to one of
// another node 2.5.
func TestPlatform(t *testing.T) {
	p := &preset.Preset{
		Memory: preset.Memory{Bandwidth: 3e12},
		NVLink: preset.Link{Bandwidth: 400e9, Latency: 1e-6}, NIC: preset.Link{Bandwidth: 50e9, Latency: 2e-6}, Leaf: preset.Tier{Latency: 0.5e-6},
	}
	if got := string(platformXML(p, 2)); got != wantPlatform {
		t.Errorf("got\n%swant\n%s", got, wantPlatform)
	}
	if got := string(hostfile(2)); got != "gpu0\ngpu1\n" {
		t.Errorf("hosts: %q", got)
	}
}

// The machine whose numbers are taken has nodes of as many ranks as both
// simulators are told.
func TestNodesOfThePreset(t *testing.T) {
	p, err := preset.Find(machine)
	if err != nil || p.Node.Ranks != nodeRanks || p.NIC.Bandwidth <= 0 || p.NVLink.Bandwidth <= p.NIC.Bandwidth {
		t.Errorf("%+v, %v", p, err)
	}
}

// Flags that choose another network model change simulated times, and the table
// is to say so.
func TestTunedSaysThatTimesDiffer(t *testing.T) {
	other := strings.Contains(strings.Join(bestFlags(), " "), "--cfg=network/")
	if said := strings.Contains(smpiBestWhat, "plainer network model; simulated time differs"); said != other {
		t.Errorf("another network model: %v, but it says %q", other, smpiBestWhat)
	}
}

func TestReadRing(t *testing.T) {
	var m measured
	const good = `{"ranks":8,"steps":14,"simulated_s":0.0015}` + "\n"
	if err := m.readRing([]byte(good), 8); err != nil || m.simulated != 1500*time.Microsecond {
		t.Errorf("%v, %v", m.simulated, err)
	}
	for _, bad := range []string{"", "{}", strings.Replace(good, "14", "13", 1), strings.Replace(good, "0.0015", "0", 1), good + good} {
		if err := m.readRing([]byte(bad), 8); err == nil {
			t.Errorf("%q is taken as %v", bad, m)
		}
	}
	if err := m.readRing([]byte(good), 9); err == nil {
		t.Error("a ring of 8 is taken as one of 9")
	}
}

func TestReadResult(t *testing.T) {
	const good = `{"ranks":8,"collectives":[{"op":"all_reduce","count":1,"cct_s":{"max":0.002}}],"simulation":{"operations":48,"events":90}}`
	var m measured
	if err := m.read([]byte(good), 8); err != nil || m.simulated != 2*time.Millisecond || m.operations != 48 || m.events != 90 {
		t.Errorf("%+v, %v", m, err)
	}
	for what, change := range map[string][2]string{
		"other ranks": {`"ranks":8`, `"ranks":4`}, "two": {`"count":1`, `"count":2`}, "another": {"all_reduce", "all_gather"},
		"nothing done": {`"operations":48`, `"operations":0`}, "no JSON": {`{"ranks`, `ranks`},
	} {
		if err := m.read([]byte(strings.Replace(good, change[0], change[1], 1)), 8); err == nil {
			t.Errorf("%s: taken as %+v", what, m)
		}
	}
}

func TestEachRoundBeginsWithAnother(t *testing.T) {
	var order string
	var list []contestant
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, contestant{name, "", func(context.Context) (measured, error) {
			order += name
			return measured{wall: time.Duration(len(order)) * time.Second}, nil
		}})
	}
	r, err := play(t.Context(), list, 3, io.Discard)
	if err != nil || order != "abcbcacab" || r.median("a", wallSeconds) != 6 {
		t.Errorf("order %s, %v, %v", order, r, err)
	}
	broken := errors.New("broken")
	list[1].run = func(context.Context) (measured, error) { return measured{}, broken }
	if _, err := play(t.Context(), list, 1, io.Discard); !errors.Is(err, broken) || err.Error() != "b: broken" {
		t.Errorf("a contestant that fails: %v", err)
	}
}

// The ratio is that of a round, not that of medians of different rounds.
func TestRatio(t *testing.T) {
	of := func(seconds ...int) (list []measured) {
		for _, s := range seconds {
			list = append(list, measured{wall: time.Duration(s) * time.Second})
		}
		return list
	}
	r := rounds{"a": of(10, 200, 3000), "b": of(5, 100, 1000)}
	if got := r.ratio("a", "b", wallSeconds); got != 2 {
		t.Errorf("ratio %v, want 2", got)
	}
	if got := r.ratio("none", "a", wallSeconds); got != 0 {
		t.Errorf("ratio of what was not measured: %v", got)
	}
}

const wantTable = `              wall s  CPU s  tuned/this  default/this  simulated ms  peak MiB  M operations/s  M events/s
   ccrun get    2.00   2.50       10.00             -         12.50       128            3.00        4.00
  smpi tuned   20.00  19.00        1.00             -          7.00       144               -           -

wanted of ccrun with 1,024 ranks: under 4 s, and 20 times as fast as SMPI

`

func TestTable(t *testing.T) {
	r := rounds{
		"ccrun get": {{2 * time.Second, 2500 * time.Millisecond, 128 << 20, 12500 * time.Microsecond, 6e6, 8e6}},
		smpiBest:    {{20 * time.Second, 19 * time.Second, 144 << 20, 7 * time.Millisecond, 0, 0}},
	}
	var out strings.Builder
	r.write(&out, []contestant{{name: "ccrun get"}, {name: smpiBest}})
	if out.String() != wantTable {
		t.Errorf("got\n%swant\n%s", out.String(), wantTable)
	}
}

func TestExtrapolated(t *testing.T) {
	got := extrapolated(16384, measured{operations: 100e6, wall: 50 * time.Second})
	if want := "not run: one ring of 16384 ranks, which takes 1611 million operations, 13 minutes at the rate of the largest ring above"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTimed(t *testing.T) {
	text, m, err := timed(t.Context(), "echo", "hello")
	if err != nil || string(text) != "hello\n" || m.wall <= 0 || m.peakBytes < 1<<12 {
		t.Errorf("%q, %+v, %v", text, m, err)
	}
	if _, _, err := timed(t.Context(), "sh", "-c", "echo why >&2; exit 3"); err == nil || !strings.HasSuffix(err.Error(), "exit status 3\nwhy\n") {
		t.Errorf("a command that fails: %v", err)
	}
}
