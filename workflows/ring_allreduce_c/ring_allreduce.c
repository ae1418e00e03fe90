/*
 * ring_allreduce in C: adds up the vectors of all ranks on every rank, over a
 * ring of 2(n-1) steps or over rings of two levels, in pipelined slices, by put
 * or by get, without a barrier, and verifies every element. The same algorithm
 * as ../ring_allreduce on one channel, with the same result.
 *
 *   clang --target=wasm32-wasi --sysroot=/usr -O2 -g -I guest-sdk/c -c ring_allreduce.c -o ring_allreduce.o
 *   clang --target=wasm32-wasi --sysroot=/usr ring_allreduce.o -o ring_allreduce.wasm
 *
 * It is made for thousands of ranks in one process: a rank keeps no list of
 * its steps, and has a bounded number of operations under way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccrun.h"

typedef struct {
  int put; /* push to the next rank; otherwise pull from the previous one */
  int64_t bytes, slice_bytes;
  int64_t group; /* ranks of a ring of the first level, 0 for all */
  int iters, warmup;
  const char *verify;
} options_t;

static options_t opt = {0, 16 << 20, 256 << 10, 0, 20, 1, "all"};

static ccrun_world_t world;
static uint64_t stream, vector;
static uint32_t sequence; /* of the collective */
static uint64_t verified, wrong;

static void fail(const char *call, ccrun_errno_t e) {
  char text[256];
  uint32_t n = 0;
  if (ccrun_last_error(text, sizeof text, &n) != CCRUN_OK) n = 0;
  if (n > sizeof text) n = sizeof text;
  fprintf(stderr, "ring_allreduce: %s: %s: %.*s\n", call, ccrun_errno_name(e), (int)n, text);
  exit(1);
}

#define CHECK(call)                         \
  do {                                      \
    ccrun_errno_t e_ = (call);              \
    if (e_ != CCRUN_OK) fail(#call, e_);    \
  } while (0)

/* Operations are submitted in batches, with one host call each. An event ends
 * each batch, and no more than WINDOW batches are under way: a ring of n ranks
 * has 2(n-1) steps, and nobody should have to keep them all in a queue. */
enum { BATCH = 64, WINDOW = 2 };
static ccrun_op_t batch[BATCH + 1]; /* room for the event */
static ccrun_view_t sources[BATCH][2];
static uint32_t batched;
static uint64_t events[WINDOW], batches;

static void flush(void) {
  uint32_t accepted = 0, n = batched;
  if (n == 0) return;
  uint64_t event = events[batches++ % WINDOW];
  CHECK(ccrun_event_sync(event, CCRUN_FOREVER));
  batch[n] = ccrun_op_event_record(event);
  batched = 0;
  CHECK(ccrun_submit(stream, batch, n + 1, &accepted));
}

/* span_t is a part of a vector. */
typedef struct {
  int64_t offset, bytes;
} span_t;

/* part is one of count parts, which begin at multiples of 16 bytes; the last
 * ones may be short or empty. */
static span_t part(span_t whole, int64_t index, int64_t count) {
  int64_t size = ((whole.bytes + count - 1) / count + 15) / 16 * 16;
  int64_t start = index * size < whole.bytes ? index * size : whole.bytes;
  int64_t rest = whole.bytes - start;
  return (span_t){whole.offset + start, rest < size ? rest : size};
}

/* slice is a slice of a chunk, empty behind its end. */
static span_t slice(span_t chunk, int64_t index) {
  if (opt.slice_bytes == 0) return chunk;
  int64_t start = index * opt.slice_bytes < chunk.bytes ? index * opt.slice_bytes : chunk.bytes;
  int64_t rest = chunk.bytes - start;
  return (span_t){chunk.offset + start, rest < opt.slice_bytes ? rest : opt.slice_bytes};
}

static int64_t slice_count(int64_t bytes) {
  if (opt.slice_bytes == 0) return bytes > 0;
  return (bytes + opt.slice_bytes - 1) / opt.slice_bytes;
}

/* ring_t is a ring that this rank is part of. A ring all-reduce has 2(size-1)
 * steps: in the first half chunks travel once around the ring and are added to
 * on the way, in the second half the sums travel around. */
typedef struct {
  uint32_t size, place; /* its ranks, and where among them this one is */
  uint32_t next, prev;  /* ranks of the world */
  uint32_t data_slot;   /* raised at the next rank: slices that have arrived there (put), or may be pulled (get) */
  uint32_t free_slot;   /* raised at the previous rank: iterations whose result is needed no more */
  span_t whole;         /* of the vector: what is reduced */
  int64_t slices;       /* of a chunk */
  uint32_t first_chunk; /* number of its first chunk in traces */
  uint64_t peer;        /* by put the next rank's vector, by get the previous one's */
  uint64_t scratch, peer_scratch; /* by put: where the previous rank pushes to, and the next one's */
  int64_t scratch_shift;          /* from an offset in the vector to one in the scratch memory */
  int64_t peer_scratch_shift;
} ring_t;

enum { LEVELS = 2 };
static ring_t rings[LEVELS];

static uint32_t reducing_steps(const ring_t *r) { return r->size - 1; }
static uint32_t all_steps(const ring_t *r) { return 2 * (r->size - 1); }

/* received is the chunk that a place of the ring gets in a step. The first half
 * leaves each place with the chunk of its own number. */
static uint32_t received(const ring_t *r, uint32_t place, uint32_t step) {
  uint32_t back = step < reducing_steps(r) ? step + 2 : step - reducing_steps(r) + 1;
  uint32_t c = place + 2 * r->size - back; /* back is at most size */
  c -= c >= 2 * r->size ? 2 * r->size : 0;
  return c >= r->size ? c - r->size : c;
}

/* pass_t is a stretch of a ring's steps in one iteration. */
typedef struct {
  const ring_t *ring;
  uint32_t first, end; /* steps */
  uint32_t trace_step; /* the first one's number in traces */
  uint64_t base;       /* slices of all iterations before */
} pass_t;

/* push adds an operation on a slice of a chunk to the batch. */
static ccrun_op_t *push(const pass_t *p, uint32_t step, uint32_t chunk, int64_t index, ccrun_op_t o) {
  if (batched == BATCH) flush();
  ccrun_op_t *at = &batch[batched++];
  *at = o;
  at->collective = sequence;
  at->step = (uint16_t)(step - p->first + p->trace_step);
  at->chunk = p->ring->first_chunk + chunk;
  at->slice = at->message = (uint32_t)index;
  return at;
}

/* order numbers the slices that a rank passes on, from 1. */
static uint64_t order(const pass_t *p, uint32_t step, int64_t index) {
  return p->base + (uint64_t)step * (uint64_t)p->ring->slices + (uint64_t)index + 1;
}

static void push_signal(const pass_t *p, uint32_t step, uint32_t chunk, int64_t index) {
  push(p, step, chunk, index, ccrun_op_signal(p->ring->next, p->ring->data_slot, order(p, step, index)));
}

static void push_wait(const pass_t *p, uint32_t step, uint32_t chunk, int64_t index) {
  push(p, step, chunk, index, ccrun_op_wait(p->ring->prev, p->ring->data_slot, order(p, step, index)));
}

/* push_reduce adds what lies at another place to a slice of the vector. */
static void push_reduce(const pass_t *p, uint32_t step, uint32_t chunk, int64_t index, span_t s, uint64_t other, int64_t shift) {
  ccrun_op_t o = {
      .kind = CCRUN_KIND_REDUCE,
      .dst = vector,
      .dst_offset = (uint64_t)s.offset,
      .bytes = (uint64_t)s.bytes,
      .dtype = CCRUN_DTYPE_F32,
      .redop = CCRUN_REDOP_SUM,
      .source_count = 2,
  };
  ccrun_op_t *at = push(p, step, chunk, index, o);
  ccrun_view_t *from = sources[at - batch];
  from[0] = (ccrun_view_t){vector, (uint64_t)s.offset};
  from[1] = (ccrun_view_t){other, (uint64_t)(s.offset + shift)};
  at->sources = (uint32_t)(uintptr_t)from;
}

/* arrive takes in a slice that the previous rank has pushed here. */
static void arrive(const pass_t *p, uint32_t step, int64_t index) {
  const ring_t *r = p->ring;
  uint32_t c = received(r, r->place, step);
  span_t s = slice(part(r->whole, c, r->size), index);
  if (s.bytes == 0) return;
  push_wait(p, step, c, index);
  if (step < reducing_steps(r)) push_reduce(p, step, c, index, s, r->scratch, r->scratch_shift);
}

/* pass_on pushes a slice to the next rank. */
static void pass_on(const pass_t *p, uint32_t step, int64_t index) {
  const ring_t *r = p->ring;
  uint32_t c = received(r, r->place + 1, step);
  span_t s = slice(part(r->whole, c, r->size), index);
  if (s.bytes > 0) {
    int reducing = step < reducing_steps(r);
    uint64_t to = reducing ? r->peer_scratch : r->peer;
    int64_t shift = reducing ? r->peer_scratch_shift : 0;
    push(p, step, c, index, ccrun_op_put(to, s.offset + shift, vector, s.offset, s.bytes));
  }
  push_signal(p, step, c, index);
}

/* pass_put passes each slice on as soon as it has arrived and been added to. */
static void pass_put(const pass_t *p) {
  for (uint32_t step = p->first; step <= p->end; step++) {
    for (int64_t i = 0; i < p->ring->slices; i++) {
      if (step > p->first) arrive(p, step - 1, i);
      if (step < p->end) pass_on(p, step, i);
    }
  }
}

/* pass_get waits for each slice, pulls it or adds it to what is here, and offers
 * it to the next rank. */
static void pass_get(const pass_t *p) {
  const ring_t *r = p->ring;
  if (r->slices == 0) return;
  push_signal(p, p->first, received(r, r->place + 1, p->first), r->slices - 1);
  for (uint32_t step = p->first; step < p->end; step++) {
    uint32_t c = received(r, r->place, step);
    span_t chunk = part(r->whole, c, r->size);
    for (int64_t i = 0; i < r->slices; i++) {
      span_t s = slice(chunk, i);
      if (s.bytes > 0) {
        push_wait(p, step, c, i);
        if (step < reducing_steps(r)) push_reduce(p, step, c, i, s, r->peer, 0);
        else push(p, step, c, i, ccrun_op_get(vector, s.offset, r->peer, s.offset, s.bytes));
      }
      if (step + 1 < p->end) push_signal(p, step + 1, c, i);
    }
  }
}

/* pass carries out steps of a ring in an iteration and gives the number that
 * the next step has in traces. */
static uint32_t pass(const ring_t *r, int iteration, uint32_t first, uint32_t end, uint32_t trace_step) {
  pass_t p = {r, first, end, trace_step, (uint64_t)iteration * all_steps(r) * (uint64_t)r->slices};
  if (first == end) return trace_step;
  if (opt.put) pass_put(&p);
  else pass_get(&p);
  return trace_step + end - first;
}

/* reduce_all submits an iteration: the reducing half of the first level's ring,
 * the second level's ring on what that left here, and the other half of the
 * first's. With one level, its halves follow without a gap between slices. */
static void reduce_all(int iteration) {
  const ring_t *inner = &rings[0], *outer = &rings[1];
  if (outer->size == 1) {
    pass(inner, iteration, 0, all_steps(inner), 0);
  } else {
    uint32_t step = pass(inner, iteration, 0, reducing_steps(inner), 0);
    step = pass(outer, iteration, 0, all_steps(outer), step);
    pass(inner, iteration, reducing_steps(inner), all_steps(inner), step);
  }
  flush();
}

/* seed_of is that of ../ring_allreduce, so that digests agree. */
static uint64_t seed_of(int iteration, uint32_t rank) {
  uint64_t x = world.seed + (uint64_t)iteration * 0xd1342543de82ef95u + (uint64_t)(rank + 1) * 0xaf251af3b0f025b5u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

static int verifies(int iteration) {
  if (strcmp(opt.verify, "last") == 0) return iteration == opt.warmup + opt.iters - 1;
  return strcmp(opt.verify, "all") == 0;
}

/* enter waits until the next ranks are done with the iterations before one. */
static void enter(int iteration) {
  for (int level = 0; level < LEVELS; level++) {
    const ring_t *r = &rings[level];
    if (r->size > 1) CHECK(ccrun_wait(stream, r->next, r->free_slot, (uint64_t)iteration));
  }
}

/* leave tells the previous ranks that this one is done with an iteration. */
static void leave(int iteration) {
  for (int level = 0; level < LEVELS; level++) {
    const ring_t *r = &rings[level];
    if (r->size > 1) CHECK(ccrun_signal(stream, r->prev, r->free_slot, (uint64_t)iteration + 1));
  }
}

/* verify compares the vector with the sum of what all ranks wrote. */
static void verify(int iteration) {
  uint64_t *seeds = malloc(world.size * sizeof *seeds);
  if (!seeds) {
    fprintf(stderr, "ring_allreduce: no memory for %u seeds\n", world.size);
    exit(1);
  }
  for (uint32_t rank = 0; rank < world.size; rank++) seeds[rank] = seed_of(iteration, rank);
  ccrun_verify_result_t r;
  CHECK(ccrun_buffer_verify_reduced(stream, vector, 0, opt.bytes, CCRUN_DTYPE_F32, CCRUN_REDOP_SUM, seeds, world.size, 0, &r));
  if (r.mismatches > 0) {
    fprintf(stderr, "ring_allreduce: rank %u, iteration %d: %llu elements are wrong, the first at byte %lld\n", world.rank, iteration,
            (unsigned long long)r.mismatches, (long long)r.first_bad);
  }
  free(seeds);
  verified += (uint64_t)opt.bytes;
  wrong += r.mismatches;
}

static void iterate(int iteration) {
  static const char ring[] = "ring", rings2d[] = "ring_2d";
  const char *algorithm = rings[1].size > 1 ? rings2d : ring;
  enter(iteration);
  CHECK(ccrun_buffer_fill(stream, vector, 0, opt.bytes, CCRUN_DTYPE_F32, seed_of(iteration, world.rank)));
  CHECK(ccrun_stream_sync(stream, CCRUN_FOREVER));
  ccrun_collective_t c = {
      .op = CCRUN_COLLECTIVE_ALL_REDUCE,
      .dtype = CCRUN_DTYPE_F32,
      .redop = CCRUN_REDOP_SUM,
      .bytes = (uint64_t)opt.bytes,
      .slice_bytes = (uint32_t)opt.slice_bytes,
      .algorithm = (uint32_t)(uintptr_t)algorithm,
      .algorithm_len = (uint32_t)strlen(algorithm),
      .warmup = iteration < opt.warmup,
  };
  CHECK(ccrun_collective_begin(&c, &sequence));
  reduce_all(iteration);
  CHECK(ccrun_collective_end(sequence));
  CHECK(ccrun_stream_sync(stream, CCRUN_FOREVER));
  if (verifies(iteration)) verify(iteration);
  leave(iteration);
}

/* share publishes a buffer and looks up the neighbour's of the same name. */
static uint64_t share(const ring_t *r, const char *name, uint64_t buffer, int64_t bytes) {
  uint64_t peer = 0, peer_bytes = 0;
  uint32_t n = (uint32_t)strlen(name);
  if (buffer != 0) CHECK(ccrun_share_publish(name, n, 0, buffer, 0, bytes));
  CHECK(ccrun_share_lookup(opt.put ? r->next : r->prev, name, n, 0, CCRUN_FOREVER, &peer, &peer_bytes));
  return peer;
}

/* open_ring finds the neighbours' memory. Each level has scratch memory of its
 * own, since ranks may be on different levels at a time. */
static void open_ring(int level) {
  static const char *const scratch_names[LEVELS] = {"scratch", "scratch2"};
  ring_t *r = &rings[level];
  /* All ranks count slices of the longest chunk, which is the first one. */
  span_t longest = part(rings[0].whole, 0, rings[0].size);
  if (level > 0) longest = part(longest, 0, r->size);
  r->slices = slice_count(longest.bytes);
  r->data_slot = 2 * (uint32_t)level;
  r->free_slot = r->data_slot + 1;
  if (r->size == 1 || r->slices == 0) return;
  r->peer = share(r, "out", level == 0 ? vector : 0, opt.bytes);
  if (!opt.put) return;
  CHECK(ccrun_buffer_alloc(r->whole.bytes, &r->scratch));
  r->peer_scratch = share(r, scratch_names[level], r->scratch, r->whole.bytes);
  r->scratch_shift = r->peer_scratch_shift = -r->whole.offset;
}

static void open_world(void) {
  uint32_t inner = opt.group == 0 ? world.size : (uint32_t)opt.group, outer = world.size / inner;
  uint32_t place = world.rank % inner, start = world.rank - place;
  rings[0] = (ring_t){.size = inner, .place = place, .whole = {0, opt.bytes}};
  rings[0].next = start + (place + 1) % inner;
  rings[0].prev = start + (place + inner - 1) % inner;
  rings[1] = (ring_t){.size = outer, .place = world.rank / inner, .first_chunk = inner};
  rings[1].whole = part(rings[0].whole, place, inner);
  rings[1].next = (world.rank + inner) % world.size;
  rings[1].prev = (world.rank + world.size - inner) % world.size;
  CHECK(ccrun_buffer_alloc(opt.bytes, &vector));
  CHECK(ccrun_stream_create(&stream));
  for (int i = 0; i < WINDOW; i++) CHECK(ccrun_event_create(&events[i]));
  if (inner == 1 && outer > 1) CHECK(ccrun_share_publish("out", 3, 0, vector, 0, opt.bytes));
  for (int level = 0; level < LEVELS; level++) open_ring(level);
}

static void close_world(void) {
  for (int level = 0; level < LEVELS; level++) {
    if (rings[level].scratch != 0) CHECK(ccrun_buffer_free(rings[level].scratch));
  }
  for (int i = 0; i < WINDOW; i++) CHECK(ccrun_event_destroy(events[i]));
  CHECK(ccrun_stream_destroy(stream));
  CHECK(ccrun_buffer_free(vector));
}

#define FLAGS "flags: -protocol get|put -bytes SIZE -slice SIZE -group N -iters N -warmup N -verify all|last|off\n"

/* usage ends a rank. Each one says why, as any may be the first to end. */
static void usage(const char *flag) {
  fprintf(stderr, "ring_allreduce: bad flag or value: %s\n%s", flag, world.rank == 0 ? FLAGS : "");
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

/* MAX_TOTAL is how many iterations there may be, warm-up and all; STEPS_MAX is
 * how many steps an operation can name. */
enum { MAX_TOTAL = 1 << 30, STEPS_MAX = 1 << 16 };

static void parse(int argc, char **argv) {
  int64_t iters = opt.iters, warmup = opt.warmup;
  for (int i = 1; i < argc; i += 2) {
    const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(flag, "-h") == 0 || strcmp(flag, "-help") == 0) help();
    if (strcmp(flag, "-protocol") == 0 && (strcmp(value, "get") == 0 || strcmp(value, "put") == 0)) opt.put = value[0] == 'p';
    else if (strcmp(flag, "-bytes") == 0) opt.bytes = size(flag, value);
    else if (strcmp(flag, "-slice") == 0) opt.slice_bytes = size(flag, value);
    else if (strcmp(flag, "-group") == 0) opt.group = size(flag, value);
    else if (strcmp(flag, "-iters") == 0) iters = size(flag, value);
    else if (strcmp(flag, "-warmup") == 0) warmup = size(flag, value);
    else if (strcmp(flag, "-verify") == 0) opt.verify = value;
    else usage(flag);
  }
  if (iters < 1 || iters > MAX_TOTAL || warmup > MAX_TOTAL - iters) usage("-iters or -warmup");
  opt.iters = (int)iters;
  opt.warmup = (int)warmup;
  if (opt.bytes % 4 != 0) usage("-bytes");
  if (opt.slice_bytes % 4 != 0 || opt.slice_bytes > UINT32_MAX) usage("-slice");
  if (opt.group > world.size || (opt.group > 0 && world.size % opt.group != 0)) usage("-group");
  if (opt.group == 0 && world.size > STEPS_MAX / 2) usage("-group");
  if (strcmp(opt.verify, "all") != 0 && strcmp(opt.verify, "last") != 0 && strcmp(opt.verify, "off") != 0) usage("-verify");
}

int main(int argc, char **argv) {
  CHECK(ccrun_world(&world));
  parse(argc, argv);
  open_world();
  if (world.rank == 0) {
    printf("ring_allreduce: %u ranks in rings of %u, %lld bytes, %s in slices of %lld, %d warm-up and %d iterations\n", world.size,
           rings[0].size, (long long)opt.bytes, opt.put ? "put" : "get", (long long)opt.slice_bytes, opt.warmup, opt.iters);
  }
  for (int k = 0; k < opt.warmup + opt.iters; k++) iterate(k);
  enter(opt.warmup + opt.iters);
  ccrun_digest_t digest;
  CHECK(ccrun_buffer_digest(stream, vector, 0, opt.bytes, "out", 3, &digest));
  close_world();
  if (world.rank == 0) {
    printf("ring_allreduce: %llu bytes verified, %llu elements wrong, digest %016llx%016llx\n", (unsigned long long)verified,
           (unsigned long long)wrong, (unsigned long long)digest.low, (unsigned long long)digest.high);
  }
  return 0;
}
