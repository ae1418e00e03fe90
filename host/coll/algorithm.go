package coll

import "github.com/ccrun/ccrun/host/op"

// Algorithm is a way to carry out a collective.
type Algorithm = op.Algorithm

// The algorithms. Not every collective has each of them; see [All].
const (
	Auto     = op.Auto
	Oneshot  = op.Oneshot
	Direct   = op.Direct
	Ring     = op.Ring
	Doubling = op.Doubling
	Tree     = op.Tree
	Pull     = op.Pull
	Swap     = op.Swap
)

// AlgorithmNamed finds an algorithm by its name.
func AlgorithmNamed(name string) (a Algorithm, ok bool) { return op.AlgorithmNamed(name) }
