/* The MPI side of the comparison of collectives: times one of them with some
 * sizes, in a loop as `ccrun bench` does, checks every element, and prints one
 * JSON object per size and line.
 *
 *   mpirun -n 2 collectives OPERATION WARMUP BYTESxITERATIONS...
 *
 * BYTES is the size of the whole array, as nccl-tests counts it. The time is
 * the mean over the ranks of the mean over the iterations. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static int rank, size;

static void fail(const char *text) {
	fprintf(stderr, "collectives: rank %d: %s\n", rank, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* allocate gives zeroed memory, in huge pages where the kernel has some. */
static float *allocate(size_t count) {
	size_t bytes = (count * sizeof(float) / (2 << 20) + 1) * (2 << 20);
	void *p = NULL;
	if (posix_memalign(&p, 2 << 20, bytes) != 0)
		fail("out of memory");
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return p;
}

/* element is what rank r contributes at place i: small, so that sums are exact. */
static float element(int r, size_t i) { return (float)(r + 1 + (int)(i % 5)); }

static void all_reduce(const float *in, float *out, size_t count) {
	MPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter(const float *in, float *out, size_t count) {
	MPI_Reduce_scatter_block(in, out, (int)(count / size), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void all_gather(const float *in, float *out, size_t count) {
	MPI_Allgather(in, (int)(count / size), MPI_FLOAT, out, (int)(count / size), MPI_FLOAT, MPI_COMM_WORLD);
}

static void alltoall(const float *in, float *out, size_t count) {
	MPI_Alltoall(in, (int)(count / size), MPI_FLOAT, out, (int)(count / size), MPI_FLOAT, MPI_COMM_WORLD);
}

static void broadcast(const float *in, float *out, size_t count) {
	(void)in;
	MPI_Bcast(out, (int)count, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

/* expected is what this rank must find at place i of its output. */
static float sum(size_t i) { return size * (size + 1) / 2 + (float)size * (i % 5); }
static float expect_all_reduce(size_t i, size_t share) { (void)share; return sum(i); }
static float expect_reduce_scatter(size_t i, size_t share) { return sum(rank * share + i); }
static float expect_all_gather(size_t i, size_t share) { return element((int)(i / share), i % share); }
static float expect_alltoall(size_t i, size_t share) { return element((int)(i / share), rank * share + i % share); }
static float expect_broadcast(size_t i, size_t share) { (void)share; return element(0, i); }

static const struct operation {
	const char *name;
	void (*run)(const float *in, float *out, size_t count);
	float (*expected)(size_t i, size_t share);
	int scattered; /* the output is one share */
} operations[] = {
	{"all_reduce", all_reduce, expect_all_reduce, 0},
	{"reduce_scatter", reduce_scatter, expect_reduce_scatter, 1},
	{"all_gather", all_gather, expect_all_gather, 0},
	{"alltoall", alltoall, expect_alltoall, 0},
	{"broadcast", broadcast, expect_broadcast, 0},
};

static void check(const struct operation *o, const float *out, size_t count) {
	size_t share = count / size, n = o->scattered ? share : count;
	for (size_t i = 0; i < n; i++)
		if (out[i] != o->expected(i, share))
			fail("wrong element");
}

/* fits tells whether a share is whole and not empty, where there are shares. */
static int fits(const struct operation *o, size_t bytes) {
	size_t unit = o->run == all_reduce || o->run == broadcast ? sizeof(float) : size * sizeof(float);
	return bytes > 0 && bytes % unit == 0;
}

static void measure(const struct operation *o, size_t bytes, int warmup, int iterations) {
	size_t count = bytes / sizeof(float);
	float *in = allocate(count), *out = allocate(count);
	for (size_t i = 0; i < count; i++)
		in[i] = element(rank, i);
	if (o->run == broadcast && rank == 0)
		memcpy(out, in, count * sizeof *out);
	for (int i = 0; i < warmup; i++)
		o->run(in, out, count);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = now();
	for (int i = 0; i < iterations; i++)
		o->run(in, out, count);
	double mine = (now() - start) / iterations, all = 0;
	check(o, out, count);
	MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("{\"bytes\":%zu,\"mean_ns\":%.1f}\n", bytes, all / size);
	free(in);
	free(out);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const struct operation *o = NULL;
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (argc > 2 && strcmp(argv[1], operations[i].name) == 0)
			o = &operations[i];
	int warmup = argc > 2 ? atoi(argv[2]) : -1;
	if (!o || warmup < 0)
		fail("want OPERATION WARMUP BYTESxITERATIONS...");
	for (int i = 3; i < argc; i++) {
		size_t bytes;
		int iterations;
		if (sscanf(argv[i], "%zux%d", &bytes, &iterations) != 2 || iterations < 1 || !fits(o, bytes))
			fail("want BYTESxITERATIONS, in whole elements of each rank");
		measure(o, bytes, warmup, iterations);
	}
	MPI_Finalize();
	return 0;
}
