/* Code generated from host/abi by "go generate ./host/abi". DO NOT EDIT. */

/*
 * ccrun.h: what a guest of ccrun can call, from C.
 *
 * Every function returns an errno (ccrun_errno_t, CCRUN_OK is 0); results go
 * through out pointers, written only on success. Handles are 64-bit numbers, 0
 * is never one. Sizes and offsets are in bytes, times in nanoseconds, and a
 * negative timeout waits for ever. Build with
 *
 *   clang --target=wasm32-wasi --sysroot=/usr -O2 -g -I guest-sdk/c -c w.c -o w.o
 *   clang --target=wasm32-wasi --sysroot=/usr w.o -o w.wasm
 *
 * (two steps, so that no optimiser strips the names from the module), or
 * freestanding with --target=wasm32 -nostdlib.
 */
#ifndef CCRUN_H
#define CCRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define CCRUN_STATIC_ASSERT static_assert
#else
#define CCRUN_STATIC_ASSERT _Static_assert
#endif

#ifdef __wasm__
#define CCRUN_IMPORT(name) __attribute__((import_module("ccrun_v1"), import_name(name)))
#else
#define CCRUN_IMPORT(name)
#endif

/* Version of the table that this header was generated from. */
#define CCRUN_ABI_VERSION 3
#define CCRUN_FOREVER (-1) /* timeout: wait for ever */

typedef uint32_t ccrun_errno_t;

enum {
  CCRUN_OK = 0, /* success */
  CCRUN_FAULT = 1, /* a pointer is null, unaligned or reaches outside the guest's memory */
  CCRUN_BAD_HANDLE = 2, /* not a handle, or one of another kind */
  CCRUN_STALE = 3, /* the handle was valid and what it named has been freed, here or by the peer that owns it */
  CCRUN_RANGE = 4, /* an offset and a size reach outside the buffer */
  CCRUN_INVALID = 5, /* a value that the parameter cannot have */
  CCRUN_NO_RANK = 6, /* no such rank */
  CCRUN_NO_MEMORY = 7, /* the device's memory or this rank's share of it is used up */
  CCRUN_LIMIT = 8, /* more handles, streams, names or slots than allowed */
  CCRUN_TIMED_OUT = 9, /* the deadline passed */
  CCRUN_FAILED = 10, /* an earlier operation of the stream failed; last_error says which */
  CCRUN_MISMATCH = 11, /* ranks disagree on what they do together; one such failure ends the run with 113, whatever the guest makes of it */
  CCRUN_UNSUPPORTED = 12, /* this device cannot do it */
  CCRUN_NOT_FOUND = 13, /* no such thing */
};

/* ccrun_errno_name is the name of an errno. */
static inline const char *ccrun_errno_name(ccrun_errno_t e) {
  switch (e) {
  case CCRUN_OK: return "ok";
  case CCRUN_FAULT: return "fault";
  case CCRUN_BAD_HANDLE: return "bad_handle";
  case CCRUN_STALE: return "stale";
  case CCRUN_RANGE: return "range";
  case CCRUN_INVALID: return "invalid";
  case CCRUN_NO_RANK: return "no_rank";
  case CCRUN_NO_MEMORY: return "no_memory";
  case CCRUN_LIMIT: return "limit";
  case CCRUN_TIMED_OUT: return "timed_out";
  case CCRUN_FAILED: return "failed";
  case CCRUN_MISMATCH: return "mismatch";
  case CCRUN_UNSUPPORTED: return "unsupported";
  case CCRUN_NOT_FOUND: return "not_found";
  default: return "unknown";
  }
}

/* operations of a stream */
enum {
  CCRUN_KIND_COPY = 1,
  CCRUN_KIND_PUT = 2,
  CCRUN_KIND_GET = 3,
  CCRUN_KIND_SIGNAL = 4,
  CCRUN_KIND_WAIT = 5,
  CCRUN_KIND_SEND = 6,
  CCRUN_KIND_RECV = 7,
  CCRUN_KIND_REDUCE = 8,
  CCRUN_KIND_FILL = 9,
  CCRUN_KIND_VERIFY = 10,
  CCRUN_KIND_DIGEST = 11,
  CCRUN_KIND_EVENT_RECORD = 12,
  CCRUN_KIND_EVENT_WAIT = 13,
  CCRUN_KIND_GEMM = 14,
  CCRUN_KIND_CALL = 15,
  CCRUN_KIND_COPY_BOX = 16,
  CCRUN_KIND_GET_BOX = 17,
};

/* element types */
enum {
  CCRUN_DTYPE_U8 = 0,
  CCRUN_DTYPE_I32 = 1,
  CCRUN_DTYPE_I64 = 2,
  CCRUN_DTYPE_F16 = 3,
  CCRUN_DTYPE_BF16 = 4,
  CCRUN_DTYPE_F32 = 5,
  CCRUN_DTYPE_F64 = 6,
};

/* reduction operators */
enum {
  CCRUN_REDOP_SUM = 0,
  CCRUN_REDOP_PROD = 1,
  CCRUN_REDOP_MIN = 2,
  CCRUN_REDOP_MAX = 3,
  CCRUN_REDOP_AVG = 4,
};

/* collectives, by nccl-tests' bandwidth formulas */
enum {
  CCRUN_COLLECTIVE_CUSTOM = 0,
  CCRUN_COLLECTIVE_ALL_REDUCE = 1,
  CCRUN_COLLECTIVE_ALL_GATHER = 2,
  CCRUN_COLLECTIVE_REDUCE_SCATTER = 3,
  CCRUN_COLLECTIVE_BROADCAST = 4,
  CCRUN_COLLECTIVE_REDUCE = 5,
  CCRUN_COLLECTIVE_GATHER = 6,
  CCRUN_COLLECTIVE_SCATTER = 7,
  CCRUN_COLLECTIVE_ALL_TO_ALL = 8,
  CCRUN_COLLECTIVE_ALL_TO_ALL_V = 9,
  CCRUN_COLLECTIVE_SEND_RECV = 10,
  CCRUN_COLLECTIVE_BARRIER = 11,
};

/* what carries out operations */
enum {
  CCRUN_DEVICE_CPU = 0,
  CCRUN_DEVICE_CUDA = 1,
  CCRUN_DEVICE_SIM = 2,
};

/* when a pipeline admits buckets, within its limits: as soon as it can; a window at a time; one at a time; when all receivers have granted a credit; when the guest says so */
enum {
  CCRUN_ADMISSION_ALL_AT_ONCE = 0,
  CCRUN_ADMISSION_WINDOWED = 1,
  CCRUN_ADMISSION_SERIALIZED = 2,
  CCRUN_ADMISSION_CREDITS = 3,
  CCRUN_ADMISSION_SCRIPTED = 4,
};

/* what becomes of a bucket that needs more memory than the budget: it has the rank to itself, or the pipeline is refused */
enum {
  CCRUN_OVERSIZE_ALONE = 0,
  CCRUN_OVERSIZE_REFUSE = 1,
};

/* when a bucket is written to where it belongs: when it has arrived; when all earlier ones of the order have arrived on all ranks; or when all earlier ones have been written on all ranks, so that nothing follows one that failed */
enum {
  CCRUN_PUBLISH_AT_ONCE = 0,
  CCRUN_PUBLISH_IN_ORDER = 1,
  CCRUN_PUBLISH_ONE_BY_ONE = 2,
};

/* how a bucket travels: packed, from its source to each destination; packed, from destination to destination; entry by entry, from where they lie; or not at all: destinations copy it from the source's memory, which they must be able to reach */
enum {
  CCRUN_TRANSPORT_PACKED = 0,
  CCRUN_TRANSPORT_CHAIN = 1,
  CCRUN_TRANSPORT_SCATTERED = 2,
  CCRUN_TRANSPORT_DIRECT = 3,
};

/* why a pipeline's next bucket is not admitted */
enum {
  CCRUN_STALL_NONE = 0,
  CCRUN_STALL_ORDER = 1,
  CCRUN_STALL_CHANNEL = 2,
  CCRUN_STALL_BUCKETS = 3,
  CCRUN_STALL_BYTES = 4,
  CCRUN_STALL_POLICY = 5,
  CCRUN_STALL_CREDIT = 6,
  CCRUN_STALL_STREAMS = 7,
  CCRUN_STALL_OVERSIZE = 8,
};

/* ccrun_world_t: what a rank is told of the world it runs in */
typedef struct {
  uint32_t rank; /* this rank, from 0 */
  uint32_t size; /* number of ranks */
  uint32_t local_rank; /* this rank among those of its node */
  uint32_t local_size; /* number of ranks of its node */
  uint64_t seed; /* the run's seed, the same on all ranks */
  uint32_t abi_version; /* the host's version of this table */
  uint32_t device; /* what carries out operations (enumeration device) */
  uint32_t signal_slots; /* signal slots per pair of ranks */
  uint32_t send_channels; /* send channels per pair of ranks */
  uint64_t buffer_limit; /* device memory that this rank may allocate, in bytes */
} ccrun_world_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_world_t) == 48, "layout of world");

/* ccrun_view_t: a place in a buffer */
typedef struct {
  uint64_t buffer; /* buffer handle */
  uint64_t offset; /* bytes from its start */
} ccrun_view_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_view_t) == 16, "layout of view");

/* ccrun_op_t: one operation of a stream; fields that its kind does not use are ignored */
typedef struct {
  uint32_t kind; /* what to do (enumeration kind) */
  uint32_t peer; /* the other rank of signal, wait, send, recv */
  uint64_t dst; /* buffer that is written; of verify and digest: read */
  uint64_t dst_offset; /* bytes from its start */
  uint64_t src; /* buffer that is read */
  uint64_t src_offset; /* bytes from its start; of fill and verify: first byte of the pattern */
  uint64_t bytes; /* how many bytes */
  uint64_t value; /* of signal and wait: the sequence number; of fill and verify: the seed */
  uint32_t slot; /* of signal and wait: the slot; of send and recv: the channel */
  uint8_t dtype; /* element type of reduce, fill, verify (enumeration dtype) */
  uint8_t redop; /* operator of reduce (enumeration redop) */
  uint8_t source_count; /* of reduce: number of sources, 1 to 8 */
  uint8_t reserved; /* zero */
  uint32_t sources; /* of reduce: pointer to that many views; of gemm and call: pointer to a structure of that name; of copy_box and get_box: to a box */
  uint32_t collective; /* collective that it belongs to, as given by collective_begin; 0 for none */
  uint32_t chunk; /* rank-chunk of the collective */
  uint32_t slice; /* pipelined slice of the chunk */
  uint16_t flow; /* flow of the chunk */
  uint16_t step; /* step of the algorithm */
  uint32_t message; /* transport message of the flow */
  uint64_t event; /* event handle of event_record and event_wait */
} ccrun_op_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_op_t) == 96, "layout of op");

/* ccrun_collective_t: what a collective is, for traces and summaries */
typedef struct {
  uint32_t op; /* which collective (enumeration collective) */
  uint8_t dtype; /* element type (enumeration dtype) */
  uint8_t redop; /* operator, of reducing collectives (enumeration redop) */
  uint16_t reserved; /* zero */
  uint64_t bytes; /* size as nccl-tests counts it: the whole array, so n times one rank's share for all_gather, reduce_scatter and all_to_all */
  uint32_t slice_bytes; /* size of a pipelined slice, 0 if chunks are not sliced */
  uint32_t ranks; /* number of ranks that take part, 0 for all */
  uint32_t algorithm; /* pointer to the algorithm's name */
  uint32_t algorithm_len; /* its length in bytes, at most 63 */
  uint32_t group; /* communicator, 0 for the world */
  uint32_t warmup; /* 1 to leave it out of the statistics */
  uint64_t reserved2; /* zero */
} ccrun_collective_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_collective_t) == 48, "layout of collective");

/* ccrun_verify_result_t: what verify found */
typedef struct {
  uint64_t mismatches; /* elements that differ */
  int64_t first_bad; /* offset in bytes, within the region, of the first one, -1 if none */
} ccrun_verify_result_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_verify_result_t) == 16, "layout of verify_result");

/* ccrun_digest_t: a 128-bit digest */
typedef struct {
  uint64_t low; /* first half */
  uint64_t high; /* second half */
} ccrun_digest_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_digest_t) == 16, "layout of digest");

/* ccrun_comm_t: what a rank is told of a communicator */
typedef struct {
  uint32_t rank; /* this rank within it, from 0 */
  uint32_t size; /* number of its ranks */
  uint32_t group; /* its number, the same on all its ranks, by which records name it; 0 is the world's */
  uint32_t reserved; /* zero */
} ccrun_comm_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_comm_t) == 16, "layout of comm");

/* ccrun_call_t: one collective on a communicator, which all its ranks call alike; counts are elements: of the whole vector for all_reduce, broadcast and reduce, of what one rank gives to or gets from one other for the rest */
typedef struct {
  uint64_t comm; /* communicator handle */
  uint32_t op; /* which collective (enumeration collective) */
  uint32_t root; /* rank within the communicator, of broadcast, reduce, gather and scatter */
  uint8_t dtype; /* element type (enumeration dtype) */
  uint8_t redop; /* operator, of reducing collectives (enumeration redop) */
  uint16_t flags; /* bit 0: leave it out of the statistics (warm-up); the others zero */
  uint32_t slice_bytes; /* size of a pipelined slice, 0 to let the host choose */
  uint64_t count; /* elements; not used by all_to_all_v */
  uint64_t in; /* buffer that is read, 0 for in place: the input lies where the output goes */
  uint64_t in_offset; /* bytes from its start */
  uint64_t out; /* buffer that is written; where a rank gets nothing (reduce and gather beside the root) it may be 0 */
  uint64_t out_offset; /* bytes from its start */
  uint32_t algorithm; /* pointer to the name of the algorithm to use */
  uint32_t algorithm_len; /* its length in bytes, 0 to let the host choose */
  uint32_t send_counts; /* of all_to_all_v: pointer to a u64 for each rank of the communicator, elements to it */
  uint32_t send_offsets; /* where they begin in the input, in elements */
  uint32_t recv_counts; /* elements from each rank */
  uint32_t recv_offsets; /* where they go in the output, in elements */
  uint64_t reserved; /* zero */
} ccrun_call_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_call_t) == 96, "layout of call");

/* ccrun_gemm_t: a product of matrices, c = a b, all in rows without gaps */
typedef struct {
  uint64_t c; /* buffer of m rows and n columns, written */
  uint64_t c_offset; /* bytes from its start */
  uint64_t a; /* buffer of m rows and k columns */
  uint64_t a_offset; /* bytes from its start */
  uint64_t b; /* buffer of k rows and n columns */
  uint64_t b_offset; /* bytes from its start */
  uint32_t m; /* rows of a and c */
  uint32_t n; /* columns of b and c */
  uint32_t k; /* columns of a, rows of b */
  uint8_t dtype; /* element type: f32 or f64 (enumeration dtype) */
  uint8_t flags; /* bit 0: add the product to c; the others zero */
  uint16_t reserved; /* zero */
} ccrun_gemm_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_gemm_t) == 64, "layout of gemm");

/* ccrun_box_t: rows of equal length at equal distances, in planes at equal distances: part of an array of up to three dimensions; where a box is copied to must not overlap where it is copied from */
typedef struct {
  uint64_t dst; /* buffer that is written */
  uint64_t dst_offset; /* bytes from its start to the first row */
  uint64_t dst_row; /* bytes from the start of a row to that of the next, in dst */
  uint64_t dst_plane; /* bytes from the start of a plane to that of the next, in dst */
  uint64_t src; /* buffer that is read */
  uint64_t src_offset; /* bytes from its start to the first row */
  uint64_t src_row; /* bytes from the start of a row to that of the next, in src */
  uint64_t src_plane; /* bytes from the start of a plane to that of the next, in src */
  uint64_t planes; /* planes */
  uint64_t rows; /* rows of a plane */
  uint64_t row_bytes; /* bytes of a row */
  uint64_t reserved; /* zero */
} ccrun_box_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_box_t) == 96, "layout of box");

/* ccrun_pipeline_t: how a bucket pipeline works; what is marked (own) may differ between ranks */
typedef struct {
  uint64_t bucket_bytes; /* entries of a channel are joined until a bucket has so many bytes; an entry that has as many is a bucket of its own; 0: every entry is */
  uint64_t max_bytes; /* (own) staging memory that the rank's buckets may hold at a time, over all channels; 0 for no limit */
  uint32_t max_buckets; /* (own) buckets that the rank may have in flight, over all channels; 0 for no limit */
  uint32_t max_in_flight; /* (own) buckets that it may have in flight per channel; 0 for 2 */
  uint32_t policy; /* when buckets are admitted (enumeration admission) */
  uint32_t window; /* (own) of the windowed policy: buckets of a window */
  uint32_t oversize; /* what becomes of a bucket that needs more than max_bytes (enumeration oversize) */
  uint32_t publish; /* when what has arrived is written to where it belongs (enumeration publish) */
  uint32_t flags; /* bit 0: compare digests of each bucket; bit 1: leave the runs out of the statistics (warm-up); the others zero */
  uint32_t first_slot; /* it uses 4 signal slots from here on, which the guest does not raise itself once ranks agree */
  uint32_t first_channel; /* it uses send channels from here on */
  uint32_t channels; /* so many, 0 for all that there are */
  uint32_t name; /* pointer to the name in the trace */
  uint32_t name_len; /* its length in bytes, at most 63; 0 for bucket_pipeline */
  uint64_t reserved; /* zero */
  uint64_t reserved2; /* zero */
} ccrun_pipeline_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_pipeline_t) == 80, "layout of pipeline");

/* ccrun_pipeline_entry_t: a box that is to get from one rank to others; what is marked (own) counts on the ranks that have a part in it, and may differ */
typedef struct {
  uint32_t source; /* rank that has it, or that the parts are added up for */
  uint32_t dst_first; /* place of its first destination in the list of ranks */
  uint32_t dst_count; /* destinations, ascending; the source alone: it stays there */
  uint32_t part_first; /* place of the first of the ranks whose parts make it up */
  uint32_t part_count; /* how many, ascending and the source among them; 0 if the source has it whole */
  uint32_t tensor; /* number by which messages name it */
  uint32_t cell; /* part of the tensor, likewise; entries with parts are joined only within a cell if they stay at their source */
  uint8_t dtype; /* element type (enumeration dtype) */
  uint8_t redop; /* how parts are added up (enumeration redop) */
  uint8_t transport; /* how it travels (enumeration transport) */
  uint8_t reserved; /* zero */
  uint64_t planes; /* planes of the box */
  uint64_t rows; /* rows of a plane */
  uint64_t row_bytes; /* bytes of a row */
  uint64_t src; /* (own) buffer it is read from, at the source and where there are parts */
  uint64_t src_offset; /* (own) bytes to the first row */
  uint64_t src_row; /* (own) bytes from row to row */
  uint64_t src_plane; /* (own) bytes from plane to plane */
  uint64_t dst; /* (own) buffer it is written to, at destinations */
  uint64_t dst_offset; /* (own) bytes to the first row */
  uint64_t dst_row; /* (own) bytes from row to row */
  uint64_t dst_plane; /* (own) bytes from plane to plane */
  uint64_t reserved2; /* zero */
} ccrun_pipeline_entry_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_pipeline_entry_t) == 128, "layout of pipeline_entry");

/* ccrun_pipeline_plan_t: what the entries came to */
typedef struct {
  uint32_t entries; /* entries */
  uint32_t buckets; /* buckets */
  uint32_t channels; /* channels */
  uint32_t mine; /* buckets that this rank has a part in */
  uint32_t my_channels; /* channels of those */
  uint32_t reserved; /* zero */
  uint64_t bytes; /* of all entries */
  uint64_t largest; /* staging memory of the bucket that needs most on this rank */
  uint64_t hash; /* of the entries and their buckets, the same on all ranks */
} ccrun_pipeline_plan_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_pipeline_plan_t) == 48, "layout of pipeline_plan");

/* ccrun_pipeline_bucket_t: a bucket */
typedef struct {
  uint32_t bucket; /* its number */
  uint32_t channel; /* its channel's */
  uint32_t source; /* rank that it comes from */
  uint32_t destinations; /* how many ranks it goes to */
  uint32_t destination; /* the first of them, or the source */
  uint32_t parts; /* ranks whose parts are added up first, 0 for none */
  uint32_t entries; /* entries */
  uint32_t entry; /* the first of them */
  uint64_t bytes; /* of all of them */
  uint32_t mine; /* 1 if this rank has a part in it */
  uint32_t reserved; /* zero */
} ccrun_pipeline_bucket_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_pipeline_bucket_t) == 48, "layout of pipeline_bucket");

/* ccrun_pipeline_status_t: how far a rank is */
typedef struct {
  uint32_t mine; /* buckets that it has a part in */
  uint32_t admitted; /* of those, how many have been admitted */
  uint32_t finished; /* and how many are finished */
  uint32_t next; /* place in the order of the first that is not admitted; the number of all buckets if none is left */
  uint32_t published; /* so many buckets of the order have arrived, or been written if one by one, on all their ranks, as far as this one knows */
  uint32_t stalled; /* why the next is not admitted (enumeration stall) */
  uint32_t done; /* 1 if the run has ended well on all ranks */
  uint32_t reserved; /* zero */
  uint64_t held_bytes; /* staging memory that its buckets hold */
  uint64_t reserved2; /* zero */
} ccrun_pipeline_status_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_pipeline_status_t) == 48, "layout of pipeline_status");

/* ccrun_pipeline_stats_t: a rank's run of a pipeline; times in nanoseconds */
typedef struct {
  uint64_t nanos; /* from its start to its end, or until now */
  uint64_t sent; /* bytes sent to other ranks */
  uint64_t received; /* bytes received from them */
  uint64_t copied; /* bytes that were copied here without being sent */
  uint64_t peak_bytes; /* most staging memory that was held at a time */
  uint64_t mean_bytes; /* on average over time */
  uint32_t peak_buckets; /* most buckets in flight at a time */
  uint32_t peak_operations; /* most operations under way at a time */
  uint32_t peak_descriptors; /* most entries of buckets in flight at a time */
  uint32_t buckets; /* buckets finished */
  uint64_t mean_buckets_milli; /* thousandths of buckets in flight, on average over time */
  uint64_t operations; /* operations submitted */
  uint64_t device_peak_bytes; /* most memory that the device had given this rank during the run, beyond what it had at the start; staging memory that earlier runs left counts */
  uint64_t stall_order; /* time in which the next bucket waited for a rank's turn in the order */
  uint64_t stall_channel; /* for its channel: max_in_flight */
  uint64_t stall_buckets; /* for max_buckets */
  uint64_t stall_bytes; /* for max_bytes */
  uint64_t stall_policy; /* for its window, or the script */
  uint64_t stall_credit; /* for receivers' credits */
  uint64_t stall_streams; /* for a stream, or a send channel */
  uint64_t stall_oversize; /* for all others to finish, as it needs more than max_bytes */
  uint64_t runs; /* runs begun */
  uint64_t skipped; /* buckets admitted before one that comes earlier in the order */
  uint64_t allocations; /* times that the device was asked for staging memory */
  uint64_t reserved; /* zero */
  uint64_t reserved2; /* zero */
} ccrun_pipeline_stats_t;
CCRUN_STATIC_ASSERT(sizeof(ccrun_pipeline_stats_t) == 192, "layout of pipeline_stats");

/* Fills in what this rank is told of the world: its rank, the size, the seed, the device's limits.
 * Returns ok, fault. */
CCRUN_IMPORT("world")
ccrun_errno_t ccrun_world(ccrun_world_t *info);

/* Reads the run's clock, whose zero all ranks of a node share; virtual time on sim.
 * Returns ok, fault. */
CCRUN_IMPORT("clock_now")
ccrun_errno_t ccrun_clock_now(int64_t *nanos);

/* Copies the text of the last failed call of this rank, cut to text_len bytes, and gives its whole length; 0 if none failed.
 * Returns ok, fault. */
CCRUN_IMPORT("last_error")
ccrun_errno_t ccrun_last_error(char *text, uint32_t text_len, uint32_t *text_bytes);

/* Ends all ranks, the run's exit code being code (1 to 95), after printing text; it does not return if the arguments are good.
 * Returns ok, fault, invalid. */
CCRUN_IMPORT("abort")
ccrun_errno_t ccrun_abort(uint32_t code, const char *text, uint32_t text_len);

/* Allocates zeroed device memory, aligned to 256 bytes; 0 bytes is a valid size.
 * Returns ok, fault, invalid, no_memory, limit. */
CCRUN_IMPORT("buffer_alloc")
ccrun_errno_t ccrun_buffer_alloc(int64_t bytes, uint64_t *buffer);

/* Frees a buffer, own or looked up; submitted operations that use it still finish, later ones fail with stale, at peers too.
 * Returns ok, bad_handle, stale. */
CCRUN_IMPORT("buffer_free")
ccrun_errno_t ccrun_buffer_free(uint64_t buffer);

/* Gives the size of a buffer.
 * Returns ok, fault, bad_handle, stale. */
CCRUN_IMPORT("buffer_size")
ccrun_errno_t ccrun_buffer_size(uint64_t buffer, uint64_t *bytes);

/* Copies from a buffer to the guest's memory, now; it does not wait for streams.
 * Returns ok, fault, bad_handle, stale, range, unsupported. */
CCRUN_IMPORT("buffer_read")
ccrun_errno_t ccrun_buffer_read(uint64_t buffer, int64_t offset, void *data, uint32_t data_len);

/* Copies from the guest's memory to a buffer, now; it does not wait for streams.
 * Returns ok, fault, bad_handle, stale, range, unsupported. */
CCRUN_IMPORT("buffer_write")
ccrun_errno_t ccrun_buffer_write(uint64_t buffer, int64_t offset, const void *data, uint32_t data_len);

/* Fills a region with the pattern of the seed, in stream order.
 * Returns ok, bad_handle, stale, range, invalid, failed. */
CCRUN_IMPORT("buffer_fill")
ccrun_errno_t ccrun_buffer_fill(uint64_t stream, uint64_t buffer, int64_t offset, int64_t bytes, uint32_t dtype, uint64_t seed);

/* Compares a region with the pattern of the seed from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs.
 * Returns ok, fault, bad_handle, stale, range, invalid, timed_out, failed. */
CCRUN_IMPORT("buffer_verify")
ccrun_errno_t ccrun_buffer_verify(uint64_t stream, uint64_t buffer, int64_t offset, int64_t bytes, uint32_t dtype, uint64_t seed, int64_t pattern_offset, ccrun_verify_result_t *result);

/* Computes a region's digest after all earlier operations of the stream and, if name is not empty, reports it under that name in the run's result.
 * Returns ok, fault, bad_handle, stale, range, invalid, limit, timed_out, failed. */
CCRUN_IMPORT("buffer_digest")
ccrun_errno_t ccrun_buffer_digest(uint64_t stream, uint64_t buffer, int64_t offset, int64_t bytes, const char *name, uint32_t name_len, ccrun_digest_t *digest);

/* Makes a stream: operations of one stream are carried out in order, streams overlap.
 * Returns ok, fault, limit. */
CCRUN_IMPORT("stream_create")
ccrun_errno_t ccrun_stream_create(uint64_t *stream);

/* Waits for a stream and gives it back.
 * Returns ok, bad_handle, stale, failed. */
CCRUN_IMPORT("stream_destroy")
ccrun_errno_t ccrun_stream_destroy(uint64_t stream);

/* Waits until everything submitted to a stream is complete.
 * Returns ok, bad_handle, stale, timed_out, failed. */
CCRUN_IMPORT("stream_sync")
ccrun_errno_t ccrun_stream_sync(uint64_t stream, int64_t timeout);

/* Says whether everything submitted to a stream is complete (1) or not (0), without waiting.
 * Returns ok, fault, bad_handle, stale, failed. */
CCRUN_IMPORT("stream_query")
ccrun_errno_t ccrun_stream_query(uint64_t stream, uint32_t *done);

/* Makes an event; it counts as complete until it is recorded.
 * Returns ok, fault, limit. */
CCRUN_IMPORT("event_create")
ccrun_errno_t ccrun_event_create(uint64_t *event);

/* Gives an event back.
 * Returns ok, bad_handle, stale. */
CCRUN_IMPORT("event_destroy")
ccrun_errno_t ccrun_event_destroy(uint64_t event);

/* Marks an event complete when all earlier operations of the stream are.
 * Returns ok, bad_handle, stale, failed. */
CCRUN_IMPORT("event_record")
ccrun_errno_t ccrun_event_record(uint64_t stream, uint64_t event);

/* Holds a stream until the event's latest record is complete.
 * Returns ok, bad_handle, stale, failed. */
CCRUN_IMPORT("event_wait")
ccrun_errno_t ccrun_event_wait(uint64_t stream, uint64_t event);

/* Waits in the guest until the event's latest record is complete.
 * Returns ok, bad_handle, stale, timed_out, failed. */
CCRUN_IMPORT("event_sync")
ccrun_errno_t ccrun_event_sync(uint64_t event, int64_t timeout);

/* Says whether the event's latest record is complete (1) or not (0), without waiting.
 * Returns ok, fault, bad_handle, stale. */
CCRUN_IMPORT("event_query")
ccrun_errno_t ccrun_event_query(uint64_t event, uint32_t *done);

/* Copies between buffers of this rank.
 * Returns ok, bad_handle, stale, range, invalid, failed. */
CCRUN_IMPORT("copy")
ccrun_errno_t ccrun_copy(uint64_t stream, uint64_t dst, int64_t dst_offset, uint64_t src, int64_t src_offset, int64_t bytes);

/* Copies from a buffer of this rank to one looked up at a peer.
 * Returns ok, bad_handle, stale, range, invalid, failed. */
CCRUN_IMPORT("put")
ccrun_errno_t ccrun_put(uint64_t stream, uint64_t dst, int64_t dst_offset, uint64_t src, int64_t src_offset, int64_t bytes);

/* Copies from a buffer looked up at a peer to one of this rank.
 * Returns ok, bad_handle, stale, range, invalid, failed. */
CCRUN_IMPORT("get")
ccrun_errno_t ccrun_get(uint64_t stream, uint64_t dst, int64_t dst_offset, uint64_t src, int64_t src_offset, int64_t bytes);

/* Raises this rank's slot at a peer to value, if it is lower, after all earlier operations of the stream are visible to the peer.
 * Returns ok, bad_handle, stale, invalid, no_rank, failed. */
CCRUN_IMPORT("signal")
ccrun_errno_t ccrun_signal(uint64_t stream, uint32_t peer, uint32_t slot, uint64_t value);

/* Holds a stream until the slot that a peer raises here is at least value.
 * Returns ok, bad_handle, stale, invalid, no_rank, failed. */
CCRUN_IMPORT("wait")
ccrun_errno_t ccrun_wait(uint64_t stream, uint32_t peer, uint32_t slot, uint64_t value);

/* Reads the slot that a peer raises here, without waiting.
 * Returns ok, fault, invalid, no_rank. */
CCRUN_IMPORT("signal_value")
ccrun_errno_t ccrun_signal_value(uint32_t peer, uint32_t slot, uint64_t *value);

/* Sends bytes to the matching recv of a peer on the same channel; consecutive sends and receives of a stream make progress together.
 * Returns ok, bad_handle, stale, range, invalid, no_rank, failed. */
CCRUN_IMPORT("send")
ccrun_errno_t ccrun_send(uint64_t stream, uint32_t peer, uint64_t src, int64_t src_offset, int64_t bytes, uint32_t channel);

/* Receives the bytes of the matching send of a peer on the same channel; different lengths fail with mismatch.
 * Returns ok, bad_handle, stale, range, invalid, no_rank, failed. */
CCRUN_IMPORT("recv")
ccrun_errno_t ccrun_recv(uint64_t stream, uint32_t peer, uint64_t dst, int64_t dst_offset, int64_t bytes, uint32_t channel);

/* Combines 1 to 8 sources, peers' too, element by element into dst; takes an op structure, whose kind is ignored.
 * Returns ok, fault, bad_handle, stale, range, invalid, no_rank, failed. */
CCRUN_IMPORT("reduce")
ccrun_errno_t ccrun_reduce(uint64_t stream, const ccrun_op_t *op);

/* Submits operations in order; accepted, written on failure too, says how many were taken before the first bad one.
 * Returns ok, fault, bad_handle, stale, range, invalid, no_rank, failed, unsupported. */
CCRUN_IMPORT("submit")
ccrun_errno_t ccrun_submit(uint64_t stream, const ccrun_op_t *ops, uint32_t ops_len, uint32_t *accepted);

/* Publishes a region of an own buffer under a name and an epoch, at once and without waiting for anyone; a name and epoch can be published once.
 * Returns ok, fault, bad_handle, stale, range, invalid, limit, failed. */
CCRUN_IMPORT("share_publish")
ccrun_errno_t ccrun_share_publish(const char *name, uint32_t name_len, uint64_t epoch, uint64_t buffer, int64_t offset, int64_t bytes);

/* Gives access to the region that a peer publishes under a name and an epoch, waiting for it if need be; asking again costs no message.
 * Returns ok, fault, stale, invalid, no_rank, limit, timed_out, failed. */
CCRUN_IMPORT("share_lookup")
ccrun_errno_t ccrun_share_lookup(uint32_t peer, const char *name, uint32_t name_len, uint64_t epoch, int64_t timeout, uint64_t *buffer, uint64_t *bytes);

/* Waits until every rank has called it as often as this one; it says nothing about streams.
 * Returns ok, timed_out. */
CCRUN_IMPORT("barrier")
ccrun_errno_t ccrun_barrier(int64_t timeout);

/* Sets where the following copy, put, get, signal, wait, send, recv and buffer_fill calls of this rank belong; op structures carry their own.
 * Returns ok, invalid. */
CCRUN_IMPORT("tag")
ccrun_errno_t ccrun_tag(uint32_t collective, uint32_t chunk, uint32_t slice, uint32_t flow, uint32_t step, uint32_t message);

/* Begins a collective in the trace and gives its sequence number, from 1, by which operations say that they belong to it.
 * Returns ok, fault, invalid, limit. */
CCRUN_IMPORT("collective_begin")
ccrun_errno_t ccrun_collective_begin(const ccrun_collective_t *collective, uint32_t *sequence);

/* Says that all operations of a collective have been submitted; it is complete when they are.
 * Returns ok, not_found. */
CCRUN_IMPORT("collective_end")
ccrun_errno_t ccrun_collective_end(uint32_t sequence);

/* Begins a named span of the guest's own in the trace.
 * Returns ok, fault, invalid, limit. */
CCRUN_IMPORT("mark_begin")
ccrun_errno_t ccrun_mark_begin(const char *name, uint32_t name_len, uint64_t *mark);

/* Ends a named span.
 * Returns ok, not_found. */
CCRUN_IMPORT("mark_end")
ccrun_errno_t ccrun_mark_end(uint64_t mark);

/* Gives the communicator of all ranks, which are numbered as in the world; every rank calls it, and later calls give the same handle.
 * Returns ok, fault, limit, timed_out, failed, mismatch, unsupported. */
CCRUN_IMPORT("comm_world")
ccrun_errno_t ccrun_comm_world(int64_t timeout, uint64_t *comm);

/* Makes communicators of the ranks of one that give the same color, ordered by key and then by rank; every rank of it calls this, and one with a negative color gets 0.
 * Returns ok, fault, bad_handle, stale, invalid, limit, timed_out, failed, mismatch, unsupported. */
CCRUN_IMPORT("comm_split")
ccrun_errno_t ccrun_comm_split(uint64_t parent, int32_t color, int32_t key, int64_t timeout, uint64_t *comm);

/* Gives a communicator back; calls already submitted still finish. mismatch: other ranks have called something else meanwhile; the communicator is given back all the same.
 * Returns ok, bad_handle, stale, mismatch. */
CCRUN_IMPORT("comm_free")
ccrun_errno_t ccrun_comm_free(uint64_t comm);

/* Fills in what this rank is told of a communicator.
 * Returns ok, fault, bad_handle, stale. */
CCRUN_IMPORT("comm_info")
ccrun_errno_t ccrun_comm_info(uint64_t comm, ccrun_comm_t *info);

/* Gives the rank in the world of a rank of a communicator.
 * Returns ok, fault, bad_handle, stale, no_rank. */
CCRUN_IMPORT("comm_world_rank")
ccrun_errno_t ccrun_comm_world_rank(uint64_t comm, uint32_t rank, uint32_t *world_rank);

/* Submits a collective; it begins and ends one in the trace by itself. Ranks must agree on all but their buffers; an all_to_all is in place on all of them or on none.
 * Returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit, failed, unsupported. */
CCRUN_IMPORT("collective")
ccrun_errno_t ccrun_collective(uint64_t stream, const ccrun_call_t *call);

/* Submits collectives that make progress together: the order of calls on different communicators need not be the same on all ranks. A structure that is wrong refuses all of them; the device may refuse some after others were submitted.
 * Returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit, failed, unsupported. */
CCRUN_IMPORT("collective_group")
ccrun_errno_t ccrun_collective_group(uint64_t stream, const ccrun_call_t *calls, uint32_t calls_len);

/* Multiplies matrices, in stream order.
 * Returns ok, fault, bad_handle, stale, range, invalid, failed, unsupported. */
CCRUN_IMPORT("gemm")
ccrun_errno_t ccrun_gemm(uint64_t stream, const ccrun_gemm_t *gemm);

/* Compares a region with the reduction of the patterns of all seeds from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs by more than rounding explains.
 * Returns ok, fault, bad_handle, stale, range, invalid, timed_out, failed, unsupported. */
CCRUN_IMPORT("buffer_verify_reduced")
ccrun_errno_t ccrun_buffer_verify_reduced(uint64_t stream, uint64_t buffer, int64_t offset, int64_t bytes, uint32_t dtype, uint32_t redop, const uint64_t *seeds, uint32_t seeds_len, int64_t pattern_offset, ccrun_verify_result_t *result);

/* Copies a box, rows of equal length at equal distances, between buffers of this rank, in stream order.
 * Returns ok, fault, bad_handle, stale, range, invalid, failed. */
CCRUN_IMPORT("copy_box")
ccrun_errno_t ccrun_copy_box(uint64_t stream, const ccrun_box_t *box);

/* Makes a bucket pipeline, which all ranks of the world make alike; budgets and buffers are the rank's own.
 * Returns ok, fault, invalid, limit. */
CCRUN_IMPORT("pipeline_create")
ccrun_errno_t ccrun_pipeline_create(const ccrun_pipeline_t *params, uint64_t *pipeline);

/* Appends to the list of ranks that entries name their destinations and parts in.
 * Returns ok, fault, bad_handle, stale, invalid, no_rank, limit. */
CCRUN_IMPORT("pipeline_ranks")
ccrun_errno_t ccrun_pipeline_ranks(uint64_t pipeline, const uint32_t *ranks, uint32_t ranks_len);

/* Appends entries; every rank appends all of them, in the same order, with buffers where it has a part in them. A bad one refuses all.
 * Returns ok, fault, bad_handle, stale, range, invalid, no_rank, limit. */
CCRUN_IMPORT("pipeline_add")
ccrun_errno_t ccrun_pipeline_add(uint64_t pipeline, const ccrun_pipeline_entry_t *entries, uint32_t entries_len);

/* Joins the entries to buckets, which takes no more of them from then on, and says what came of it.
 * Returns ok, fault, bad_handle, stale, invalid, limit. */
CCRUN_IMPORT("pipeline_build")
ccrun_errno_t ccrun_pipeline_build(uint64_t pipeline, ccrun_pipeline_plan_t *plan);

/* Describes buckets from the first-th on, in the order in which they were formed, and says how many it has described.
 * Returns ok, fault, bad_handle, stale, invalid. */
CCRUN_IMPORT("pipeline_buckets")
ccrun_errno_t ccrun_pipeline_buckets(uint64_t pipeline, uint32_t first, ccrun_pipeline_bucket_t *buckets, uint32_t buckets_len, uint32_t *described);

/* Sets the order in which buckets are admitted, the same on all ranks: the number of each bucket once. Without it, channels take turns.
 * Returns ok, fault, bad_handle, stale, invalid. */
CCRUN_IMPORT("pipeline_order")
ccrun_errno_t ccrun_pipeline_order(uint64_t pipeline, const uint32_t *order, uint32_t order_len);

/* Compares the plan with all other ranks', which call it too: nothing moves before they agree. mismatch: last_error names the first difference.
 * Returns ok, bad_handle, stale, invalid, timed_out, failed, mismatch. */
CCRUN_IMPORT("pipeline_agree")
ccrun_errno_t ccrun_pipeline_agree(uint64_t pipeline, int64_t timeout);

/* Begins to move all buckets, on streams that have nothing else to do until they have arrived; can be repeated after that. It begins a collective in the trace.
 * Returns ok, fault, bad_handle, stale, invalid, no_memory, limit, failed. */
CCRUN_IMPORT("pipeline_start")
ccrun_errno_t ccrun_pipeline_start(uint64_t pipeline, const uint64_t *streams, uint32_t streams_len);

/* Does what can be done now, without waiting, and says how far the rank is.
 * Returns ok, fault, bad_handle, stale, invalid, no_memory, failed, mismatch. */
CCRUN_IMPORT("pipeline_poll")
ccrun_errno_t ccrun_pipeline_poll(uint64_t pipeline, ccrun_pipeline_status_t *status);

/* Waits until all buckets have arrived on all ranks, or until this rank has admitted all that pipeline_admit lets it. failed: a bucket failed on some rank; last_error says which.
 * Returns ok, fault, bad_handle, stale, invalid, no_memory, timed_out, failed, mismatch. */
CCRUN_IMPORT("pipeline_wait")
ccrun_errno_t ccrun_pipeline_wait(uint64_t pipeline, int64_t timeout, ccrun_pipeline_status_t *status);

/* Under the scripted policy, lets the rank admit the buckets before place limit of the order, and no others; a limit never goes back. It fails as pipeline_wait does.
 * Returns ok, bad_handle, stale, invalid, no_memory, failed, mismatch. */
CCRUN_IMPORT("pipeline_admit")
ccrun_errno_t ccrun_pipeline_admit(uint64_t pipeline, uint32_t limit);

/* Writes the statistics of this rank's present or last run of the pipeline.
 * Returns ok, fault, bad_handle, stale, invalid. */
CCRUN_IMPORT("pipeline_stats")
ccrun_errno_t ccrun_pipeline_stats(uint64_t pipeline, ccrun_pipeline_stats_t *stats);

/* Gives a pipeline and its staging memory back; one that is under way cannot be.
 * Returns ok, bad_handle, stale, invalid, failed. */
CCRUN_IMPORT("pipeline_destroy")
ccrun_errno_t ccrun_pipeline_destroy(uint64_t pipeline);

/* Operations for ccrun_submit. */
static inline ccrun_op_t ccrun_op_fill(uint64_t buffer, int64_t offset, int64_t bytes, uint32_t dtype, uint64_t seed) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_FILL;
  o.dst = (uint64_t)buffer;
  o.dst_offset = (uint64_t)offset;
  o.bytes = (uint64_t)bytes;
  o.dtype = (uint8_t)dtype;
  o.value = (uint64_t)seed;
  return o;
}

static inline ccrun_op_t ccrun_op_event_record(uint64_t event) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_EVENT_RECORD;
  o.event = (uint64_t)event;
  return o;
}

static inline ccrun_op_t ccrun_op_event_wait(uint64_t event) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_EVENT_WAIT;
  o.event = (uint64_t)event;
  return o;
}

static inline ccrun_op_t ccrun_op_copy(uint64_t dst, int64_t dst_offset, uint64_t src, int64_t src_offset, int64_t bytes) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_COPY;
  o.dst = (uint64_t)dst;
  o.dst_offset = (uint64_t)dst_offset;
  o.src = (uint64_t)src;
  o.src_offset = (uint64_t)src_offset;
  o.bytes = (uint64_t)bytes;
  return o;
}

static inline ccrun_op_t ccrun_op_put(uint64_t dst, int64_t dst_offset, uint64_t src, int64_t src_offset, int64_t bytes) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_PUT;
  o.dst = (uint64_t)dst;
  o.dst_offset = (uint64_t)dst_offset;
  o.src = (uint64_t)src;
  o.src_offset = (uint64_t)src_offset;
  o.bytes = (uint64_t)bytes;
  return o;
}

static inline ccrun_op_t ccrun_op_get(uint64_t dst, int64_t dst_offset, uint64_t src, int64_t src_offset, int64_t bytes) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_GET;
  o.dst = (uint64_t)dst;
  o.dst_offset = (uint64_t)dst_offset;
  o.src = (uint64_t)src;
  o.src_offset = (uint64_t)src_offset;
  o.bytes = (uint64_t)bytes;
  return o;
}

static inline ccrun_op_t ccrun_op_signal(uint32_t peer, uint32_t slot, uint64_t value) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_SIGNAL;
  o.peer = (uint32_t)peer;
  o.slot = (uint32_t)slot;
  o.value = (uint64_t)value;
  return o;
}

static inline ccrun_op_t ccrun_op_wait(uint32_t peer, uint32_t slot, uint64_t value) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_WAIT;
  o.peer = (uint32_t)peer;
  o.slot = (uint32_t)slot;
  o.value = (uint64_t)value;
  return o;
}

static inline ccrun_op_t ccrun_op_send(uint32_t peer, uint64_t src, int64_t src_offset, int64_t bytes, uint32_t channel) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_SEND;
  o.peer = (uint32_t)peer;
  o.src = (uint64_t)src;
  o.src_offset = (uint64_t)src_offset;
  o.bytes = (uint64_t)bytes;
  o.slot = (uint32_t)channel;
  return o;
}

static inline ccrun_op_t ccrun_op_recv(uint32_t peer, uint64_t dst, int64_t dst_offset, int64_t bytes, uint32_t channel) {
  ccrun_op_t o = {0};
  o.kind = CCRUN_KIND_RECV;
  o.peer = (uint32_t)peer;
  o.dst = (uint64_t)dst;
  o.dst_offset = (uint64_t)dst_offset;
  o.bytes = (uint64_t)bytes;
  o.slot = (uint32_t)channel;
  return o;
}


#ifdef __cplusplus
}
#endif

#endif /* CCRUN_H */
