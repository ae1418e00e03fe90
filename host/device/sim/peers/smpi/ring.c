/* The SimGrid side of the comparison of simulators: an all-reduce of BYTES by
 * each rank over a ring, in 2(n-1) explicit steps of one MPI_Sendrecv, as a
 * program that SMPI simulates. Rank 0 prints the simulated time of one all-reduce
 * as a line of JSON.
 *
 *   smpirun -np 1024 -platform P.xml -hostfile H ring BYTES
 *
 * Adding up is simulated as an operation for each element. SMPI folds the buffers
 * of all ranks into one and then copies no payload: what takes time is the
 * simulation, not the memory. There is no global variable, and so no need of
 * privatization. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* steps passes chunks around the ring as often as an all-reduce does. */
static void steps(int rank, int size, const char *out, char *in, int chunk) {
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	for (int step = 0; step < 2 * (size - 1); step++) {
		MPI_Sendrecv(out, chunk, MPI_BYTE, next, 0, in, chunk, MPI_BYTE, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (step < size - 1)
			smpi_execute_flops(chunk / 4.0);
	}
}

int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	long long bytes = argc == 2 ? atoll(argv[1]) : 0, chunk = (bytes + size - 1) / size;
	if (chunk < 1 || chunk > 1 << 30) {
		fprintf(stderr, "ring: want BYTES, of which a rank's chunk is 1 GiB at most\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	char *out = SMPI_SHARED_MALLOC(chunk), *in = SMPI_SHARED_MALLOC(chunk);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	steps(rank, size, out, in, (int)chunk);
	double mine = MPI_Wtime() - start, slowest = 0;
	MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("{\"ranks\":%d,\"steps\":%d,\"simulated_s\":%.9f}\n", size, 2 * (size - 1), slowest);
	SMPI_SHARED_FREE(out);
	SMPI_SHARED_FREE(in);
	MPI_Finalize();
	return 0;
}
