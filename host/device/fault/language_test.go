package fault_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device/fault"
)

// TestParse shows faults and what they are in full, or why they are none.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" ; ", ""},
		{"reduction", "reduction"},
		{"delay=2:3x", "delay=2:3x"},
		{"delay=*:1.50x", "delay=*:1.5x"},
		{"delay=0:200us", "delay=0:200µs"},
		{"delay=0:0.5ms,nth=7,p=0.10,peer=3,kind=put+signal", "delay=0:500µs,kind=put+signal,peer=3,nth=7,p=0.1"},
		{"kill=1", "kill=1@1"},
		{"kill=1@9", "kill=1@9"},
		{"kill=1,nth=9,kind=reduce", "kill=1@9,kind=reduce"},
		{"hang=*,p=0.001", "hang=*,p=0.001"},
		{"delay=1:2x; kill=2@5", "delay=1:2x;kill=2@5"},
		{"jitter=*:5%", "jitter=*:5%"},
		{"jitter=2:12.50%,kind=gemm,nth=3,p=0.5", "jitter=2:12.5%,kind=gemm,nth=3,p=0.5"},
		{"corrupt=1", "corrupt=1"},
		{"corrupt=1,kind=recv,nth=1", "corrupt=1@1,kind=recv"},
		{"corrupt=*,p=0.01,kind=copy_box+reduce", "corrupt=*,kind=copy_box+reduce,p=0.01"},
		{"fail=2", "fail=2@1"},
		{"fail=2@7,kind=copy_box,peer=1", "fail=2@7,kind=copy_box,peer=1"},
		{"fail=0,kind=signal,p=0.5", "fail=0,kind=signal,p=0.5"},

		{"dely=2:3x", `error: no fault is called "dely"`},
		{"reduction=2", "error: reduction is a fault of all ranks and all reductions"},
		{"reduction,p=0.1", "error: reduction is a fault of all ranks and all reductions"},
		{"kill", "error: kill of which rank?"},
		{"kill=one", `error: kill: "one" is not a rank`},
		{"kill=-1", `error: kill: "-1" is not a rank`},
		{"kill=70000", `error: kill: "70000" is not a rank`},
		{"kill=1@0", `error: kill: "0" is not the number of an operation: the first is 1`},
		{"kill=1@", `error: kill: "" is not the number of an operation: the first is 1`},
		{"kill=1@2,nth=3", "error: kill: nth is given twice"},
		{"delay=2", "error: delay: by how much? 2:3x is three times as long, 2:200us that much longer"},
		{"delay=2:3", `error: delay: "3" is neither a factor (3x) nor a time (200us, at most 1h0m0s)`},
		{"delay=2:0s", `error: delay: "0s" is neither a factor (3x) nor a time (200us, at most 1h0m0s)`},
		{"delay=2:1x", `error: delay: "1x" is not a factor above 1 and up to 1000`},
		{"delay=2:NaNx", `error: delay: "NaNx" is not a factor above 1 and up to 1000`},
		{"jitter=2", "error: jitter: by how much? 2:5% is up to 5 % longer"},
		{"jitter=2:3x", `error: jitter: "3x" is not a percentage (5%) above 0 and up to 1000`},
		{"jitter=2:0%", `error: jitter: "0%" is not a percentage (5%) above 0 and up to 1000`},
		{"jitter=2:NaN%", `error: jitter: "NaN%" is not a percentage (5%) above 0 and up to 1000`},
		{"delay=2:3x,op=put", `error: delay: "op=put" is not kind=, peer=, nth= or p=`},
		{"delay=2:3x,", `error: delay: "" is not kind=, peer=, nth= or p=`},
		{"delay=2:3x,peer=*", "error: delay: leave peer= out for any"},
		{"delay=2:3x,peer=1,peer=1", "error: delay: peer is given twice"},
		{"delay=2:3x,p=2", `error: delay: "2" is not a probability above 0 and up to 1`},
		{"delay=2:3x,kind=wait", `error: delay: no operation that a fault can be in is called "wait": there are copy, put, get, recv, reduce, signal, fill, verify, digest, gemm, copy_box, get_box`},
		{"corrupt", "error: corrupt of which rank?"},
		{"corrupt=1:kind=recv", `error: corrupt: "1:kind=recv" is not a rank`},
		{"corrupt=1,kind=recv+signal", "error: corrupt: signal writes no bytes that could be wrong: those that do are copy, put, get, recv, reduce, fill, gemm, copy_box, get_box"},
		{"corrupt=1,kind=send", `error: corrupt: no operation that a fault can be in is called "send": there are copy, put, get, recv, reduce, signal, fill, verify, digest, gemm, copy_box, get_box`},
		{"fail=1:3x", `error: fail: "1:3x" is not a rank`},
		{"fail=1,nth=0", `error: fail: "0" is not the number of an operation: the first is 1`},
		{strings.Repeat("reduction;", 65), "error: more than 64 faults"},
	} {
		got := ""
		faults, err := fault.Parse(c.text)
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = fault.Format(faults)
		}
		if got != c.want {
			t.Errorf("%q is\n\t%s\nwant\n\t%s", c.text, got, c.want)
		}
	}
}

// FuzzParse holds that what can be read can be written, and means the same.
func FuzzParse(f *testing.F) {
	f.Add("delay=0:0.5ms,nth=7,p=0.10,peer=3,kind=put+signal;kill=*@3")
	f.Add("reduction;hang=1,p=1e-3;delay=*:999.5x")
	f.Add("jitter=*:0.1%;jitter=3:33.3%,kind=get")
	f.Add("corrupt=1@2,kind=copy_box;fail=*,p=0.5;corrupt=0,kind=signal")
	f.Fuzz(func(t *testing.T, text string) {
		faults, err := fault.Parse(text)
		if err != nil {
			return
		}
		again, err := fault.Parse(fault.Format(faults))
		if err != nil || !reflect.DeepEqual(faults, again) {
			t.Errorf("%q is %+v, but %q is %+v, %v", text, faults, fault.Format(faults), again, err)
		}
	})
}
