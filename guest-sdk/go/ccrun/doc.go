// Package ccrun is what a guest written in Go imports: it scripts
// communication, and the host of ccrun carries it out. Start with [Open]:
//
//	world, err := ccrun.Open()            // who am I, how many are we
//	buffer, err := world.Alloc(bytes)     // device memory
//	err = world.Publish("out", 0, buffer.All())
//	next, err := world.Lookup(peer, "out", 0, ccrun.Forever)
//	stream, err := world.NewStream()      // operations in order
//	stream.Put(next.All(), buffer.All())  // asynchronous
//	stream.Signal(peer, 0, 1)
//	stream.Wait(other, 0, 1)
//	err = stream.Sync()                   // the first failure of any of them
//
// What all ranks do together, the host can do as well:
//
//	comm, err := world.Comm()             // or comm.Split(color, key)
//	stream.AllReduce(comm, ccrun.Sum, ccrun.F32, out, in)
//
// Operations on a [Stream] return nothing: the stream keeps its first failure,
// ignores what follows, and Sync, Query and Err report it. Sizes and offsets
// are bytes, places are [Region] values, slots and channels begin at 0,
// signals only grow. Build with GOOS=wasip1 GOARCH=wasm go build.
//
// Package ccruntest runs guest code natively, in unit tests; package rings has
// the schedules of rings. This package holds no algorithm.
package ccrun
