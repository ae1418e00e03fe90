// Code generated from host/abi by `go generate ./host/abi`. DO NOT EDIT.

//go:build wasip1

package raw

// Host is the way to the host's functions. Its zero value is ready to use.
type Host struct{}

//go:wasmimport ccrun_v1 world
//go:noescape
func hostWorld(info *World) Errno

// World fills in what this rank is told of the world: its rank, the size, the seed, the device's limits.
//
// It returns ok, fault.
func (Host) World(info *World) Errno { return hostWorld(info) }

//go:wasmimport ccrun_v1 clock_now
//go:noescape
func hostClockNow(nanos *int64) Errno

// ClockNow reads the run's clock, whose zero all ranks of a node share; virtual time on sim.
//
// It returns ok, fault.
func (Host) ClockNow(nanos *int64) Errno { return hostClockNow(nanos) }

//go:wasmimport ccrun_v1 last_error
//go:noescape
func hostLastError(text *uint8, textLen uint32, textBytes *uint32) Errno

// LastError copies the text of the last failed call of this rank, cut to text_len bytes, and gives its whole length; 0 if none failed.
//
// It returns ok, fault.
func (Host) LastError(text *uint8, textLen uint32, textBytes *uint32) Errno {
	return hostLastError(text, textLen, textBytes)
}

//go:wasmimport ccrun_v1 abort
//go:noescape
func hostAbort(code uint32, text string) Errno

// Abort ends all ranks, the run's exit code being code (1 to 95), after printing text; it does not return if the arguments are good.
//
// It returns ok, fault, invalid.
func (Host) Abort(code uint32, text string) Errno { return hostAbort(code, text) }

//go:wasmimport ccrun_v1 buffer_alloc
//go:noescape
func hostBufferAlloc(bytes int64, buffer *uint64) Errno

// BufferAlloc allocates zeroed device memory, aligned to 256 bytes; 0 bytes is a valid size.
//
// It returns ok, fault, invalid, no_memory, limit.
func (Host) BufferAlloc(bytes int64, buffer *uint64) Errno { return hostBufferAlloc(bytes, buffer) }

//go:wasmimport ccrun_v1 buffer_free
//go:noescape
func hostBufferFree(buffer uint64) Errno

// BufferFree frees a buffer, own or looked up; submitted operations that use it still finish, later ones fail with stale, at peers too.
//
// It returns ok, bad_handle, stale.
func (Host) BufferFree(buffer uint64) Errno { return hostBufferFree(buffer) }

//go:wasmimport ccrun_v1 buffer_size
//go:noescape
func hostBufferSize(buffer uint64, bytes *uint64) Errno

// BufferSize gives the size of a buffer.
//
// It returns ok, fault, bad_handle, stale.
func (Host) BufferSize(buffer uint64, bytes *uint64) Errno { return hostBufferSize(buffer, bytes) }

//go:wasmimport ccrun_v1 buffer_read
//go:noescape
func hostBufferRead(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno

// BufferRead copies from a buffer to the guest's memory, now; it does not wait for streams.
//
// It returns ok, fault, bad_handle, stale, range, unsupported.
func (Host) BufferRead(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno {
	return hostBufferRead(buffer, offset, data, dataLen)
}

//go:wasmimport ccrun_v1 buffer_write
//go:noescape
func hostBufferWrite(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno

// BufferWrite copies from the guest's memory to a buffer, now; it does not wait for streams.
//
// It returns ok, fault, bad_handle, stale, range, unsupported.
func (Host) BufferWrite(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno {
	return hostBufferWrite(buffer, offset, data, dataLen)
}

//go:wasmimport ccrun_v1 buffer_fill
//go:noescape
func hostBufferFill(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64) Errno

// BufferFill fills a region with the pattern of the seed, in stream order.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (Host) BufferFill(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64) Errno {
	return hostBufferFill(stream, buffer, offset, bytes, dtype, seed)
}

//go:wasmimport ccrun_v1 buffer_verify
//go:noescape
func hostBufferVerify(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64, patternOffset int64, result *VerifyResult) Errno

// BufferVerify compares a region with the pattern of the seed from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs.
//
// It returns ok, fault, bad_handle, stale, range, invalid, timed_out, failed.
func (Host) BufferVerify(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64, patternOffset int64, result *VerifyResult) Errno {
	return hostBufferVerify(stream, buffer, offset, bytes, dtype, seed, patternOffset, result)
}

//go:wasmimport ccrun_v1 buffer_digest
//go:noescape
func hostBufferDigest(stream uint64, buffer uint64, offset int64, bytes int64, name string, digest *Digest) Errno

// BufferDigest computes a region's digest after all earlier operations of the stream and, if name is not empty, reports it under that name in the run's result.
//
// It returns ok, fault, bad_handle, stale, range, invalid, limit, timed_out, failed.
func (Host) BufferDigest(stream uint64, buffer uint64, offset int64, bytes int64, name string, digest *Digest) Errno {
	return hostBufferDigest(stream, buffer, offset, bytes, name, digest)
}

//go:wasmimport ccrun_v1 stream_create
//go:noescape
func hostStreamCreate(stream *uint64) Errno

// StreamCreate makes a stream: operations of one stream are carried out in order, streams overlap.
//
// It returns ok, fault, limit.
func (Host) StreamCreate(stream *uint64) Errno { return hostStreamCreate(stream) }

//go:wasmimport ccrun_v1 stream_destroy
//go:noescape
func hostStreamDestroy(stream uint64) Errno

// StreamDestroy waits for a stream and gives it back.
//
// It returns ok, bad_handle, stale, failed.
func (Host) StreamDestroy(stream uint64) Errno { return hostStreamDestroy(stream) }

//go:wasmimport ccrun_v1 stream_sync
//go:noescape
func hostStreamSync(stream uint64, timeout int64) Errno

// StreamSync waits until everything submitted to a stream is complete.
//
// It returns ok, bad_handle, stale, timed_out, failed.
func (Host) StreamSync(stream uint64, timeout int64) Errno { return hostStreamSync(stream, timeout) }

//go:wasmimport ccrun_v1 stream_query
//go:noescape
func hostStreamQuery(stream uint64, done *uint32) Errno

// StreamQuery says whether everything submitted to a stream is complete (1) or not (0), without waiting.
//
// It returns ok, fault, bad_handle, stale, failed.
func (Host) StreamQuery(stream uint64, done *uint32) Errno { return hostStreamQuery(stream, done) }

//go:wasmimport ccrun_v1 event_create
//go:noescape
func hostEventCreate(event *uint64) Errno

// EventCreate makes an event; it counts as complete until it is recorded.
//
// It returns ok, fault, limit.
func (Host) EventCreate(event *uint64) Errno { return hostEventCreate(event) }

//go:wasmimport ccrun_v1 event_destroy
//go:noescape
func hostEventDestroy(event uint64) Errno

// EventDestroy gives an event back.
//
// It returns ok, bad_handle, stale.
func (Host) EventDestroy(event uint64) Errno { return hostEventDestroy(event) }

//go:wasmimport ccrun_v1 event_record
//go:noescape
func hostEventRecord(stream uint64, event uint64) Errno

// EventRecord marks an event complete when all earlier operations of the stream are.
//
// It returns ok, bad_handle, stale, failed.
func (Host) EventRecord(stream uint64, event uint64) Errno { return hostEventRecord(stream, event) }

//go:wasmimport ccrun_v1 event_wait
//go:noescape
func hostEventWait(stream uint64, event uint64) Errno

// EventWait holds a stream until the event's latest record is complete.
//
// It returns ok, bad_handle, stale, failed.
func (Host) EventWait(stream uint64, event uint64) Errno { return hostEventWait(stream, event) }

//go:wasmimport ccrun_v1 event_sync
//go:noescape
func hostEventSync(event uint64, timeout int64) Errno

// EventSync waits in the guest until the event's latest record is complete.
//
// It returns ok, bad_handle, stale, timed_out, failed.
func (Host) EventSync(event uint64, timeout int64) Errno { return hostEventSync(event, timeout) }

//go:wasmimport ccrun_v1 event_query
//go:noescape
func hostEventQuery(event uint64, done *uint32) Errno

// EventQuery says whether the event's latest record is complete (1) or not (0), without waiting.
//
// It returns ok, fault, bad_handle, stale.
func (Host) EventQuery(event uint64, done *uint32) Errno { return hostEventQuery(event, done) }

//go:wasmimport ccrun_v1 copy
//go:noescape
func hostCopy(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno

// Copy copies between buffers of this rank.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (Host) Copy(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno {
	return hostCopy(stream, dst, dstOffset, src, srcOffset, bytes)
}

//go:wasmimport ccrun_v1 put
//go:noescape
func hostPut(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno

// Put copies from a buffer of this rank to one looked up at a peer.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (Host) Put(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno {
	return hostPut(stream, dst, dstOffset, src, srcOffset, bytes)
}

//go:wasmimport ccrun_v1 get
//go:noescape
func hostGet(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno

// Get copies from a buffer looked up at a peer to one of this rank.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (Host) Get(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno {
	return hostGet(stream, dst, dstOffset, src, srcOffset, bytes)
}

//go:wasmimport ccrun_v1 signal
//go:noescape
func hostSignal(stream uint64, peer uint32, slot uint32, value uint64) Errno

// Signal raises this rank's slot at a peer to value, if it is lower, after all earlier operations of the stream are visible to the peer.
//
// It returns ok, bad_handle, stale, invalid, no_rank, failed.
func (Host) Signal(stream uint64, peer uint32, slot uint32, value uint64) Errno {
	return hostSignal(stream, peer, slot, value)
}

//go:wasmimport ccrun_v1 wait
//go:noescape
func hostWait(stream uint64, peer uint32, slot uint32, value uint64) Errno

// Wait holds a stream until the slot that a peer raises here is at least value.
//
// It returns ok, bad_handle, stale, invalid, no_rank, failed.
func (Host) Wait(stream uint64, peer uint32, slot uint32, value uint64) Errno {
	return hostWait(stream, peer, slot, value)
}

//go:wasmimport ccrun_v1 signal_value
//go:noescape
func hostSignalValue(peer uint32, slot uint32, value *uint64) Errno

// SignalValue reads the slot that a peer raises here, without waiting.
//
// It returns ok, fault, invalid, no_rank.
func (Host) SignalValue(peer uint32, slot uint32, value *uint64) Errno {
	return hostSignalValue(peer, slot, value)
}

//go:wasmimport ccrun_v1 send
//go:noescape
func hostSend(stream uint64, peer uint32, src uint64, srcOffset int64, bytes int64, channel uint32) Errno

// Send sends bytes to the matching recv of a peer on the same channel; consecutive sends and receives of a stream make progress together.
//
// It returns ok, bad_handle, stale, range, invalid, no_rank, failed.
func (Host) Send(stream uint64, peer uint32, src uint64, srcOffset int64, bytes int64, channel uint32) Errno {
	return hostSend(stream, peer, src, srcOffset, bytes, channel)
}

//go:wasmimport ccrun_v1 recv
//go:noescape
func hostRecv(stream uint64, peer uint32, dst uint64, dstOffset int64, bytes int64, channel uint32) Errno

// Recv receives the bytes of the matching send of a peer on the same channel; different lengths fail with mismatch.
//
// It returns ok, bad_handle, stale, range, invalid, no_rank, failed.
func (Host) Recv(stream uint64, peer uint32, dst uint64, dstOffset int64, bytes int64, channel uint32) Errno {
	return hostRecv(stream, peer, dst, dstOffset, bytes, channel)
}

//go:wasmimport ccrun_v1 reduce
//go:noescape
func hostReduce(stream uint64, op *Op) Errno

// Reduce combines 1 to 8 sources, peers' too, element by element into dst; takes an op structure, whose kind is ignored.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, failed.
func (Host) Reduce(stream uint64, op *Op) Errno { return hostReduce(stream, op) }

//go:wasmimport ccrun_v1 submit
//go:noescape
func hostSubmit(stream uint64, ops *Op, opsLen uint32, accepted *uint32) Errno

// Submit submits operations in order; accepted, written on failure too, says how many were taken before the first bad one.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, failed, unsupported.
func (Host) Submit(stream uint64, ops *Op, opsLen uint32, accepted *uint32) Errno {
	return hostSubmit(stream, ops, opsLen, accepted)
}

//go:wasmimport ccrun_v1 share_publish
//go:noescape
func hostSharePublish(name string, epoch uint64, buffer uint64, offset int64, bytes int64) Errno

// SharePublish publishes a region of an own buffer under a name and an epoch, at once and without waiting for anyone; a name and epoch can be published once.
//
// It returns ok, fault, bad_handle, stale, range, invalid, limit, failed.
func (Host) SharePublish(name string, epoch uint64, buffer uint64, offset int64, bytes int64) Errno {
	return hostSharePublish(name, epoch, buffer, offset, bytes)
}

//go:wasmimport ccrun_v1 share_lookup
//go:noescape
func hostShareLookup(peer uint32, name string, epoch uint64, timeout int64, buffer *uint64, bytes *uint64) Errno

// ShareLookup gives access to the region that a peer publishes under a name and an epoch, waiting for it if need be; asking again costs no message.
//
// It returns ok, fault, stale, invalid, no_rank, limit, timed_out, failed.
func (Host) ShareLookup(peer uint32, name string, epoch uint64, timeout int64, buffer *uint64, bytes *uint64) Errno {
	return hostShareLookup(peer, name, epoch, timeout, buffer, bytes)
}

//go:wasmimport ccrun_v1 barrier
//go:noescape
func hostBarrier(timeout int64) Errno

// Barrier waits until every rank has called it as often as this one; it says nothing about streams.
//
// It returns ok, timed_out.
func (Host) Barrier(timeout int64) Errno { return hostBarrier(timeout) }

//go:wasmimport ccrun_v1 tag
//go:noescape
func hostTag(collective uint32, chunk uint32, slice uint32, flow uint32, step uint32, message uint32) Errno

// Tag sets where the following copy, put, get, signal, wait, send, recv and buffer_fill calls of this rank belong; op structures carry their own.
//
// It returns ok, invalid.
func (Host) Tag(collective uint32, chunk uint32, slice uint32, flow uint32, step uint32, message uint32) Errno {
	return hostTag(collective, chunk, slice, flow, step, message)
}

//go:wasmimport ccrun_v1 collective_begin
//go:noescape
func hostCollectiveBegin(collective *Collective, sequence *uint32) Errno

// CollectiveBegin begins a collective in the trace and gives its sequence number, from 1, by which operations say that they belong to it.
//
// It returns ok, fault, invalid, limit.
func (Host) CollectiveBegin(collective *Collective, sequence *uint32) Errno {
	return hostCollectiveBegin(collective, sequence)
}

//go:wasmimport ccrun_v1 collective_end
//go:noescape
func hostCollectiveEnd(sequence uint32) Errno

// CollectiveEnd says that all operations of a collective have been submitted; it is complete when they are.
//
// It returns ok, not_found.
func (Host) CollectiveEnd(sequence uint32) Errno { return hostCollectiveEnd(sequence) }

//go:wasmimport ccrun_v1 mark_begin
//go:noescape
func hostMarkBegin(name string, mark *uint64) Errno

// MarkBegin begins a named span of the guest's own in the trace.
//
// It returns ok, fault, invalid, limit.
func (Host) MarkBegin(name string, mark *uint64) Errno { return hostMarkBegin(name, mark) }

//go:wasmimport ccrun_v1 mark_end
//go:noescape
func hostMarkEnd(mark uint64) Errno

// MarkEnd ends a named span.
//
// It returns ok, not_found.
func (Host) MarkEnd(mark uint64) Errno { return hostMarkEnd(mark) }

//go:wasmimport ccrun_v1 comm_world
//go:noescape
func hostCommWorld(timeout int64, comm *uint64) Errno

// CommWorld gives the communicator of all ranks, which are numbered as in the world; every rank calls it, and later calls give the same handle.
//
// It returns ok, fault, limit, timed_out, failed, mismatch, unsupported.
func (Host) CommWorld(timeout int64, comm *uint64) Errno { return hostCommWorld(timeout, comm) }

//go:wasmimport ccrun_v1 comm_split
//go:noescape
func hostCommSplit(parent uint64, color int32, key int32, timeout int64, comm *uint64) Errno

// CommSplit makes communicators of the ranks of one that give the same color, ordered by key and then by rank; every rank of it calls this, and one with a negative color gets 0.
//
// It returns ok, fault, bad_handle, stale, invalid, limit, timed_out, failed, mismatch, unsupported.
func (Host) CommSplit(parent uint64, color int32, key int32, timeout int64, comm *uint64) Errno {
	return hostCommSplit(parent, color, key, timeout, comm)
}

//go:wasmimport ccrun_v1 comm_free
//go:noescape
func hostCommFree(comm uint64) Errno

// CommFree gives a communicator back; calls already submitted still finish. mismatch: other ranks have called something else meanwhile; the communicator is given back all the same.
//
// It returns ok, bad_handle, stale, mismatch.
func (Host) CommFree(comm uint64) Errno { return hostCommFree(comm) }

//go:wasmimport ccrun_v1 comm_info
//go:noescape
func hostCommInfo(comm uint64, info *Comm) Errno

// CommInfo fills in what this rank is told of a communicator.
//
// It returns ok, fault, bad_handle, stale.
func (Host) CommInfo(comm uint64, info *Comm) Errno { return hostCommInfo(comm, info) }

//go:wasmimport ccrun_v1 comm_world_rank
//go:noescape
func hostCommWorldRank(comm uint64, rank uint32, worldRank *uint32) Errno

// CommWorldRank gives the rank in the world of a rank of a communicator.
//
// It returns ok, fault, bad_handle, stale, no_rank.
func (Host) CommWorldRank(comm uint64, rank uint32, worldRank *uint32) Errno {
	return hostCommWorldRank(comm, rank, worldRank)
}

//go:wasmimport ccrun_v1 collective
//go:noescape
func hostCollective(stream uint64, call *Call) Errno

// Collective submits a collective; it begins and ends one in the trace by itself. Ranks must agree on all but their buffers; an all_to_all is in place on all of them or on none.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit, failed, unsupported.
func (Host) Collective(stream uint64, call *Call) Errno { return hostCollective(stream, call) }

//go:wasmimport ccrun_v1 collective_group
//go:noescape
func hostCollectiveGroup(stream uint64, calls *Call, callsLen uint32) Errno

// CollectiveGroup submits collectives that make progress together: the order of calls on different communicators need not be the same on all ranks. A structure that is wrong refuses all of them; the device may refuse some after others were submitted.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit, failed, unsupported.
func (Host) CollectiveGroup(stream uint64, calls *Call, callsLen uint32) Errno {
	return hostCollectiveGroup(stream, calls, callsLen)
}

//go:wasmimport ccrun_v1 gemm
//go:noescape
func hostGemm(stream uint64, gemm *Gemm) Errno

// Gemm multiplies matrices, in stream order.
//
// It returns ok, fault, bad_handle, stale, range, invalid, failed, unsupported.
func (Host) Gemm(stream uint64, gemm *Gemm) Errno { return hostGemm(stream, gemm) }

//go:wasmimport ccrun_v1 buffer_verify_reduced
//go:noescape
func hostBufferVerifyReduced(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, redop uint32, seeds *uint64, seedsLen uint32, patternOffset int64, result *VerifyResult) Errno

// BufferVerifyReduced compares a region with the reduction of the patterns of all seeds from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs by more than rounding explains.
//
// It returns ok, fault, bad_handle, stale, range, invalid, timed_out, failed, unsupported.
func (Host) BufferVerifyReduced(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, redop uint32, seeds *uint64, seedsLen uint32, patternOffset int64, result *VerifyResult) Errno {
	return hostBufferVerifyReduced(stream, buffer, offset, bytes, dtype, redop, seeds, seedsLen, patternOffset, result)
}

//go:wasmimport ccrun_v1 copy_box
//go:noescape
func hostCopyBox(stream uint64, box *Box) Errno

// CopyBox copies a box, rows of equal length at equal distances, between buffers of this rank, in stream order.
//
// It returns ok, fault, bad_handle, stale, range, invalid, failed.
func (Host) CopyBox(stream uint64, box *Box) Errno { return hostCopyBox(stream, box) }

//go:wasmimport ccrun_v1 pipeline_create
//go:noescape
func hostPipelineCreate(params *Pipeline, pipeline *uint64) Errno

// PipelineCreate makes a bucket pipeline, which all ranks of the world make alike; budgets and buffers are the rank's own.
//
// It returns ok, fault, invalid, limit.
func (Host) PipelineCreate(params *Pipeline, pipeline *uint64) Errno {
	return hostPipelineCreate(params, pipeline)
}

//go:wasmimport ccrun_v1 pipeline_ranks
//go:noescape
func hostPipelineRanks(pipeline uint64, ranks *uint32, ranksLen uint32) Errno

// PipelineRanks appends to the list of ranks that entries name their destinations and parts in.
//
// It returns ok, fault, bad_handle, stale, invalid, no_rank, limit.
func (Host) PipelineRanks(pipeline uint64, ranks *uint32, ranksLen uint32) Errno {
	return hostPipelineRanks(pipeline, ranks, ranksLen)
}

//go:wasmimport ccrun_v1 pipeline_add
//go:noescape
func hostPipelineAdd(pipeline uint64, entries *PipelineEntry, entriesLen uint32) Errno

// PipelineAdd appends entries; every rank appends all of them, in the same order, with buffers where it has a part in them. A bad one refuses all.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit.
func (Host) PipelineAdd(pipeline uint64, entries *PipelineEntry, entriesLen uint32) Errno {
	return hostPipelineAdd(pipeline, entries, entriesLen)
}

//go:wasmimport ccrun_v1 pipeline_build
//go:noescape
func hostPipelineBuild(pipeline uint64, plan *PipelinePlan) Errno

// PipelineBuild joins the entries to buckets, which takes no more of them from then on, and says what came of it.
//
// It returns ok, fault, bad_handle, stale, invalid, limit.
func (Host) PipelineBuild(pipeline uint64, plan *PipelinePlan) Errno {
	return hostPipelineBuild(pipeline, plan)
}

//go:wasmimport ccrun_v1 pipeline_buckets
//go:noescape
func hostPipelineBuckets(pipeline uint64, first uint32, buckets *PipelineBucket, bucketsLen uint32, described *uint32) Errno

// PipelineBuckets describes buckets from the first-th on, in the order in which they were formed, and says how many it has described.
//
// It returns ok, fault, bad_handle, stale, invalid.
func (Host) PipelineBuckets(pipeline uint64, first uint32, buckets *PipelineBucket, bucketsLen uint32, described *uint32) Errno {
	return hostPipelineBuckets(pipeline, first, buckets, bucketsLen, described)
}

//go:wasmimport ccrun_v1 pipeline_order
//go:noescape
func hostPipelineOrder(pipeline uint64, order *uint32, orderLen uint32) Errno

// PipelineOrder sets the order in which buckets are admitted, the same on all ranks: the number of each bucket once. Without it, channels take turns.
//
// It returns ok, fault, bad_handle, stale, invalid.
func (Host) PipelineOrder(pipeline uint64, order *uint32, orderLen uint32) Errno {
	return hostPipelineOrder(pipeline, order, orderLen)
}

//go:wasmimport ccrun_v1 pipeline_agree
//go:noescape
func hostPipelineAgree(pipeline uint64, timeout int64) Errno

// PipelineAgree compares the plan with all other ranks', which call it too: nothing moves before they agree. mismatch: last_error names the first difference.
//
// It returns ok, bad_handle, stale, invalid, timed_out, failed, mismatch.
func (Host) PipelineAgree(pipeline uint64, timeout int64) Errno {
	return hostPipelineAgree(pipeline, timeout)
}

//go:wasmimport ccrun_v1 pipeline_start
//go:noescape
func hostPipelineStart(pipeline uint64, streams *uint64, streamsLen uint32) Errno

// PipelineStart begins to move all buckets, on streams that have nothing else to do until they have arrived; can be repeated after that. It begins a collective in the trace.
//
// It returns ok, fault, bad_handle, stale, invalid, no_memory, limit, failed.
func (Host) PipelineStart(pipeline uint64, streams *uint64, streamsLen uint32) Errno {
	return hostPipelineStart(pipeline, streams, streamsLen)
}

//go:wasmimport ccrun_v1 pipeline_poll
//go:noescape
func hostPipelinePoll(pipeline uint64, status *PipelineStatus) Errno

// PipelinePoll does what can be done now, without waiting, and says how far the rank is.
//
// It returns ok, fault, bad_handle, stale, invalid, no_memory, failed, mismatch.
func (Host) PipelinePoll(pipeline uint64, status *PipelineStatus) Errno {
	return hostPipelinePoll(pipeline, status)
}

//go:wasmimport ccrun_v1 pipeline_wait
//go:noescape
func hostPipelineWait(pipeline uint64, timeout int64, status *PipelineStatus) Errno

// PipelineWait waits until all buckets have arrived on all ranks, or until this rank has admitted all that pipeline_admit lets it. failed: a bucket failed on some rank; last_error says which.
//
// It returns ok, fault, bad_handle, stale, invalid, no_memory, timed_out, failed, mismatch.
func (Host) PipelineWait(pipeline uint64, timeout int64, status *PipelineStatus) Errno {
	return hostPipelineWait(pipeline, timeout, status)
}

//go:wasmimport ccrun_v1 pipeline_admit
//go:noescape
func hostPipelineAdmit(pipeline uint64, limit uint32) Errno

// PipelineAdmit under the scripted policy, lets the rank admit the buckets before place limit of the order, and no others; a limit never goes back. It fails as pipeline_wait does.
//
// It returns ok, bad_handle, stale, invalid, no_memory, failed, mismatch.
func (Host) PipelineAdmit(pipeline uint64, limit uint32) Errno {
	return hostPipelineAdmit(pipeline, limit)
}

//go:wasmimport ccrun_v1 pipeline_stats
//go:noescape
func hostPipelineStats(pipeline uint64, stats *PipelineStats) Errno

// PipelineStats writes the statistics of this rank's present or last run of the pipeline.
//
// It returns ok, fault, bad_handle, stale, invalid.
func (Host) PipelineStats(pipeline uint64, stats *PipelineStats) Errno {
	return hostPipelineStats(pipeline, stats)
}

//go:wasmimport ccrun_v1 pipeline_destroy
//go:noescape
func hostPipelineDestroy(pipeline uint64) Errno

// PipelineDestroy gives a pipeline and its staging memory back; one that is under way cannot be.
//
// It returns ok, bad_handle, stale, invalid, failed.
func (Host) PipelineDestroy(pipeline uint64) Errno { return hostPipelineDestroy(pipeline) }
