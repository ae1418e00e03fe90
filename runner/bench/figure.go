package bench

import (
	"fmt"
	"strconv"
)

// figure prints a number into a column: with as many decimals, two at most, as
// the digits before the point leave room for.
func figure(v float64, width int) string {
	digits := 0
	for limit := 1.0; v >= limit; limit *= 10 {
		digits++
	}
	switch {
	case digits < width-2:
		return fmt.Sprintf("%*.2f", width, v)
	case digits < width-1:
		return fmt.Sprintf("%*.1f", width, v)
	case digits <= width:
		return fmt.Sprintf("%*.0f", width, v)
	case width >= 7:
		return fmt.Sprintf("%*.1e", width, v)
	}
	return fmt.Sprintf("%*.0e", width, v)
}

// general prints a number as C's %g does: six digits, no zeros at the end.
func general(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
