/*
 * ring_allgather in C: gathers every rank's chunk on every rank, over a ring,
 * in pipelined slices, by put or by get, without a barrier, and verifies every
 * byte. The same algorithm as ../ring_allgather, with the same flags and the
 * same result.
 *
 *   clang --target=wasm32-wasi --sysroot=/usr -O2 -g -I guest-sdk/c -c ring_allgather.c -o ring_allgather.o
 *   clang --target=wasm32-wasi --sysroot=/usr ring_allgather.o -o ring_allgather.wasm
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccrun.h"

/* The slots that a rank raises at its neighbours: slices that have arrived at
 * the next one (put) or that it may pull (get), and, at the previous one,
 * iterations whose result is needed no more. Values never go back. */
enum { SLOT_DATA = 0, SLOT_FREE = 1 };

typedef struct {
  int put; /* push to the next rank; otherwise pull from the previous one */
  int64_t chunk_bytes, slice_bytes;
  int iters, warmup;
  const char *verify;
} options_t;

static options_t opt = {0, 16 << 20, 1 << 20, 20, 1, "all"};

static ccrun_world_t world;
static uint32_t next_rank, prev_rank;
static uint64_t stream, out, peer; /* peer: the neighbour's out */
static int64_t slices;             /* of a chunk */
static uint32_t sequence;          /* of the collective */
static uint64_t verified, wrong;

static void fail(const char *call, ccrun_errno_t e) {
  char text[256];
  uint32_t n = 0;
  if (ccrun_last_error(text, sizeof text, &n) != CCRUN_OK) n = 0;
  if (n > sizeof text) n = sizeof text;
  fprintf(stderr, "ring_allgather: %s: %s: %.*s\n", call, ccrun_errno_name(e), (int)n, text);
  exit(1);
}

#define CHECK(call)                         \
  do {                                      \
    ccrun_errno_t e_ = (call);              \
    if (e_ != CCRUN_OK) fail(#call, e_);    \
  } while (0)

/* Operations are submitted in batches, with one host call each. */
static ccrun_op_t batch[64];
static uint32_t batched;

static void flush(void) {
  uint32_t accepted = 0, n = batched;
  batched = 0;
  if (n > 0) CHECK(ccrun_submit(stream, batch, n, &accepted));
}

/* push adds an operation on a slice of a chunk in a step. */
static void push(ccrun_op_t o, int step, int chunk, int64_t slice) {
  o.collective = sequence;
  o.step = (uint16_t)step;
  o.chunk = (uint32_t)chunk;
  o.slice = o.message = (uint32_t)slice;
  if (batched == sizeof batch / sizeof batch[0]) flush();
  batch[batched++] = o;
}

static int64_t slice_size(int64_t slice) {
  int64_t rest = opt.chunk_bytes - slice * opt.slice_bytes;
  return opt.slice_bytes == 0 || rest < opt.slice_bytes ? rest : opt.slice_bytes;
}

static int64_t place(int chunk, int64_t slice) { return chunk * opt.chunk_bytes + slice * opt.slice_bytes; }

/* chunk_of is the chunk that this rank holds since step, its own in step 0. */
static int chunk_of(int step) { return (int)((world.rank + 2 * world.size - (uint32_t)step) % world.size); }

/* gather_put passes a slice on as soon as it has arrived. */
static void gather_put(uint64_t base) {
  int steps = (int)world.size - 1;
  for (int step = 0; step < steps; step++) {
    for (int64_t i = 0; i < slices; i++) {
      int c = chunk_of(step);
      uint64_t order = base + (uint64_t)(step * slices + i + 1);
      if (step > 0) push(ccrun_op_wait(prev_rank, SLOT_DATA, order - (uint64_t)slices), step, c, i);
      push(ccrun_op_put(peer, place(c, i), out, place(c, i), slice_size(i)), step, c, i);
      push(ccrun_op_signal(next_rank, SLOT_DATA, order), step, c, i);
    }
  }
  push(ccrun_op_wait(prev_rank, SLOT_DATA, base + (uint64_t)(steps * slices)), steps, chunk_of(steps), slices - 1);
}

/* gather_get offers a slice as soon as it has it, its own chunk at once. */
static void gather_get(uint64_t base) {
  int steps = (int)world.size - 1;
  push(ccrun_op_signal(next_rank, SLOT_DATA, base + (uint64_t)slices), 0, (int)world.rank, slices - 1);
  for (int step = 0; step < steps; step++) {
    for (int64_t i = 0; i < slices; i++) {
      int c = chunk_of(step + 1);
      uint64_t order = base + (uint64_t)(step * slices + i + 1);
      push(ccrun_op_wait(prev_rank, SLOT_DATA, order), step, c, i);
      push(ccrun_op_get(out, place(c, i), peer, place(c, i), slice_size(i)), step, c, i);
      if (step + 1 < steps) push(ccrun_op_signal(next_rank, SLOT_DATA, order + (uint64_t)slices), step, c, i);
    }
  }
}

/* chunk_seed is that of ../ring_allgather, so that digests agree. */
static uint64_t chunk_seed(int iteration, int rank) {
  uint64_t x = world.seed + (uint64_t)iteration * 0xd1342543de82ef95u + (uint64_t)(rank + 1) * 0xaf251af3b0f025b5u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

static int verifies(int iteration) {
  if (strcmp(opt.verify, "last") == 0) return iteration == opt.warmup + opt.iters - 1;
  return strcmp(opt.verify, "all") == 0;
}

/* prepare waits until the next rank is done with the iteration before, then
 * writes this rank's chunk. */
static void prepare(int iteration) {
  if (world.size > 1) CHECK(ccrun_wait(stream, next_rank, SLOT_FREE, (uint64_t)iteration));
  if (verifies(iteration) || iteration == 0) {
    CHECK(ccrun_buffer_fill(stream, out, place((int)world.rank, 0), opt.chunk_bytes, CCRUN_DTYPE_U8,
                            chunk_seed(iteration, (int)world.rank)));
  }
  CHECK(ccrun_stream_sync(stream, CCRUN_FOREVER));
}

static void verify(int iteration) {
  for (int c = 0; c < (int)world.size; c++) {
    ccrun_verify_result_t r;
    CHECK(ccrun_buffer_verify(stream, out, place(c, 0), opt.chunk_bytes, CCRUN_DTYPE_U8, chunk_seed(iteration, c), 0, &r));
    if (r.mismatches > 0) {
      fprintf(stderr, "ring_allgather: rank %u, iteration %d: %llu bytes of chunk %d are wrong, the first at %lld\n",
              world.rank, iteration, (unsigned long long)r.mismatches, c, (long long)r.first_bad);
    }
    verified += (uint64_t)opt.chunk_bytes;
    wrong += r.mismatches;
  }
}

static void iterate(int iteration) {
  prepare(iteration);
  static const char algorithm[] = "ring";
  ccrun_collective_t c = {
      .op = CCRUN_COLLECTIVE_ALL_GATHER,
      .bytes = (uint64_t)opt.chunk_bytes * world.size,
      .slice_bytes = (uint32_t)opt.slice_bytes,
      .algorithm = (uint32_t)(uintptr_t)algorithm,
      .algorithm_len = sizeof algorithm - 1,
      .warmup = iteration < opt.warmup,
  };
  CHECK(ccrun_collective_begin(&c, &sequence));
  if (world.size > 1 && slices > 0) {
    uint64_t base = (uint64_t)iteration * (world.size - 1) * (uint64_t)slices;
    if (opt.put) gather_put(base);
    else gather_get(base);
    flush();
  }
  CHECK(ccrun_collective_end(sequence));
  CHECK(ccrun_stream_sync(stream, CCRUN_FOREVER));
  if (verifies(iteration)) verify(iteration);
  if (world.size > 1) CHECK(ccrun_signal(stream, prev_rank, SLOT_FREE, (uint64_t)iteration + 1));
}

static void open_world(void) {
  uint64_t bytes = 0;
  next_rank = (world.rank + 1) % world.size;
  prev_rank = (world.rank + world.size - 1) % world.size;
  slices = opt.chunk_bytes == 0 ? 0 : opt.slice_bytes == 0 ? 1 : (opt.chunk_bytes + opt.slice_bytes - 1) / opt.slice_bytes;
  CHECK(ccrun_buffer_alloc(opt.chunk_bytes * (int64_t)world.size, &out));
  CHECK(ccrun_stream_create(&stream));
  CHECK(ccrun_share_publish("out", 3, 0, out, 0, opt.chunk_bytes * (int64_t)world.size));
  CHECK(ccrun_share_lookup(opt.put ? next_rank : prev_rank, "out", 3, 0, CCRUN_FOREVER, &peer, &bytes));
}

#define FLAGS "flags: -protocol get|put -bytes SIZE -slice SIZE -iters N -warmup N -verify all|last|off\n"

/* usage ends a rank. Each one says why, as any may be the first to end. */
static void usage(const char *flag) {
  fprintf(stderr, "ring_allgather: bad flag or value: %s\n%s", flag, world.rank == 0 ? FLAGS : "");
  exit(1);
}

static void help(void) {
  if (world.rank == 0) fputs(FLAGS, stdout);
  exit(0);
}

/* size reads 1048576, 1M, 1MiB or 1MB. */
static int64_t size(const char *flag, const char *text) {
  char *unit;
  long long value = strtoll(text, &unit, 10);
  int shift = 0;
  if (unit == text || value < 0) usage(flag);
  if (*unit == 'K' || *unit == 'k') shift = 10;
  if (*unit == 'M' || *unit == 'm') shift = 20;
  if (*unit == 'G' || *unit == 'g') shift = 30;
  if (shift > 0) unit++;
  if (*unit == 'i') unit++;
  if (*unit == 'B') unit++;
  if (*unit != 0 || value > (INT64_MAX >> 8 >> shift)) usage(flag);
  return value << shift;
}

/* MAX_TOTAL is how many iterations there may be, warm-up and all. */
enum { MAX_TOTAL = 1 << 30 };

static void parse(int argc, char **argv) {
  int64_t iters = opt.iters, warmup = opt.warmup;
  for (int i = 1; i < argc; i += 2) {
    const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(flag, "-h") == 0 || strcmp(flag, "-help") == 0) help();
    if (strcmp(flag, "-protocol") == 0 && (strcmp(value, "get") == 0 || strcmp(value, "put") == 0)) opt.put = value[0] == 'p';
    else if (strcmp(flag, "-bytes") == 0) opt.chunk_bytes = size(flag, value);
    else if (strcmp(flag, "-slice") == 0) opt.slice_bytes = size(flag, value);
    else if (strcmp(flag, "-iters") == 0) iters = size(flag, value);
    else if (strcmp(flag, "-warmup") == 0) warmup = size(flag, value);
    else if (strcmp(flag, "-verify") == 0) opt.verify = value;
    else usage(flag);
  }
  if (iters < 1 || iters > MAX_TOTAL || warmup > MAX_TOTAL - iters) usage("-iters or -warmup");
  opt.iters = (int)iters;
  opt.warmup = (int)warmup;
  if (opt.chunk_bytes > INT64_MAX / world.size) usage("-bytes");
  if (opt.slice_bytes > UINT32_MAX) usage("-slice");
  if (strcmp(opt.verify, "all") != 0 && strcmp(opt.verify, "last") != 0 && strcmp(opt.verify, "off") != 0) usage("-verify");
}

int main(int argc, char **argv) {
  CHECK(ccrun_world(&world));
  parse(argc, argv);
  open_world();
  if (world.rank == 0) {
    printf("ring_allgather: %u ranks, %lld bytes from each, %s in slices of %lld, %d warm-up and %d iterations\n", world.size,
           (long long)opt.chunk_bytes, opt.put ? "put" : "get", (long long)opt.slice_bytes, opt.warmup, opt.iters);
  }
  for (int k = 0; k < opt.warmup + opt.iters; k++) iterate(k);
  if (world.size > 1) CHECK(ccrun_wait(stream, next_rank, SLOT_FREE, (uint64_t)(opt.warmup + opt.iters)));
  ccrun_digest_t digest;
  CHECK(ccrun_buffer_digest(stream, out, 0, opt.chunk_bytes * (int64_t)world.size, "out", 3, &digest));
  CHECK(ccrun_stream_destroy(stream));
  CHECK(ccrun_buffer_free(out));
  if (world.rank == 0) {
    printf("ring_allgather: %llu bytes verified, %llu wrong, digest %016llx%016llx\n", (unsigned long long)verified,
           (unsigned long long)wrong, (unsigned long long)digest.low, (unsigned long long)digest.high);
  }
  return 0;
}
