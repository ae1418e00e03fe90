package op

import "strconv"

// Algorithm is a way to carry out a collective. The numbers are compared
// between ranks and may be stored: they are never reused.
type Algorithm uint8

// The algorithms. Not every collective has each of them; see package coll.
const (
	// Auto leaves the choice to the selection table.
	Auto Algorithm = iota
	// Oneshot has every rank put its input into its slot and read the others':
	// one synchronisation, for small payloads.
	Oneshot
	// Direct reads inputs and writes outputs where they lie, each byte once,
	// the work spread over all ranks where that pays.
	Direct
	// Ring hands slices on from neighbour to neighbour.
	Ring
	// Doubling exchanges with ranks at distance 1, 2, 4 and so on, through
	// slots.
	Doubling
	// Tree follows a binomial tree, through slots.
	Tree
	// Pull has every rank fetch what it wants from where it lies.
	Pull
	// Swap exchanges parts between pairs of ranks, in place.
	Swap
	algorithmCount
)

var algorithms = [...]string{
	Auto: "auto", Oneshot: "oneshot", Direct: "direct", Ring: "ring", Doubling: "doubling", Tree: "tree", Pull: "pull", Swap: "swap",
}

// String is the name that guests and tables use.
func (a Algorithm) String() string {
	if a >= algorithmCount {
		return "algorithm " + strconv.Itoa(int(a)) // of a peer that is not of this version
	}
	return algorithms[a]
}

// AlgorithmNamed finds an algorithm by its name.
func AlgorithmNamed(name string) (a Algorithm, ok bool) {
	for a := range algorithmCount {
		if algorithms[a] == name {
			return a, true
		}
	}
	return Auto, false
}
