// Package raw is the host's functions as the ABI has them: one method of
// [Host] a function, structures with the layout of guest memory, numbers for
// enumerations. Package ccrun is made of it and is what guests normally
// import; use raw where it lacks something.
//
// All but this file and the address files is generated from host/abi. On other
// platforms than wasip1 the same methods call whatever stands in for the host
// (Calls), so that guest code can be tested natively.
package raw
