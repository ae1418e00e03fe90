package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// about says what a table is of: the machine and the measurement.
func (c *calibrator) about() []string {
	hostname, _ := os.Hostname() // it can be left out
	return []string{
		fmt.Sprintf("ccrun %s calibrate, %s", version, time.Now().Format(time.RFC3339)),
		fmt.Sprintf("machine: %s, %s, %d processors", hostname, processor(), runtime.NumCPU()),
		fmt.Sprintf("%v ranks, %d rounds", c.options.ranks.String(), c.all[0].Rounds()),
	}
}

// processor is its model, or else its architecture.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// rankListValue is some numbers of ranks, kept in ascending order.
type rankListValue []int

const rankListExample = "numbers of ranks, for example 2,4,8"

// rankListMax keeps the rules of a table, which travels to every rank, few.
const rankListMax = 8

func (v *rankListValue) Set(text string) error {
	*v = nil
	for word := range strings.SplitSeq(text, ",") {
		var n countValue
		if err := n.Set(word); err != nil {
			return hinted("not a list of numbers of ranks", rankListExample)
		}
		if n < 2 {
			return hinted("one rank has nothing to select", rankListExample)
		}
		*v = append(*v, int(n))
	}
	slices.Sort(*v)
	*v = slices.Compact(*v)
	if len(*v) > rankListMax {
		return hinted(fmt.Sprintf("more than %d numbers of ranks", rankListMax), "a table holds few rules: a rule for n ranks also holds for fewer")
	}
	return nil
}

func (v *rankListValue) String() string {
	words := make([]string, len(*v))
	for i, n := range *v {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
