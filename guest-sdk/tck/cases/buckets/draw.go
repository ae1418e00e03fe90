package main

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun"

// draw is a splitmix64 generator: small, and the same wherever it runs.
type draw struct{ state uint64 }

// golden is the step of the generator.
const golden = 0x9e3779b97f4a7c15

func (d *draw) next() uint64 {
	d.state += golden
	return mix(d.state)
}

// mix is splitmix64's finalizer.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// n is a number from 0 to below-1.
func (d *draw) n(below int) int { return int(d.next() % uint64(below)) }

// from is a number from low to high.
func (d *draw) from(low, high int) int { return low + d.n(high-low+1) }

// one is true once in so many times.
func (d *draw) one(in int) bool { return d.n(in) == 0 }

// order is the numbers from 0 to n-1 in any order.
func (d *draw) order(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := d.n(i + 1)
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// some is count of the numbers from 0 to n-1, ascending.
func (d *draw) some(count, n int) []int {
	chosen := make([]bool, n)
	for _, i := range d.order(n)[:count] {
		chosen[i] = true
	}
	var all []int
	for i, is := range chosen {
		if is {
			all = append(all, i)
		}
	}
	return all
}

var dtypes = [...]ccrun.Dtype{ccrun.U8, ccrun.I32, ccrun.I64, ccrun.F16, ccrun.BF16, ccrun.F32, ccrun.F64}

// redOps are the operators that parts can be added up by.
var redOps = [...]ccrun.RedOp{ccrun.Sum, ccrun.Prod, ccrun.Min, ccrun.Max}
