/* The Open MPI side of the peer benchmark: times MPI_Allgather and a ping-pong
 * and prints one JSON object per measurement and line, times in nanoseconds.
 *
 *   mpirun -n 2 peer gather   BYTES ITERATIONS WARMUP   BYTES from each rank
 *   mpirun -n 2 peer pingpong BYTES TURNS WARMUP        2000 round trips a turn
 *
 * A collective's time is CCT: from the first rank's start to the last rank's
 * end, on the monotonic clock that all processes of a node share. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
	long long x = *(const long long *)a, y = *(const long long *)b;
	return (x > y) - (x < y);
}

static void *allocate(size_t bytes) {
	void *p = NULL;
	if (posix_memalign(&p, 2 << 20, bytes ? bytes : 1) != 0) {
		fprintf(stderr, "peer: out of memory\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	memset(p, rank + 1, bytes);
	return p;
}

/* check ends the run unless every rank's chunk holds what that rank wrote. */
static void check(const unsigned char *all, size_t bytes) {
	for (int r = 0; r < size; r++)
		for (size_t i = 0; i < bytes; i++)
			if (all[r * bytes + i] != (unsigned char)(r + 1)) {
				fprintf(stderr, "peer: rank %d: byte %zu of chunk %d is wrong\n", rank, i, r);
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
}

/* report prints the median of the counted iterations, each rank's of which
 * began and ended at the given times. */
static void report(const char *what, size_t bytes, long long *start, long long *end, int iterations) {
	long long *first = allocate(iterations * sizeof *first), *last = allocate(iterations * sizeof *last);
	MPI_Reduce(start, first, iterations, MPI_LONG_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
	MPI_Reduce(end, last, iterations, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	for (int i = 0; i < iterations; i++)
		last[i] -= first[i];
	qsort(last, iterations, sizeof *last, ascending);
	if (rank == 0)
		printf("{\"what\":\"%s\",\"bytes\":%zu,\"p50_ns\":%lld}\n", what, bytes, last[iterations / 2]);
	free(first);
	free(last);
}

enum way { COPY, OUT_OF_PLACE, IN_PLACE };

static void once(enum way way, const unsigned char *own, unsigned char *all, size_t bytes) {
	switch (way) {
	case COPY:
		memcpy(all + (rank + 1) % size * bytes, own, bytes);
		break;
	case OUT_OF_PLACE:
		MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
		break;
	case IN_PLACE:
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
		break;
	}
}

static void measure(const char *what, enum way way, size_t bytes, int iterations, int warmup) {
	unsigned char *own = allocate(bytes), *all = allocate(bytes * size);
	long long *start = allocate(iterations * sizeof *start), *end = allocate(iterations * sizeof *end);
	for (int i = -warmup; i < iterations; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		long long t = now();
		once(way, own, all, bytes);
		if (i >= 0) {
			start[i] = t;
			end[i] = now();
		}
	}
	if (way != COPY)
		check(all, bytes);
	report(what, bytes, start, end, iterations);
	free(own);
	free(all);
	free(start);
	free(end);
}

enum { TRIPS = 2000 };

static void turn(void *ball, size_t bytes) {
	for (int trip = 0; trip < TRIPS; trip++) {
		if (rank == 0)
			MPI_Send(ball, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(ball, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(ball, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

/* pingpong times turns of TRIPS round trips between two ranks, and prints what
 * one trip takes in the median turn. */
static void pingpong(size_t bytes, int turns, int warmup) {
	void *ball = allocate(bytes);
	long long *nanos = allocate(turns * sizeof *nanos);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = -warmup; i < turns; i++) {
		long long start = now();
		turn(ball, bytes);
		if (i >= 0)
			nanos[i] = now() - start;
	}
	qsort(nanos, turns, sizeof *nanos, ascending);
	if (rank == 0)
		printf("{\"what\":\"round trip\",\"bytes\":%zu,\"p50_ns\":%.1f}\n", bytes, (double)nanos[turns / 2] / TRIPS);
	free(ball);
	free(nanos);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 5 || atoi(argv[3]) < 1 || (strcmp(argv[1], "pingpong") == 0 && size != 2)) {
		fprintf(stderr, "peer: want gather|pingpong BYTES ITERATIONS WARMUP\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	size_t bytes = strtoull(argv[2], NULL, 10);
	int iterations = atoi(argv[3]), warmup = atoi(argv[4]);
	if (strcmp(argv[1], "pingpong") == 0) {
		pingpong(bytes, iterations, warmup);
	} else {
		measure("copy", COPY, bytes, iterations, warmup);
		measure("mpi", OUT_OF_PLACE, bytes, iterations, warmup);
		measure("mpi in place", IN_PLACE, bytes, iterations, warmup);
	}
	MPI_Finalize();
	return 0;
}
