package main

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// What the project promises, as relative errors.
const (
	boundLarge   = 0.10 // NCCL from 16 MiB
	boundSmall   = 0.25 // NCCL below, and small all-reduces of others
	boundExperts = 0.15
	boundOverlap = 0.10
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// rows is all comparisons, in the table's order.
func rows() []row {
	return slices.Concat(hopperRows(), blackwellRows(), otherRows(), smallRows(), expertRows(), overlapRows())
}

func allReduceRow(preset string, ranks int, bytes int64, busBandwidth float64, name, fitted, source string) row {
	bound := boundLarge
	if bytes < 16*mib {
		bound = boundSmall
	}
	return row{
		what: "all_reduce " + name, preset: preset, unit: "GB/s", published: busBandwidth, bound: bound,
		fitted: fitted, source: source, simulate: collective(op.AllReduce, ranks, bytes),
	}
}

func inGroup(group string, all ...row) []row {
	for i := range all {
		all[i].group = group
	}
	return all
}

const stasH200 = "ml-engineering (stas00), 8 x H200, NCCL 2.27.7 under torch, 2026-08"

func hopperRows() []row {
	gathered := allReduceRow("h200", 8, 16*gib, 361, "16 GiB", "nccl.bandwidth", stasH200)
	gathered.what, gathered.simulate = "all_gather 16 GiB", collective(op.AllGather, 8, 16*gib)
	scattered := allReduceRow("h200", 8, 16*gib, 363, "16 GiB", "nccl.bandwidth", stasH200)
	scattered.what, scattered.simulate = "reduce_scatter 16 GiB", collective(op.ReduceScatter, 8, 16*gib)
	return inGroup("NCCL on 8 H200, busbw",
		allReduceRow("h200", 8, 128*kib, 5.73, "128 KiB", "nccl.overhead", stasH200),
		allReduceRow("h200", 8, 1*mib, 39.9, "1 MiB", "", stasH200),
		allReduceRow("h200", 8, 16*mib, 220, "16 MiB", "nccl.nvls.latency", stasH200),
		allReduceRow("h200", 8, 256*mib, 436, "256 MiB", "", stasH200),
		allReduceRow("h200", 8, 4*gib, 473, "4 GiB", "nccl.nvls.bandwidth", stasH200),
		allReduceRow("h200", 8, 16*gib, 480, "16 GiB", "nccl.nvls.bandwidth", "Azure's benchmark guide, 8 H200: 480.0; ml-engineering (stas00): up to 482"),
		gathered, scattered,
	)
}

// bare is NCCL's calls one behind the other, as nccl-tests has them: no
// framework, and what the thread does is hidden behind the call before.
var bare = []string{"nccl.overhead=0us", "host.call=0us", "host.wake=0us"}

const stasB200 = "ml-engineering (stas00), 4 x 8 B200 with EFA, under torch"

func blackwellRows() []row {
	return inGroup("NCCL on 4 x 8 B200 with EFA, busbw",
		allReduceRow("b200-efa", 32, 1*mib, 5.4, "1 MiB", "nccl.tree.nethop.simple", stasB200),
		allReduceRow("b200-efa", 32, 64*mib, 157, "64 MiB", "", stasB200),
		allReduceRow("b200-efa", 32, 1*gib, 362, "1 GiB", "", stasB200),
		allReduceRow("b200-efa", 32, 16*gib, 382, "16 GiB", "nccl.net.bandwidth", stasB200),
	)
}

// otherRows are single figures of other machines and of whole operations.
func otherRows() []row {
	small := func(preset, what string, c op.CollectiveOp, bytes int64, us float64, source string, set ...string) row {
		r := row{what: what, preset: preset, set: set, unit: "us", published: us, source: source, simulate: collectiveMicros(c, 8, bytes)}
		if preset != "h100" {
			r.fitted = "nccl.overhead" // h100 has that of h200
		}
		return r
	}
	twoNodes := func(name string, bytes int64, us float64, fitted string) row {
		r := small("b200-efa", "all_reduce "+name+", 2 x 8 B200 with EFA, bare", op.AllReduce, bytes, us, "nccl-tests on 2 x p6-b200, dstack PR 3961", bare...)
		r.fitted, r.simulate = fitted, collectiveMicros(op.AllReduce, 16, bytes)
		return r
	}
	fourNodes := allReduceRow("h200", 32, 16*gib, 365, "16 GiB on 4 x 8 H200, rings only", "nccl.bandwidth", "ml-engineering (stas00), 4 x 8 H200 with EFA")
	fourNodes.set = []string{"nccl.nvls.nodes=1"}
	unpromised := func(r row) row {
		r.bound = 0
		return r
	}
	const roce = "nccl issue 1221, H100 with 8 x 400 Gbit/s RoCE, NCCL 2.19.3, 4 to 8 GiB"
	return slices.Concat(
		inGroup("NCCL on large vectors, busbw",
			allReduceRow("h100", 8, 16*gib, 478, "16 GiB on 8 H100", "nccl.nvls.bandwidth", "Azure's benchmark guide: 478.9; nccl issue 1264: 476 to 480"),
			allReduceRow("a100", 8, 16*gib, 233, "16 GiB on 8 A100", "nccl.bandwidth", "ml-engineering (stas00), Azure's benchmark guide: 231 to 235"),
			allReduceRow("b200", 8, 16*gib, 842, "16 GiB on 8 B200", "nccl.nvls.bandwidth", "ml-engineering (stas00); Azure guide issue 7: 838 to 846"),
			fourNodes,
			allReduceRow("a100", 32, 16*gib, 192, "16 GiB on 4 x 8 A100", "", "nccl issue 1576: 192 GB/s on DGX A100 with 8 x 200 Gbit/s; the number of nodes is not said"),
			unpromised(allReduceRow("h100", 16, 8*gib, 430, "8 GiB on 2 x 8 H100, RoCE", "", roce)),
			unpromised(allReduceRow("h100", 32, 8*gib, 320, "8 GiB on 4 x 8 H100, RoCE", "", roce)),
		),
		inGroup("NCCL on small vectors, whole operation",
			small("h100", "all_reduce 8 B, 8 GPUs, bare", op.AllReduce, 8, 12.5, "nccl-tests on an H20 node, DeepEP issue 303 (8 ranks presumed)", bare...),
			small("h100", "all_gather 32 B, 8 GPUs, bare", op.AllGather, 32, 10.5, "nccl-tests on an H20 node, DeepEP issue 303 (8 ranks presumed)", bare...),
			small("h100", "all_reduce 64 KiB, 8 H100", op.AllReduce, 64*kib, 28.5, "Azure's benchmark guides, H100 and H200: 26 to 31 us up to 256 KiB"),
			small("a100", "all_reduce 8 B, 8 A100", op.AllReduce, 8, 43, "Azure's benchmark guide, A100, NCCL 2.18"),
			small("b200", "all_reduce 8 B, 8 B200", op.AllReduce, 8, 50, "ml-engineering (stas00), 8 B200 under torch: about 50 us"),
			twoNodes("8 B", 8, 50.6, "nccl.tree.nethop.ll"),
			twoNodes("256 B", 256, 57.1, ""),
		),
	)
}

// The rows of kernels and libraries change what their kernels do otherwise
// than the preset's copies and reductions; README.md says why. Their schedules
// are one launch or a captured graph, so a thread's calls cost nothing.
var sglangKernel = []string{"host.call=0us", "host.wake=0us", "launch.kernel=1.9us", "launch.copy=0us", "launch.engines=1024", "link.nvlink.kernel=70GB/s", "link.nvlink.bandwidth=70GB/s"}

const sglang = "SGLang PR 2904, one- and two-shot all-reduce over CUDA IPC on H100"

// smallRows is the custom all-reduce: one shot for two ranks, below 512 KiB for
// four and below 256 KiB for eight, else two.
func smallRows() []row {
	fitted := map[string]string{
		"512 B, 2 GPUs": "launch.kernel", "512 B, 4 GPUs": "link.nvlink.latency", "512 B, 8 GPUs": "launch.signal", "1 MiB, 2 GPUs": "link.nvlink.kernel",
	}
	var all []row
	for _, size := range []struct {
		name  string
		bytes int64
		us    [3]float64
	}{
		{"512 B", 512, [3]float64{3.7, 4.8, 5.9}},
		{"32 KiB", 32 * kib, [3]float64{4.5, 4.8, 7.8}},
		{"256 KiB", 256 * kib, [3]float64{7.9, 13.9, 16.7}},
		{"1 MiB", mib, [3]float64{19.9, 31.1, 33.8}},
	} {
		for i, ranks := range []int{2, 4, 8} {
			name, shots, simulate := fmt.Sprintf("%s, %d GPUs", size.name, ranks), "one-shot", oneshot
			if ranks == 4 && size.bytes >= 512*kib || ranks == 8 && size.bytes >= 256*kib {
				shots, simulate = "two-shot", twoshot
			}
			all = append(all, row{
				what: shots + " " + name, preset: "h100", set: sglangKernel, unit: "us", published: size.us[i], bound: boundSmall,
				fitted: fitted[name], source: sglang, simulate: simulate(ranks, size.bytes),
			})
		}
	}
	return inGroup("one- and two-shot all_reduce by kernels", all...)
}

// lowLatencyKernel is a kernel of all multiprocessors that counts, casts and
// meets itself before it sends, and whose threads store to peers.
var lowLatencyKernel = []string{"host.call=0us", "host.wake=0us", "launch.kernel=14us", "launch.copy=0us", "launch.engines=1024"}

const (
	deepEP = "DeepEP's README, low latency on H800 with a 400 Gbit/s NIC each: 128 tokens, hidden 7168, top-8"
	ncclEP = "NCCL EP's README, H100, BF16: 128 tokens, hidden 7168, top-8 of 256"
)

func expertRows() []row {
	var all []row
	add := func(what, preset, unit string, published float64, fitted, source string, simulate func(*preset.Preset) (float64, error)) {
		all = append(all, row{
			what: what, preset: preset, set: lowLatencyKernel, unit: unit, published: published,
			bound: boundExperts, fitted: fitted, source: source, simulate: simulate,
		})
	}
	for _, c := range []struct {
		ranks             int
		dispatch, combine float64
		fitted            [2]string
	}{{8, 77, 114, [2]string{"launch.kernel", "what is staged"}}, {32, 155, 273, [2]string{}}, {128, 192, 369, [2]string{}}} {
		add(fmt.Sprintf("DeepEP V1 dispatch, %d GPUs", c.ranks), "h800", "us", c.dispatch, c.fitted[0], deepEP, expertMicros(deepEPDispatch, c.ranks))
		add(fmt.Sprintf("DeepEP V1 combine, %d GPUs", c.ranks), "h800", "us", c.combine, c.fitted[1], deepEP, expertMicros(deepEPCombine, c.ranks))
	}
	add("NCCL EP dispatch, 8 GPUs", "h100", "GB/s", 224.3, "", ncclEP, expertRate(ncclEPDispatch, 8))
	add("NCCL EP combine, 8 GPUs", "h100", "GB/s", 185.2, "", ncclEP, expertRate(ncclEPCombine, 8))
	add("NCCL EP dispatch, 32 GPUs", "h100", "GB/s", 53.6, "", ncclEP, expertRate(ncclEPDispatch, 32))
	add("NCCL EP combine, 32 GPUs", "h100", "GB/s", 50.0, "", ncclEP, expertRate(ncclEPCombine, 32))
	return inGroup("low-latency expert dispatch and combine", all...)
}

const (
	fuser        = "NVIDIA/Fuser PR 5259, 8 H100, BF16, m=32k (read as that), k=16k, n=8k"
	fuserStreams = "NVIDIA/Fuser PR 5838, 8 H100, BF16, m=k=32k, n=8k"
)

// bf16Products lets the product of 32-bit numbers, which is what an operation
// has, run as fast as that of the published bfloat16.
var bf16Products = []string{"gemm.f32=989TFLOP/s"}

func overlapRows() []row {
	first, second := matrices{32 * kib, 16 * kib, 8 * kib}, matrices{32 * kib, 32 * kib, 8 * kib}
	one := func(what string, published float64, fitted, source string, simulate func(*preset.Preset) (float64, error)) row {
		return row{
			what: what, preset: "h100", set: bf16Products, unit: "TFLOP/s", published: published, bound: boundOverlap,
			fitted: fitted, source: source, simulate: simulate,
		}
	}
	return inGroup("all-gather and product on 8 H100",
		one("all_gather, then product", 560, "gemm.efficiency", fuser, first.teraflops(8, gatherThenMultiply)),
		one("ring of slices over IPC", 678, "", fuser, first.teraflops(8, gatherRing)),
		one("ring of slices, k=32k", 671, "", fuserStreams, second.teraflops(8, gatherRing)),
	)
}
