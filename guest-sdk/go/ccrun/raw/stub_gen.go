// Code generated from host/abi by `go generate ./host/abi`. DO NOT EDIT.

//go:build !wasip1

package raw

// Calls is what stands in for the host where there is none: package ccruntest
// has one for unit tests.
type Calls interface {
	Addresses

	// World is world(info: i32 out *world).
	World(info *World) Errno
	// ClockNow is clock_now(nanos: i32 out *i64).
	ClockNow(nanos *int64) Errno
	// LastError is last_error(text: i32 out *u8, text_len: i32 len, text_bytes: i32 out *u32).
	LastError(text *uint8, textLen uint32, textBytes *uint32) Errno
	// Abort is abort(code: i32 as u32, text: i32 in *u8, text_len: i32 len).
	Abort(code uint32, text string) Errno
	// BufferAlloc is buffer_alloc(bytes: i64 size, buffer: i32 out *u64).
	BufferAlloc(bytes int64, buffer *uint64) Errno
	// BufferFree is buffer_free(buffer: i64 buffer).
	BufferFree(buffer uint64) Errno
	// BufferSize is buffer_size(buffer: i64 buffer, bytes: i32 out *u64).
	BufferSize(buffer uint64, bytes *uint64) Errno
	// BufferRead is buffer_read(buffer: i64 buffer, offset: i64 size, data: i32 out *u8, data_len: i32 len).
	BufferRead(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno
	// BufferWrite is buffer_write(buffer: i64 buffer, offset: i64 size, data: i32 in *u8, data_len: i32 len).
	BufferWrite(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno
	// BufferFill is buffer_fill(stream: i64 stream, buffer: i64 buffer, offset: i64 size, bytes: i64 size, dtype: i32 enum dtype, seed: i64 as u64).
	BufferFill(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64) Errno
	// BufferVerify is buffer_verify(stream: i64 stream, buffer: i64 buffer, offset: i64 size, bytes: i64 size, dtype: i32 enum dtype, seed: i64 as u64, pattern_offset: i64 size, result: i32 out *verify_result).
	BufferVerify(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64, patternOffset int64, result *VerifyResult) Errno
	// BufferDigest is buffer_digest(stream: i64 stream, buffer: i64 buffer, offset: i64 size, bytes: i64 size, name: i32 in *u8, name_len: i32 len, digest: i32 out *digest).
	BufferDigest(stream uint64, buffer uint64, offset int64, bytes int64, name string, digest *Digest) Errno
	// StreamCreate is stream_create(stream: i32 out *u64).
	StreamCreate(stream *uint64) Errno
	// StreamDestroy is stream_destroy(stream: i64 stream).
	StreamDestroy(stream uint64) Errno
	// StreamSync is stream_sync(stream: i64 stream, timeout: i64 timeout).
	StreamSync(stream uint64, timeout int64) Errno
	// StreamQuery is stream_query(stream: i64 stream, done: i32 out *u32).
	StreamQuery(stream uint64, done *uint32) Errno
	// EventCreate is event_create(event: i32 out *u64).
	EventCreate(event *uint64) Errno
	// EventDestroy is event_destroy(event: i64 event).
	EventDestroy(event uint64) Errno
	// EventRecord is event_record(stream: i64 stream, event: i64 event).
	EventRecord(stream uint64, event uint64) Errno
	// EventWait is event_wait(stream: i64 stream, event: i64 event).
	EventWait(stream uint64, event uint64) Errno
	// EventSync is event_sync(event: i64 event, timeout: i64 timeout).
	EventSync(event uint64, timeout int64) Errno
	// EventQuery is event_query(event: i64 event, done: i32 out *u32).
	EventQuery(event uint64, done *uint32) Errno
	// Copy is copy(stream: i64 stream, dst: i64 buffer, dst_offset: i64 size, src: i64 buffer, src_offset: i64 size, bytes: i64 size).
	Copy(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno
	// Put is put(stream: i64 stream, dst: i64 buffer, dst_offset: i64 size, src: i64 buffer, src_offset: i64 size, bytes: i64 size).
	Put(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno
	// Get is get(stream: i64 stream, dst: i64 buffer, dst_offset: i64 size, src: i64 buffer, src_offset: i64 size, bytes: i64 size).
	Get(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno
	// Signal is signal(stream: i64 stream, peer: i32 rank, slot: i32 as u32, value: i64 as u64).
	Signal(stream uint64, peer uint32, slot uint32, value uint64) Errno
	// Wait is wait(stream: i64 stream, peer: i32 rank, slot: i32 as u32, value: i64 as u64).
	Wait(stream uint64, peer uint32, slot uint32, value uint64) Errno
	// SignalValue is signal_value(peer: i32 rank, slot: i32 as u32, value: i32 out *u64).
	SignalValue(peer uint32, slot uint32, value *uint64) Errno
	// Send is send(stream: i64 stream, peer: i32 rank, src: i64 buffer, src_offset: i64 size, bytes: i64 size, channel: i32 as u32).
	Send(stream uint64, peer uint32, src uint64, srcOffset int64, bytes int64, channel uint32) Errno
	// Recv is recv(stream: i64 stream, peer: i32 rank, dst: i64 buffer, dst_offset: i64 size, bytes: i64 size, channel: i32 as u32).
	Recv(stream uint64, peer uint32, dst uint64, dstOffset int64, bytes int64, channel uint32) Errno
	// Reduce is reduce(stream: i64 stream, op: i32 in *op).
	Reduce(stream uint64, op *Op) Errno
	// Submit is submit(stream: i64 stream, ops: i32 in *op, ops_len: i32 len, accepted: i32 out *u32).
	Submit(stream uint64, ops *Op, opsLen uint32, accepted *uint32) Errno
	// SharePublish is share_publish(name: i32 in *u8, name_len: i32 len, epoch: i64 as u64, buffer: i64 buffer, offset: i64 size, bytes: i64 size).
	SharePublish(name string, epoch uint64, buffer uint64, offset int64, bytes int64) Errno
	// ShareLookup is share_lookup(peer: i32 rank, name: i32 in *u8, name_len: i32 len, epoch: i64 as u64, timeout: i64 timeout, buffer: i32 out *u64, bytes: i32 out *u64).
	ShareLookup(peer uint32, name string, epoch uint64, timeout int64, buffer *uint64, bytes *uint64) Errno
	// Barrier is barrier(timeout: i64 timeout).
	Barrier(timeout int64) Errno
	// Tag is tag(collective: i32 as u32, chunk: i32 as u32, slice: i32 as u32, flow: i32 as u32, step: i32 as u32, message: i32 as u32).
	Tag(collective uint32, chunk uint32, slice uint32, flow uint32, step uint32, message uint32) Errno
	// CollectiveBegin is collective_begin(collective: i32 in *collective, sequence: i32 out *u32).
	CollectiveBegin(collective *Collective, sequence *uint32) Errno
	// CollectiveEnd is collective_end(sequence: i32 as u32).
	CollectiveEnd(sequence uint32) Errno
	// MarkBegin is mark_begin(name: i32 in *u8, name_len: i32 len, mark: i32 out *u64).
	MarkBegin(name string, mark *uint64) Errno
	// MarkEnd is mark_end(mark: i64 as u64).
	MarkEnd(mark uint64) Errno
	// CommWorld is comm_world(timeout: i64 timeout, comm: i32 out *u64).
	CommWorld(timeout int64, comm *uint64) Errno
	// CommSplit is comm_split(parent: i64 comm, color: i32, key: i32, timeout: i64 timeout, comm: i32 out *u64).
	CommSplit(parent uint64, color int32, key int32, timeout int64, comm *uint64) Errno
	// CommFree is comm_free(comm: i64 comm).
	CommFree(comm uint64) Errno
	// CommInfo is comm_info(comm: i64 comm, info: i32 out *comm).
	CommInfo(comm uint64, info *Comm) Errno
	// CommWorldRank is comm_world_rank(comm: i64 comm, rank: i32 as u32, world_rank: i32 out *u32).
	CommWorldRank(comm uint64, rank uint32, worldRank *uint32) Errno
	// Collective is collective(stream: i64 stream, call: i32 in *call).
	Collective(stream uint64, call *Call) Errno
	// CollectiveGroup is collective_group(stream: i64 stream, calls: i32 in *call, calls_len: i32 len).
	CollectiveGroup(stream uint64, calls *Call, callsLen uint32) Errno
	// Gemm is gemm(stream: i64 stream, gemm: i32 in *gemm).
	Gemm(stream uint64, gemm *Gemm) Errno
	// BufferVerifyReduced is buffer_verify_reduced(stream: i64 stream, buffer: i64 buffer, offset: i64 size, bytes: i64 size, dtype: i32 enum dtype, redop: i32 enum redop, seeds: i32 in *u64, seeds_len: i32 len, pattern_offset: i64 size, result: i32 out *verify_result).
	BufferVerifyReduced(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, redop uint32, seeds *uint64, seedsLen uint32, patternOffset int64, result *VerifyResult) Errno
	// CopyBox is copy_box(stream: i64 stream, box: i32 in *box).
	CopyBox(stream uint64, box *Box) Errno
	// PipelineCreate is pipeline_create(params: i32 in *pipeline, pipeline: i32 out *u64).
	PipelineCreate(params *Pipeline, pipeline *uint64) Errno
	// PipelineRanks is pipeline_ranks(pipeline: i64 pipeline, ranks: i32 in *u32, ranks_len: i32 len).
	PipelineRanks(pipeline uint64, ranks *uint32, ranksLen uint32) Errno
	// PipelineAdd is pipeline_add(pipeline: i64 pipeline, entries: i32 in *pipeline_entry, entries_len: i32 len).
	PipelineAdd(pipeline uint64, entries *PipelineEntry, entriesLen uint32) Errno
	// PipelineBuild is pipeline_build(pipeline: i64 pipeline, plan: i32 out *pipeline_plan).
	PipelineBuild(pipeline uint64, plan *PipelinePlan) Errno
	// PipelineBuckets is pipeline_buckets(pipeline: i64 pipeline, first: i32 as u32, buckets: i32 out *pipeline_bucket, buckets_len: i32 len, described: i32 out *u32).
	PipelineBuckets(pipeline uint64, first uint32, buckets *PipelineBucket, bucketsLen uint32, described *uint32) Errno
	// PipelineOrder is pipeline_order(pipeline: i64 pipeline, order: i32 in *u32, order_len: i32 len).
	PipelineOrder(pipeline uint64, order *uint32, orderLen uint32) Errno
	// PipelineAgree is pipeline_agree(pipeline: i64 pipeline, timeout: i64 timeout).
	PipelineAgree(pipeline uint64, timeout int64) Errno
	// PipelineStart is pipeline_start(pipeline: i64 pipeline, streams: i32 in *u64, streams_len: i32 len).
	PipelineStart(pipeline uint64, streams *uint64, streamsLen uint32) Errno
	// PipelinePoll is pipeline_poll(pipeline: i64 pipeline, status: i32 out *pipeline_status).
	PipelinePoll(pipeline uint64, status *PipelineStatus) Errno
	// PipelineWait is pipeline_wait(pipeline: i64 pipeline, timeout: i64 timeout, status: i32 out *pipeline_status).
	PipelineWait(pipeline uint64, timeout int64, status *PipelineStatus) Errno
	// PipelineAdmit is pipeline_admit(pipeline: i64 pipeline, limit: i32 as u32).
	PipelineAdmit(pipeline uint64, limit uint32) Errno
	// PipelineStats is pipeline_stats(pipeline: i64 pipeline, stats: i32 out *pipeline_stats).
	PipelineStats(pipeline uint64, stats *PipelineStats) Errno
	// PipelineDestroy is pipeline_destroy(pipeline: i64 pipeline).
	PipelineDestroy(pipeline uint64) Errno
}

// Host is the way to the host's functions. Where no host is, Calls stands in.
type Host struct{ Calls Calls }

// World fills in what this rank is told of the world: its rank, the size, the seed, the device's limits.
//
// It returns ok, fault.
func (h Host) World(info *World) Errno { return h.calls().World(info) }

// ClockNow reads the run's clock, whose zero all ranks of a node share; virtual time on sim.
//
// It returns ok, fault.
func (h Host) ClockNow(nanos *int64) Errno { return h.calls().ClockNow(nanos) }

// LastError copies the text of the last failed call of this rank, cut to text_len bytes, and gives its whole length; 0 if none failed.
//
// It returns ok, fault.
func (h Host) LastError(text *uint8, textLen uint32, textBytes *uint32) Errno {
	return h.calls().LastError(text, textLen, textBytes)
}

// Abort ends all ranks, the run's exit code being code (1 to 95), after printing text; it does not return if the arguments are good.
//
// It returns ok, fault, invalid.
func (h Host) Abort(code uint32, text string) Errno { return h.calls().Abort(code, text) }

// BufferAlloc allocates zeroed device memory, aligned to 256 bytes; 0 bytes is a valid size.
//
// It returns ok, fault, invalid, no_memory, limit.
func (h Host) BufferAlloc(bytes int64, buffer *uint64) Errno {
	return h.calls().BufferAlloc(bytes, buffer)
}

// BufferFree frees a buffer, own or looked up; submitted operations that use it still finish, later ones fail with stale, at peers too.
//
// It returns ok, bad_handle, stale.
func (h Host) BufferFree(buffer uint64) Errno { return h.calls().BufferFree(buffer) }

// BufferSize gives the size of a buffer.
//
// It returns ok, fault, bad_handle, stale.
func (h Host) BufferSize(buffer uint64, bytes *uint64) Errno {
	return h.calls().BufferSize(buffer, bytes)
}

// BufferRead copies from a buffer to the guest's memory, now; it does not wait for streams.
//
// It returns ok, fault, bad_handle, stale, range, unsupported.
func (h Host) BufferRead(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno {
	return h.calls().BufferRead(buffer, offset, data, dataLen)
}

// BufferWrite copies from the guest's memory to a buffer, now; it does not wait for streams.
//
// It returns ok, fault, bad_handle, stale, range, unsupported.
func (h Host) BufferWrite(buffer uint64, offset int64, data *uint8, dataLen uint32) Errno {
	return h.calls().BufferWrite(buffer, offset, data, dataLen)
}

// BufferFill fills a region with the pattern of the seed, in stream order.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (h Host) BufferFill(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64) Errno {
	return h.calls().BufferFill(stream, buffer, offset, bytes, dtype, seed)
}

// BufferVerify compares a region with the pattern of the seed from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs.
//
// It returns ok, fault, bad_handle, stale, range, invalid, timed_out, failed.
func (h Host) BufferVerify(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, seed uint64, patternOffset int64, result *VerifyResult) Errno {
	return h.calls().BufferVerify(stream, buffer, offset, bytes, dtype, seed, patternOffset, result)
}

// BufferDigest computes a region's digest after all earlier operations of the stream and, if name is not empty, reports it under that name in the run's result.
//
// It returns ok, fault, bad_handle, stale, range, invalid, limit, timed_out, failed.
func (h Host) BufferDigest(stream uint64, buffer uint64, offset int64, bytes int64, name string, digest *Digest) Errno {
	return h.calls().BufferDigest(stream, buffer, offset, bytes, name, digest)
}

// StreamCreate makes a stream: operations of one stream are carried out in order, streams overlap.
//
// It returns ok, fault, limit.
func (h Host) StreamCreate(stream *uint64) Errno { return h.calls().StreamCreate(stream) }

// StreamDestroy waits for a stream and gives it back.
//
// It returns ok, bad_handle, stale, failed.
func (h Host) StreamDestroy(stream uint64) Errno { return h.calls().StreamDestroy(stream) }

// StreamSync waits until everything submitted to a stream is complete.
//
// It returns ok, bad_handle, stale, timed_out, failed.
func (h Host) StreamSync(stream uint64, timeout int64) Errno {
	return h.calls().StreamSync(stream, timeout)
}

// StreamQuery says whether everything submitted to a stream is complete (1) or not (0), without waiting.
//
// It returns ok, fault, bad_handle, stale, failed.
func (h Host) StreamQuery(stream uint64, done *uint32) Errno {
	return h.calls().StreamQuery(stream, done)
}

// EventCreate makes an event; it counts as complete until it is recorded.
//
// It returns ok, fault, limit.
func (h Host) EventCreate(event *uint64) Errno { return h.calls().EventCreate(event) }

// EventDestroy gives an event back.
//
// It returns ok, bad_handle, stale.
func (h Host) EventDestroy(event uint64) Errno { return h.calls().EventDestroy(event) }

// EventRecord marks an event complete when all earlier operations of the stream are.
//
// It returns ok, bad_handle, stale, failed.
func (h Host) EventRecord(stream uint64, event uint64) Errno {
	return h.calls().EventRecord(stream, event)
}

// EventWait holds a stream until the event's latest record is complete.
//
// It returns ok, bad_handle, stale, failed.
func (h Host) EventWait(stream uint64, event uint64) Errno { return h.calls().EventWait(stream, event) }

// EventSync waits in the guest until the event's latest record is complete.
//
// It returns ok, bad_handle, stale, timed_out, failed.
func (h Host) EventSync(event uint64, timeout int64) Errno {
	return h.calls().EventSync(event, timeout)
}

// EventQuery says whether the event's latest record is complete (1) or not (0), without waiting.
//
// It returns ok, fault, bad_handle, stale.
func (h Host) EventQuery(event uint64, done *uint32) Errno { return h.calls().EventQuery(event, done) }

// Copy copies between buffers of this rank.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (h Host) Copy(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno {
	return h.calls().Copy(stream, dst, dstOffset, src, srcOffset, bytes)
}

// Put copies from a buffer of this rank to one looked up at a peer.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (h Host) Put(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno {
	return h.calls().Put(stream, dst, dstOffset, src, srcOffset, bytes)
}

// Get copies from a buffer looked up at a peer to one of this rank.
//
// It returns ok, bad_handle, stale, range, invalid, failed.
func (h Host) Get(stream uint64, dst uint64, dstOffset int64, src uint64, srcOffset int64, bytes int64) Errno {
	return h.calls().Get(stream, dst, dstOffset, src, srcOffset, bytes)
}

// Signal raises this rank's slot at a peer to value, if it is lower, after all earlier operations of the stream are visible to the peer.
//
// It returns ok, bad_handle, stale, invalid, no_rank, failed.
func (h Host) Signal(stream uint64, peer uint32, slot uint32, value uint64) Errno {
	return h.calls().Signal(stream, peer, slot, value)
}

// Wait holds a stream until the slot that a peer raises here is at least value.
//
// It returns ok, bad_handle, stale, invalid, no_rank, failed.
func (h Host) Wait(stream uint64, peer uint32, slot uint32, value uint64) Errno {
	return h.calls().Wait(stream, peer, slot, value)
}

// SignalValue reads the slot that a peer raises here, without waiting.
//
// It returns ok, fault, invalid, no_rank.
func (h Host) SignalValue(peer uint32, slot uint32, value *uint64) Errno {
	return h.calls().SignalValue(peer, slot, value)
}

// Send sends bytes to the matching recv of a peer on the same channel; consecutive sends and receives of a stream make progress together.
//
// It returns ok, bad_handle, stale, range, invalid, no_rank, failed.
func (h Host) Send(stream uint64, peer uint32, src uint64, srcOffset int64, bytes int64, channel uint32) Errno {
	return h.calls().Send(stream, peer, src, srcOffset, bytes, channel)
}

// Recv receives the bytes of the matching send of a peer on the same channel; different lengths fail with mismatch.
//
// It returns ok, bad_handle, stale, range, invalid, no_rank, failed.
func (h Host) Recv(stream uint64, peer uint32, dst uint64, dstOffset int64, bytes int64, channel uint32) Errno {
	return h.calls().Recv(stream, peer, dst, dstOffset, bytes, channel)
}

// Reduce combines 1 to 8 sources, peers' too, element by element into dst; takes an op structure, whose kind is ignored.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, failed.
func (h Host) Reduce(stream uint64, op *Op) Errno { return h.calls().Reduce(stream, op) }

// Submit submits operations in order; accepted, written on failure too, says how many were taken before the first bad one.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, failed, unsupported.
func (h Host) Submit(stream uint64, ops *Op, opsLen uint32, accepted *uint32) Errno {
	return h.calls().Submit(stream, ops, opsLen, accepted)
}

// SharePublish publishes a region of an own buffer under a name and an epoch, at once and without waiting for anyone; a name and epoch can be published once.
//
// It returns ok, fault, bad_handle, stale, range, invalid, limit, failed.
func (h Host) SharePublish(name string, epoch uint64, buffer uint64, offset int64, bytes int64) Errno {
	return h.calls().SharePublish(name, epoch, buffer, offset, bytes)
}

// ShareLookup gives access to the region that a peer publishes under a name and an epoch, waiting for it if need be; asking again costs no message.
//
// It returns ok, fault, stale, invalid, no_rank, limit, timed_out, failed.
func (h Host) ShareLookup(peer uint32, name string, epoch uint64, timeout int64, buffer *uint64, bytes *uint64) Errno {
	return h.calls().ShareLookup(peer, name, epoch, timeout, buffer, bytes)
}

// Barrier waits until every rank has called it as often as this one; it says nothing about streams.
//
// It returns ok, timed_out.
func (h Host) Barrier(timeout int64) Errno { return h.calls().Barrier(timeout) }

// Tag sets where the following copy, put, get, signal, wait, send, recv and buffer_fill calls of this rank belong; op structures carry their own.
//
// It returns ok, invalid.
func (h Host) Tag(collective uint32, chunk uint32, slice uint32, flow uint32, step uint32, message uint32) Errno {
	return h.calls().Tag(collective, chunk, slice, flow, step, message)
}

// CollectiveBegin begins a collective in the trace and gives its sequence number, from 1, by which operations say that they belong to it.
//
// It returns ok, fault, invalid, limit.
func (h Host) CollectiveBegin(collective *Collective, sequence *uint32) Errno {
	return h.calls().CollectiveBegin(collective, sequence)
}

// CollectiveEnd says that all operations of a collective have been submitted; it is complete when they are.
//
// It returns ok, not_found.
func (h Host) CollectiveEnd(sequence uint32) Errno { return h.calls().CollectiveEnd(sequence) }

// MarkBegin begins a named span of the guest's own in the trace.
//
// It returns ok, fault, invalid, limit.
func (h Host) MarkBegin(name string, mark *uint64) Errno { return h.calls().MarkBegin(name, mark) }

// MarkEnd ends a named span.
//
// It returns ok, not_found.
func (h Host) MarkEnd(mark uint64) Errno { return h.calls().MarkEnd(mark) }

// CommWorld gives the communicator of all ranks, which are numbered as in the world; every rank calls it, and later calls give the same handle.
//
// It returns ok, fault, limit, timed_out, failed, mismatch, unsupported.
func (h Host) CommWorld(timeout int64, comm *uint64) Errno { return h.calls().CommWorld(timeout, comm) }

// CommSplit makes communicators of the ranks of one that give the same color, ordered by key and then by rank; every rank of it calls this, and one with a negative color gets 0.
//
// It returns ok, fault, bad_handle, stale, invalid, limit, timed_out, failed, mismatch, unsupported.
func (h Host) CommSplit(parent uint64, color int32, key int32, timeout int64, comm *uint64) Errno {
	return h.calls().CommSplit(parent, color, key, timeout, comm)
}

// CommFree gives a communicator back; calls already submitted still finish. mismatch: other ranks have called something else meanwhile; the communicator is given back all the same.
//
// It returns ok, bad_handle, stale, mismatch.
func (h Host) CommFree(comm uint64) Errno { return h.calls().CommFree(comm) }

// CommInfo fills in what this rank is told of a communicator.
//
// It returns ok, fault, bad_handle, stale.
func (h Host) CommInfo(comm uint64, info *Comm) Errno { return h.calls().CommInfo(comm, info) }

// CommWorldRank gives the rank in the world of a rank of a communicator.
//
// It returns ok, fault, bad_handle, stale, no_rank.
func (h Host) CommWorldRank(comm uint64, rank uint32, worldRank *uint32) Errno {
	return h.calls().CommWorldRank(comm, rank, worldRank)
}

// Collective submits a collective; it begins and ends one in the trace by itself. Ranks must agree on all but their buffers; an all_to_all is in place on all of them or on none.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit, failed, unsupported.
func (h Host) Collective(stream uint64, call *Call) Errno { return h.calls().Collective(stream, call) }

// CollectiveGroup submits collectives that make progress together: the order of calls on different communicators need not be the same on all ranks. A structure that is wrong refuses all of them; the device may refuse some after others were submitted.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit, failed, unsupported.
func (h Host) CollectiveGroup(stream uint64, calls *Call, callsLen uint32) Errno {
	return h.calls().CollectiveGroup(stream, calls, callsLen)
}

// Gemm multiplies matrices, in stream order.
//
// It returns ok, fault, bad_handle, stale, range, invalid, failed, unsupported.
func (h Host) Gemm(stream uint64, gemm *Gemm) Errno { return h.calls().Gemm(stream, gemm) }

// BufferVerifyReduced compares a region with the reduction of the patterns of all seeds from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs by more than rounding explains.
//
// It returns ok, fault, bad_handle, stale, range, invalid, timed_out, failed, unsupported.
func (h Host) BufferVerifyReduced(stream uint64, buffer uint64, offset int64, bytes int64, dtype uint32, redop uint32, seeds *uint64, seedsLen uint32, patternOffset int64, result *VerifyResult) Errno {
	return h.calls().BufferVerifyReduced(stream, buffer, offset, bytes, dtype, redop, seeds, seedsLen, patternOffset, result)
}

// CopyBox copies a box, rows of equal length at equal distances, between buffers of this rank, in stream order.
//
// It returns ok, fault, bad_handle, stale, range, invalid, failed.
func (h Host) CopyBox(stream uint64, box *Box) Errno { return h.calls().CopyBox(stream, box) }

// PipelineCreate makes a bucket pipeline, which all ranks of the world make alike; budgets and buffers are the rank's own.
//
// It returns ok, fault, invalid, limit.
func (h Host) PipelineCreate(params *Pipeline, pipeline *uint64) Errno {
	return h.calls().PipelineCreate(params, pipeline)
}

// PipelineRanks appends to the list of ranks that entries name their destinations and parts in.
//
// It returns ok, fault, bad_handle, stale, invalid, no_rank, limit.
func (h Host) PipelineRanks(pipeline uint64, ranks *uint32, ranksLen uint32) Errno {
	return h.calls().PipelineRanks(pipeline, ranks, ranksLen)
}

// PipelineAdd appends entries; every rank appends all of them, in the same order, with buffers where it has a part in them. A bad one refuses all.
//
// It returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit.
func (h Host) PipelineAdd(pipeline uint64, entries *PipelineEntry, entriesLen uint32) Errno {
	return h.calls().PipelineAdd(pipeline, entries, entriesLen)
}

// PipelineBuild joins the entries to buckets, which takes no more of them from then on, and says what came of it.
//
// It returns ok, fault, bad_handle, stale, invalid, limit.
func (h Host) PipelineBuild(pipeline uint64, plan *PipelinePlan) Errno {
	return h.calls().PipelineBuild(pipeline, plan)
}

// PipelineBuckets describes buckets from the first-th on, in the order in which they were formed, and says how many it has described.
//
// It returns ok, fault, bad_handle, stale, invalid.
func (h Host) PipelineBuckets(pipeline uint64, first uint32, buckets *PipelineBucket, bucketsLen uint32, described *uint32) Errno {
	return h.calls().PipelineBuckets(pipeline, first, buckets, bucketsLen, described)
}

// PipelineOrder sets the order in which buckets are admitted, the same on all ranks: the number of each bucket once. Without it, channels take turns.
//
// It returns ok, fault, bad_handle, stale, invalid.
func (h Host) PipelineOrder(pipeline uint64, order *uint32, orderLen uint32) Errno {
	return h.calls().PipelineOrder(pipeline, order, orderLen)
}

// PipelineAgree compares the plan with all other ranks', which call it too: nothing moves before they agree. mismatch: last_error names the first difference.
//
// It returns ok, bad_handle, stale, invalid, timed_out, failed, mismatch.
func (h Host) PipelineAgree(pipeline uint64, timeout int64) Errno {
	return h.calls().PipelineAgree(pipeline, timeout)
}

// PipelineStart begins to move all buckets, on streams that have nothing else to do until they have arrived; can be repeated after that. It begins a collective in the trace.
//
// It returns ok, fault, bad_handle, stale, invalid, no_memory, limit, failed.
func (h Host) PipelineStart(pipeline uint64, streams *uint64, streamsLen uint32) Errno {
	return h.calls().PipelineStart(pipeline, streams, streamsLen)
}

// PipelinePoll does what can be done now, without waiting, and says how far the rank is.
//
// It returns ok, fault, bad_handle, stale, invalid, no_memory, failed, mismatch.
func (h Host) PipelinePoll(pipeline uint64, status *PipelineStatus) Errno {
	return h.calls().PipelinePoll(pipeline, status)
}

// PipelineWait waits until all buckets have arrived on all ranks, or until this rank has admitted all that pipeline_admit lets it. failed: a bucket failed on some rank; last_error says which.
//
// It returns ok, fault, bad_handle, stale, invalid, no_memory, timed_out, failed, mismatch.
func (h Host) PipelineWait(pipeline uint64, timeout int64, status *PipelineStatus) Errno {
	return h.calls().PipelineWait(pipeline, timeout, status)
}

// PipelineAdmit under the scripted policy, lets the rank admit the buckets before place limit of the order, and no others; a limit never goes back. It fails as pipeline_wait does.
//
// It returns ok, bad_handle, stale, invalid, no_memory, failed, mismatch.
func (h Host) PipelineAdmit(pipeline uint64, limit uint32) Errno {
	return h.calls().PipelineAdmit(pipeline, limit)
}

// PipelineStats writes the statistics of this rank's present or last run of the pipeline.
//
// It returns ok, fault, bad_handle, stale, invalid.
func (h Host) PipelineStats(pipeline uint64, stats *PipelineStats) Errno {
	return h.calls().PipelineStats(pipeline, stats)
}

// PipelineDestroy gives a pipeline and its staging memory back; one that is under way cannot be.
//
// It returns ok, bad_handle, stale, invalid, failed.
func (h Host) PipelineDestroy(pipeline uint64) Errno { return h.calls().PipelineDestroy(pipeline) }
