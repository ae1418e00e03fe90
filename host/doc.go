// Package host holds nothing itself: its directories are what a guest can call
// and what carries it out. Start with package module for the calls, package
// device for what executes them, package op for what an operation is.
// RATIONALE.md says why things are as they are.
//
// # Glossary
//
// One word, one meaning, in code, ABI, traces and messages alike.
//
//   - guest: the user's Wasm module. host: ccrun around it.
//   - world: all ranks of a run. rank: one of them, numbered from 0, and its
//     process; local rank: its number on its node. peer: another rank, seen
//     from this one. group: the number of a communicator; or calls that are
//     submitted together.
//   - device: what carries out operations for one rank: cpu, cuda or sim.
//   - buffer: device memory. Own: allocated here. Looked up, or imported: a
//     peer's, reached through a handle. View: a place in a buffer.
//   - generation: how often a slot of a table was used. Allocation and
//     generation together never name two things.
//   - share: a region that a rank publishes under a name and an epoch, for
//     peers to look up. Hit: found without a message. Miss: asked for.
//   - stream: a queue of operations carried out in order. event: a point in
//     it. lane: a thread of control of a rank whose state the flight file
//     shows: lane 0 the guest's, lane i stream i's.
//   - operation (op): one thing that a stream does. put: copy to a peer's
//     buffer; get: from it; send and recv: a matched pair.
//   - signal: raising a 64-bit slot at a peer; it only grows. wait: until a
//     slot is at least a value. slot: one of a pair of ranks' signals.
//     channel: one of a pair of ranks' message queues.
//   - collective: something that ranks do together, numbered from 1 in the
//     order of beginning. S: its size as nccl-tests counts it.
//   - communicator (comm): ranks that call collectives together, in one order.
//     call: a collective that the host carries out on one. In place: a call's
//     input lies where its output goes. program: what one rank does of a call.
//   - chunk (rank-chunk): the part of a collective that one rank contributes
//     or owns. slice: a pipelined part of a chunk. flow: one of the parallel
//     paths of a chunk. message: one transfer of a flow. step: a round of the
//     algorithm. bucket: parameters or gradients communicated as one.
//   - CCT: time of a collective, first rank's begin to last rank's finish.
//     RCCT: of one rank-chunk. FCT: of one flow.
//   - algbw: S divided by time. busbw: algbw times the collective's factor.
//   - record: one event in the flight file. mark: a span that a guest names.
//     term: where in a collective an operation belongs.
//   - epoch: a number that the guest chooses to tell uses of a share's name
//     apart.
//   - verdict: what the launcher says of a run that did not end well. desync:
//     ranks disagree on what they do together.
package host
