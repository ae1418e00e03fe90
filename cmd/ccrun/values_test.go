package main

import (
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

func TestValues(t *testing.T) {
	// want is how the value prints, or its complaint.
	for _, c := range []struct {
		value      cli.Generic
		text, want string
	}{
		{new(countValue), "16", "16"},
		{new(countValue), "-1", "there is at least one rank\nfor example 4"},
		{new(sizeValue), "65536", "64KiB"},
		{new(sizeValue), "1000", "1000B"},
		{new(sizeValue), "64k", "64KiB"},
		{new(sizeValue), "64KB", "64KiB"},
		{new(sizeValue), "3GiB", "3GiB"},
		{new(sizeValue), "2048M", "2GiB"},
		{new(sizeValue), "7B", "7B"},
		{new(sizeValue), "8388608T", "the size is too large\n" + sizeExample},
		{new(sizeValue), "9223372036854775808", "not a size\n" + sizeExample},
		{new(sizeValue), "-1", "a size cannot be negative\n" + sizeExample},
		{new(sizeValue), "1.5G", "not a size\n" + sizeExample},
		{new(sizeValue), "", "not a size\n" + sizeExample},
		{new(sizeValue), "GiB", "not a size\n" + sizeExample},
		{new(sizeValue), "1Gib/s", "not a size\n" + sizeExample},
		{new(durationValue), "90s", "1m30s"},
		{new(durationValue), "1h", "1h"},
		{new(durationValue), "300ms", "300ms"},
		{new(durationValue), "0", ""},
		{new(durationValue), "-5s", "a time cannot be negative\n" + durationExample},
		{new(durationValue), "5", "not a time\n" + durationExample},
		{new(seedValue), "0x2a", "42"},
		{new(seedValue), "18446744073709551616", "the number is too large\nat most 64 bits"},
		{new(levelValue), "message", "message"},
		{labelsValue{}, "a=b=c", "a=b=c"},
		{labelsValue{}, "=b", "not a label\na name and a value: --label cluster=a3"},
		{labelsValue{"a": "1"}, "a=2", "label \"a\" has another value already\ngive each label once"},
	} {
		err := c.value.Set(c.text)
		got := c.value.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%T from %q: got %q, want %q", c.value, c.text, got, c.want)
		}
	}
}

func TestDurationPrintsShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		5 * time.Minute:         "5m",
		time.Hour:               "1h",
		10 * time.Second:        "10s",
		time.Hour + time.Second: "1h0m1s",
		20 * time.Hour:          "20h",
	} {
		v := durationValue(d)
		if got := v.String(); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// FuzzSize holds that a size survives being printed.
func FuzzSize(f *testing.F) {
	for _, text := range []string{"1", "64KiB", "9223372036854775807", "1T", "x", "-1G", "0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bytes, err := parseSize(text)
		if err != nil {
			return
		}
		if bytes < 0 {
			t.Fatalf("%q: negative size %d", text, bytes)
		}
		again, err := parseSize(sizeText(bytes))
		if err != nil || again != bytes {
			t.Fatalf("%q is %d, prints as %q, which is %d (%v)", text, bytes, sizeText(bytes), again, err)
		}
	})
}
