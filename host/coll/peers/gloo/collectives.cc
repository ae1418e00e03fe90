// The Gloo side of the comparison of collectives; see mpi/collectives.c.
//
//   collectives RANK RANKS DIRECTORY OPERATION WARMUP BYTESxITERATIONS...
//
// The ranks of a run are given the same empty directory to meet in.
#include <sys/mman.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gloo/allgather.h"
#include "gloo/allreduce.h"
#include "gloo/alltoall.h"
#include "gloo/barrier.h"
#include "gloo/broadcast.h"
#include "gloo/math.h"
#include "gloo/reduce_scatter.h"
#include "gloo/rendezvous/context.h"
#include "gloo/rendezvous/file_store.h"
#include "gloo/rendezvous/prefix_store.h"
#include "gloo/transport/tcp/device.h"

namespace {

int rank, size;
std::shared_ptr<gloo::rendezvous::Context> context;

[[noreturn]] void fail(const char *text) {
	fprintf(stderr, "collectives: rank %d: %s\n", rank, text);
	exit(1);
}

double now() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

float *allocate(size_t count) {
	size_t bytes = (count * sizeof(float) / (2 << 20) + 1) * (2 << 20);
	void *p = nullptr;
	if (posix_memalign(&p, 2 << 20, bytes) != 0)
		fail("out of memory");
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return static_cast<float *>(p);
}

float element(int r, size_t i) { return static_cast<float>(r + 1 + static_cast<int>(i % 5)); }
float sum(size_t i) { return size * (size + 1) / 2 + static_cast<float>(size) * (i % 5); }

// Operation makes what one call does, so that what Gloo can prepare is not timed.
struct Operation {
	std::function<std::function<void()>(float *in, float *out, size_t count)> prepare;
	std::function<float(size_t i, size_t share)> expected;
	bool scattered;
};

std::function<void()> allReduce(float *in, float *out, size_t count) {
	return [=] {
		gloo::AllreduceOptions o(context);
		o.setInput(in, count);
		o.setOutput(out, count);
		o.setReduceFunction(static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
		gloo::allreduce(o);
	};
}

// Gloo reduces in the buffer itself, so the input has to be put there for each
// call.
std::function<void()> reduceScatter(float *in, float *out, size_t count) {
	auto counts = std::vector<int>(size, static_cast<int>(count / size));
	auto algorithm = std::make_shared<gloo::ReduceScatterHalvingDoubling<float>>(
		context, std::vector<float *>{out}, static_cast<int>(count), counts);
	return [=] {
		memcpy(out, in, count * sizeof(float));
		algorithm->run();
	};
}

std::function<void()> allGather(float *in, float *out, size_t count) {
	return [=] {
		gloo::AllgatherOptions o(context);
		o.setInput(in, count / size);
		o.setOutput(out, count);
		gloo::allgather(o);
	};
}

std::function<void()> allToAll(float *in, float *out, size_t count) {
	return [=] {
		gloo::AlltoallOptions o(context);
		o.setInput(in, count);
		o.setOutput(out, count);
		gloo::alltoall(o);
	};
}

std::function<void()> broadcast(float *in, float *out, size_t count) {
	if (rank == 0)
		memcpy(out, in, count * sizeof(float));
	return [=] {
		gloo::BroadcastOptions o(context);
		o.setOutput(out, count);
		o.setRoot(0);
		gloo::broadcast(o);
	};
}

std::map<std::string, Operation> operations() {
	return {
		{"all_reduce", {allReduce, [](size_t i, size_t) { return sum(i); }, false}},
		{"reduce_scatter", {reduceScatter, [](size_t i, size_t share) { return sum(rank * share + i); }, true}},
		{"all_gather", {allGather, [](size_t i, size_t share) { return element(i / share, i % share); }, false}},
		{"alltoall", {allToAll, [](size_t i, size_t share) { return element(i / share, rank * share + i % share); }, false}},
		{"broadcast", {broadcast, [](size_t i, size_t) { return element(0, i); }, false}},
	};
}

void barrier() {
	gloo::BarrierOptions o(context);
	gloo::barrier(o);
}

double meanOfRanks(double mine) {
	std::vector<double> all(size);
	gloo::AllgatherOptions o(context);
	o.setInput(&mine, 1);
	o.setOutput(all.data(), all.size());
	gloo::allgather(o);
	double total = 0;
	for (double one : all)
		total += one;
	return total / size;
}

void measure(const Operation &o, size_t bytes, int warmup, int iterations) {
	size_t count = bytes / sizeof(float), share = count / size;
	float *in = allocate(count), *out = allocate(count);
	for (size_t i = 0; i < count; i++)
		in[i] = element(rank, i);
	{
		auto call = o.prepare(in, out, count);
		for (int i = 0; i < warmup; i++)
			call();
		barrier();
		double start = now();
		for (int i = 0; i < iterations; i++)
			call();
		double mean = meanOfRanks((now() - start) / iterations);
		if (rank == 0)
			printf("{\"bytes\":%zu,\"mean_ns\":%.1f}\n", bytes, mean);
	}
	for (size_t i = 0; i < (o.scattered ? share : count); i++)
		if (out[i] != o.expected(i, share))
			fail("wrong element");
	barrier();
	free(in);
	free(out);
}

void connect(const char *directory) {
	gloo::transport::tcp::attr attr;
	attr.hostname = "127.0.0.1";
	gloo::rendezvous::FileStore store(directory);
	context = std::make_shared<gloo::rendezvous::Context>(rank, size);
	std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attr);
	context->connectFullMesh(store, device);
}

} // namespace

int main(int argc, char **argv) {
	if (argc < 7)
		fail("want RANK RANKS DIRECTORY OPERATION WARMUP BYTESxITERATIONS...");
	rank = atoi(argv[1]);
	size = atoi(argv[2]);
	auto all = operations();
	auto found = all.find(argv[4]);
	if (found == all.end() || atoi(argv[5]) < 0)
		fail("no such operation, or a negative WARMUP");
	connect(argv[3]);
	int warmup = atoi(argv[5]);
	bool shared = found->first != "all_reduce" && found->first != "broadcast";
	size_t unit = sizeof(float) * (shared ? size : 1);
	for (int i = 6; i < argc; i++) {
		size_t bytes;
		int iterations;
		if (sscanf(argv[i], "%zux%d", &bytes, &iterations) != 2 || iterations < 1 || bytes == 0 || bytes % unit)
			fail("want BYTESxITERATIONS, in whole elements of each rank");
		measure(found->second, bytes, warmup, iterations);
	}
	return 0;
}
