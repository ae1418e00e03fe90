package ccrun

import (
	"fmt"
	"strconv"
	"strings"
)

// ByteSize is a number of bytes that can be a flag: flag.Var(&size, "bytes",
// "..."). It reads 1048576, 1M, 1MiB and 1MB alike: units are powers of 1024,
// as in nccl-tests.
type ByteSize int64

var sizeUnits = []struct {
	letter string
	bytes  int64
}{{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}}

// Set parses text.
func (s *ByteSize) Set(text string) error {
	number, unit := strings.ToUpper(text), int64(1)
	number = strings.TrimSuffix(number, "B")
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(number, "I"), u.letter); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	value, err := strconv.ParseInt(number, 10, 64)
	if err != nil || value < 0 || value > (1<<62)/unit {
		return fmt.Errorf("not a size such as 65536, 64KiB or 1G: %q", text)
	}
	*s = ByteSize(value * unit)
	return nil
}

// String is the size with the largest unit that divides it.
func (s ByteSize) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.letter + "iB"
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}
