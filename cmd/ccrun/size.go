package main

import (
	"math"
	"strconv"
	"strings"
)

// sizeValue is a number of bytes.
type sizeValue int64

func (v *sizeValue) Set(text string) error {
	bytes, err := parseSize(text)
	if err == nil {
		*v = sizeValue(bytes)
	}
	return err
}

func (v *sizeValue) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return sizeText(int64(*v))
}

// sizeUnits are the suffixes of sizes, all powers of 1024 as in nccl-tests.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"", 1}, {"B", 1}, {"K", 1 << 10}, {"KB", 1 << 10}, {"KIB", 1 << 10}, {"M", 1 << 20}, {"MB", 1 << 20}, {"MIB", 1 << 20}, {"G", 1 << 30}, {"GB", 1 << 30}, {"GIB", 1 << 30}, {"T", 1 << 40}, {"TB", 1 << 40}, {"TIB", 1 << 40}}

const sizeExample = "a number of bytes, or with a unit: 65536, 64K, 64KiB, 1M, 2GiB"

// parseSize reads 65536, 64K or 64KiB.
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, hinted("not a size", sizeExample)
	}
	if n < 0 {
		return 0, hinted("a size cannot be negative", sizeExample)
	}
	suffix := strings.ToUpper(text[len(digits):])
	for _, unit := range sizeUnits {
		if unit.name != suffix {
			continue
		}
		if n > math.MaxInt64/unit.bytes {
			return 0, hinted("the size is too large", sizeExample)
		}
		return n * unit.bytes, nil
	}
	return 0, hinted("not a unit of size", sizeExample)
}

// sizeText is the shortest exact spelling of a size.
func sizeText(bytes int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= unit.bytes && bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}
