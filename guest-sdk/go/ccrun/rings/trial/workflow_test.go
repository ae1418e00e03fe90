package trial

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
)

func TestBadFlags(t *testing.T) {
	w := Workflow{Name: "ring"}
	for args, want := range map[string]string{
		"-protocol push":    "-protocol push: want get or put",
		"-verify some":      "-verify some: want all, last or off",
		"-iters 0":          "-iters 0 -warmup 1: want at least 1 and 0, at most 1073741824 together",
		"-iters 1073741824": "-iters 1073741824 -warmup 1: want at least 1 and 0, at most 1073741824 together",
		"-channels 17":      "-channels 17: want 1 to 16",
		"-bytes 6":          "-bytes 6B -slice 256KiB: want whole elements of 4 bytes",
		"-slice 6":          "-bytes 16MiB -slice 6B: want whole elements of 4 bytes",
		"-slice 4GiB":       "-slice 4GiB: want less than 4GiB",
		"more":              `unexpected argument "more"`,
	} {
		if _, err := w.parse(strings.Fields(args), io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	if _, err := w.parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

func TestVerifiedIterations(t *testing.T) {
	for verify, want := range map[string]string{"all": "0 1 2 ", "last": "2 ", "off": ""} {
		o, got := Options{Iters: 2, Warmup: 1, Verify: verify}, ""
		for i := range o.Total() {
			if o.Verifies(i) {
				got += string(rune('0'+i)) + " "
			}
		}
		if got != want {
			t.Errorf("%s: %sare verified, want %s", verify, got, want)
		}
	}
}
