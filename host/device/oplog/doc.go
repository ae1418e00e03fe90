// Package oplog writes down what a rank asks of its device, reads it, and has it
// done again without the guest: [Record] wraps a device, [Parse] and [Log.Write]
// are the text, [Body] carries a rank's program out on any device. [Expand] finds
// the one program that all ranks of a world share in what a few of them ask of a
// [Sketch], so that thousands of ranks can be replayed for the price of one.
//
// A replay repeats communication and time, not data: what the guest wrote into
// buffers itself is not in the log, what it read is only how much. It does not
// repeat what the guest computed between its calls either, nor how long it
// waited for keys of the exchange, other than for what its peers export.
//
// # The text
//
// A log begins with its version, the device of the run and the number of ranks:
//
//	ccrun oplog 1
//	device "cpu"
//	ranks 4
//
// Then come the ranks in their order, each a line "rank" with its number, one
// line for each call, and "end" if the guest came to its end. Empty lines and
// those that begin with # say nothing. Words are parted by one space; numbers
// are decimal. Lines name what they make by a letter and a number from 1 on,
// which is used again when it is given back: b for buffers, s streams, e events,
// g communicators, m marks. r2 is rank 2, c7 the collective number 7. A place in
// a buffer is b3+4096. At the end of any line may stand the guest's function, as
// in @"main.step".
//
//	alloc b1 4096                         a buffer of so many bytes
//	free b1
//	read b1+0 64                          by the guest, and so many bytes
//	write b1+0 64
//	export x1.1+0:4096 <- b1+0 4096       what peers will know it by
//	import b2 <- r3 x1.1+0:4096
//	stream s1
//	sync s1                               the guest waits for the stream, or has
//	                                      seen that it has nothing left to do
//	close s1
//	event e1
//	event_sync e1
//	event_close e1
//	barrier
//	barrier_late                          one that timed out, which counts
//	seen r1 slot 9 >= 3                   the guest has looked at a slot
//	comm g1 "world.0" all                 or ranks with commas: 0,2,4
//	comm_close g1
//	collective c1 all_gather f32 sum 4096 slice 1024 ranks 4 group 0 "ring" warmup
//	collective_end c1
//	mark m1 "step"
//	mark_end m1
//
// The operations of streams begin with their [op.Kind] and the stream, and may
// have their place in a collective behind them, what is not 0 of c1 k2 l3 f4 t5
// m6: collective, chunk, slice, flow, step and message.
//
//	copy s1 b1+0 <- b1+2048 1024          put and get read alike
//	copy_box s1 b1+0 by 8 64 <- b1+2048 by 16 0 of 2 4 8
//	                                      distances of rows and planes at either
//	                                      end, 0 where they do not count; planes,
//	                                      rows and the bytes of a row; get_box reads alike
//	signal s1 r1 slot 5 = 17
//	wait s1 r2 slot 5 >= 17
//	send s1 r1 b1+0 1024 channel 2        so does recv
//	reduce s1 b1+0 <- b1+0,b2+64 64 f32 sum
//	fill s1 b1+0 4096 f32 seed 7 at 0     so does verify
//	digest s1 b1+0 4096
//	event_record s1 e1                    so does event_wait
//	gemm s1 b1+0 <- b1+64 b1+128 f32 4 4 4 add
//	call s1 g1 all_reduce f32 sum root 0 count 16 in b1+0 out b1+64 ring slice 0 group 0
//	and broadcast u8 sum root 3 count 16 in - out b1+64 tree slice 0 group 0 warmup
//
// An "and" is another call of the group that the line above it submits. At the
// end of all_to_all_v stand its parts: the counts and offsets that are sent, then
// those that are received, each by rank, as in "parts 1,1,0,1,1,1,0,1".
//
// A call that failed or timed out is not in the log. One in which the run was
// given up is: a replay of a deadlock ends in the same.
//
// # Programs of all ranks
//
// A log whose only rank is * tells what all of them do. There a number may be
// {base+stride*(r+shift)}: r is the rank, and the sum in brackets is taken modulo
// the number of ranks. Parts that change nothing are left out, and the stride may
// be taken away instead: {r}, {(r+1)}, {4096*r}, {128+4096*(r+3)}, {7-r}.
//
// Such a program is found by [Expand]. It looks at ranks 0, 1, 2, the middle and
// the last, and at more where those leave open at which rank a number turns
// round. If there are few such turns it looks at all of them, otherwise it takes
// bases from numbers whose turn it has seen and looks at some of the others.
// Then it holds what it found against ranks that had no part in it: against all
// of a world of up to 24, otherwise against what is left of the first 8 and of
// one rank for each remainder by 16, which lie in different places. So it notices
// a guest that does something else on some rank of each node of 8, on every second
// node or in the first one. About 24 ranks are looked at, and those where numbers
// turn; what a guest does only on others is not noticed.
package oplog
