// Package analysis explains collectives: who is slow, how evenly bytes move,
// what communication costs beside computation, and which chain of operations
// a collective's time is made of. Everything here is a pure function of plain
// numbers; package traces reads these out of flight files. Times are
// nanoseconds.
package analysis
