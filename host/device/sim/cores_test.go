package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
)

// coreTimes is like times, on two processor cores. A MiB takes 1 ms to copy from
// another core, 2 to reduce, half of one if the core has it, and 4 to fill; an
// operation takes 1 µs more, a flag 1 µs to arrive, and to give a core to another
// rank takes 2.
var coreTimes = []struct {
	name    string
	sharing float64
	ranks   int
	program string
	want    string
}{
	{"fetch", 2, 2, "0 get 1 1048576", "1001000 0"},
	{"fetch twice", 2, 2, "0 get 1 1048576; 0 get 1 1048576", "1502000 0"},
	{"fetch what was written again", 2, 2, "0 get 1 1048576; 0 signal 1 1; 1 wait 0 1; 1 fill 1048576; 1 signal 0 1; 0 wait 1 1; 0 get 1 1048576", "6007000 5005000"},
	{"write what another has", 2, 2, "1 fill 1048576; 1 signal 0 1; 0 copy 1048576; 0 wait 1 1; 0 put 1 1048576", "5004000 4002000"},
	{"reduce", 2, 2, "0 reduce 1048576 0 1", "2001000 0"},
	{"reduce what it has", 2, 2, "0 reduce 1048576 0 1; 0 reduce 1048576 0 1", "2502000 0"},
	{"box", 2, 2, "0 box 1 16 65536 65536", "1001000 0"},
	{"box twice", 2, 2, "0 box 1 16 65536 65536; 0 box 1 16 65536 65536", "1502000 0"},
	{"what lies between a box's rows", 2, 2, "0 box 1 16 65536 65536; 0 copy 1048576", "1752000 0"},
	{"box of more rows than are told apart", 2, 2, "0 box 1 16384 64 64; 0 box 1 16384 64 64", "1502000 0"},
	{"box of more planes than are told apart", 2, 2, "0 box 1024 2 512 64; 0 box 1024 2 512 64", "1502000 0"},
	// Of rows that share parts as much is fetched as of as many bytes in a run.
	{"run", 2, 2, "0 copy 200000", "191734 0"},
	{"box of rows that share parts", 2, 2, "0 box 1 200 1000 1000", "191734 0"},
	{"box of as many rows as parts", 2, 2, "0 box 1 256 1000 1000", "245140 0"},
	{"box of one row more", 2, 2, "0 box 1 257 1000 1000", "246094 0"},
	{"box of planes of rows that share parts", 2, 2, "0 box 4 50 1000 1000", "191734 0"},
	{"box of rows that share parts twice", 2, 2, "0 box 1 200 1000 1000; 0 box 1 200 1000 1000", "288102 0"},
	{"empty box", 2, 2, "0 box 4 0 512 64", "1000 0"},
	{"box of a peer's", 2, 2, "0 getbox 1 1 16 65536 65536", "1001000 0"},
	{"box of a peer's twice", 2, 2, "0 getbox 1 1 16 65536 65536; 0 getbox 1 1 16 65536 65536", "1502000 0"},
	{"box of what its owner has written again", 2, 2, "0 getbox 1 1 16 65536 65536; 1 wait 0 1; 1 fill 16777216; 1 signal 0 1; 0 signal 1 1; 0 wait 1 1; 0 getbox 1 1 16 65536 65536", "66007000 65005000"},
	{"two cores", 2, 2, "0 get 1 1048576; 1 get 0 1048576", "1001000 1001000"},
	{"one core of a slow memory", 1, 2, "0 get 1 1048576", "1001000 0"},
	{"two cores of a slow memory", 1, 2, "0 get 1 1048576; 1 get 0 1048576", "2001000 2001000"},
	{"two cores that compute", 1, 2, "0 fill 1048576; 1 fill 1048576", "4001000 4001000"},
	// Ranks 0 and 2 share a core.
	{"take turns", 2, 4, "0 copy 1048576; 2 copy 1048576", "1001000 0 2004000 0"},
	{"keep the core", 2, 4, "0 copy 1048576; 0 copy 1048576; 2 copy 1048576", "1502000 0 2505000 0"},
	{"give it away to wait", 2, 4, "0 copy 1048576; 0 wait 2 1; 0 copy 1048576; 2 copy 1048576; 2 signal 0 1", "2509000 0 2005000 0"},
	{"a turn ends", 2, 4, "0 fill 1048576; 0 fill 1048576; 2 copy 1048576", "9007000 0 5004000 0"},
	// A signal waits for its rank's turn, whether something follows it or not.
	{"a signal's turn", 2, 4, "0 fill 1048576; 2 signal 1 1; 1 wait 2 1", "4001000 4005000 4004000 0"},
	{"a signal's turn before another", 2, 4, "0 fill 1048576; 2 signal 1 1; 2 signal 3 1; 1 wait 2 1", "4001000 4005000 4005000 0"},
	{"a signal's turn before a wait", 2, 4, "0 fill 1048576; 2 signal 1 1; 2 wait 1 1; 1 wait 2 1; 1 signal 2 1", "4001000 4006000 4007000 0"},
	{"a signal of a core of its own", 2, 2, "0 fill 1048576; 0 signal 1 1; 0 signal 1 2; 1 wait 0 1", "4003000 4003000"},
	// Rank 3, the last to share its memory, waits for nobody's.
	{"another core", 2, 4, "0 copy 1048576; 1 copy 1048576; 3 copy 1048576", "1001000 2004000 0 1001000"},
}

func TestTimesOfCores(t *testing.T) {
	const perSecond = 1048576e3
	at := func(rate float64) []preset.Point { return []preset.Point{{X: 1, Y: rate}} }
	for _, c := range coreTimes {
		t.Run(c.name, func(t *testing.T) {
			p := tiny(t)
			p.Machine = preset.Cores
			p.CPU.Copy, p.CPU.Reduce, p.CPU.Local = at(perSecond), at(perSecond/2), at(perSecond*2)
			p.CPU.Pattern, p.CPU.Sharing = perSecond/4, at(c.sharing)
			w := newWorld(t, sim.Options{Preset: p, Ranks: c.ranks})
			ends := make([]string, c.ranks)
			w.run(func(r *rank) {
				ends[r.n] = fmt.Sprint(newScript(r).run(c.program))
			})
			if got := strings.Join(ends, " "); got != c.want {
				t.Errorf("done at %s ns, want %s", got, c.want)
			}
		})
	}
}
