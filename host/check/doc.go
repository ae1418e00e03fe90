// Package check looks for orders of a recorded schedule that deadlock or race.
// Start with [Check]: it takes what every rank asked of its device, as a
// [Schedule], and gives [Finding]s; [Finding.Text] puts one into words.
//
// # What is explored
//
// A rank's guest makes its calls in the order of the record; every stream
// carries out its operations in order; streams and ranks are independent of each
// other but for signals, events, messages, collectives, barriers and the guest's
// waits. Two runs that only exchange neighbours which do not depend on each
// other are one trace in the sense of Mazurkiewicz ("Trace theory", 1987), and
// deadlock in the same state, so one run of each trace is enough.
//
// Most schedules have one trace only. Slots grow and waits are for "at least",
// so carrying out one thing never forbids another: whatever can be done is done
// at once, in any order, and what is left is the same. An order matters in two
// places, and these are branched on, all others are not:
//
//   - Several streams of a rank raise one slot, and a wait may be ended by
//     either of them.
//   - Several streams of a rank send, or receive, on one channel: messages are
//     matched in the order in which the streams come to them, and one has waited
//     for those that came before it at its end of the channel.
//
// Where several such places are open at a time, one is picked whose competitors
// have all arrived (a persistent set, as in Flanagan and Godefroid, "Dynamic
// partial-order reduction for model checking software", POPL 2005); if there is
// none, all are, and sleep sets (Godefroid, 1996) keep orders that are one trace
// from being explored twice. Competitors that a rank itself orders, by waiting
// for its streams and events, are none, and neither are those that cannot arrive
// before the other is done, which looking ahead shows. The search keeps no
// states: each trace is run from its beginning.
//
// Races are found within one run of each trace by vector clocks (Mattern 1989),
// with a last write and the reads since for each range of bytes, as in Flanagan
// and Freund, "FastTrack", PLDI 2009. Two operations race if they touch the same
// bytes, one of them writes, and nothing makes one of them wait for the other:
// then there is an order in which either comes first.
//
// # What it takes for granted
//
// A message is complete when both sides have come to it, on both sides.
// Consecutive sends and receives of a stream make progress together, and are not
// ordered among each other. A collective ends when all its ranks have entered
// it, but orders only what its data does: who gets a broadcast has waited for
// the root, the root for nobody. It touches its own rank's memory between its
// start and its end.
//
// # What it does not see
//
// A record is one way through the guest: branches that depend on data, on the
// time or on what a poll happened to see are taken as they were. What was seen
// of a slot counts as a wait for that value. Limits of a device (the length of a
// queue, the number of messages on their way) do not occur, nor do freed
// buffers, time-outs, and calls that failed. Of a name that is published twice
// only the first time counts, since looking it up need not wait for the second.
package check
