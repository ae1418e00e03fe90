package nccl

// The numbers of two machines much as the presets have them, with sources; here
// so that the model's own tests do not change with a preset. The host's 5 us are
// in the overhead.

func nccls(base, hop, netHop, fraction Protocols) Way { return Way{base, hop, netHop, fraction} }

// hopper is eight GPUs with NVSwitch and a 400G NIC each.
func hopper() *Params {
	const us, gb = 1e-6, 1e9
	return &Params{
		Overhead: 23 * us,
		Ring: nccls(Protocols{6.6 * us, 14 * us, 8.4 * us}, Protocols{0.6 * us, 1.9 * us, 3.4 * us},
			Protocols{2.7 * us, 4 * us, 14 * us}, Protocols{0.5, 0.92, 1}),
		Tree: nccls(Protocols{6.8 * us, 14 * us, 8.4 * us}, Protocols{0.6 * us, 1.25 * us, 4 * us},
			Protocols{5 * us, 8.5 * us, 14 * us}, Protocols{0.26, 0.72, 0.7}),
		Plateau:   1.4,
		Bandwidth: 367 * gb, NetBandwidth: 48.5 * gb,
		LLMax: 141 * gb, LLNetMax: 35 * gb,
		NVLSLatency: 47 * us, NVLSBandwidth: 476 * gb, NVLSRanks: 5, NVLSNodes: 64,
		DirectBase: 12 * us, DirectBaseLL: 7 * us, DirectPeer: 0.3 * us, DirectBandwidth: 367 * gb, DirectLLBytes: 16 << 10,
	}
}

// blackwell is eight GPUs with NVSwitch and 400 Gbit/s of EFA each, where only
// Simple is used between nodes, as older plugins have it.
func blackwell() *Params {
	const us, gb = 1e-6, 1e9
	return &Params{
		Overhead: 35 * us,
		Ring: nccls(Protocols{6.6 * us, 14 * us, 8.4 * us}, Protocols{0.6 * us, 1.9 * us, 3.4 * us},
			Protocols{Simple: 35 * us}, Protocols{0.5, 0.92, 1}),
		Tree: nccls(Protocols{6.8 * us, 14 * us, 8.4 * us}, Protocols{0.6 * us, 1.25 * us, 4 * us},
			Protocols{Simple: 67 * us}, Protocols{0.26, 0.72, 0.7}),
		Plateau:   1,
		Bandwidth: 682 * gb, NetBandwidth: 47.75 * gb,
		LLMax: 282 * gb, LLNetMax: 70 * gb,
		NVLSLatency: 47 * us, NVLSBandwidth: 842 * gb, NVLSRanks: 6, NVLSNodes: 1,
		DirectBase: 12 * us, DirectBaseLL: 7 * us, DirectPeer: 0.3 * us, DirectBandwidth: 682 * gb, DirectLLBytes: 16 << 10,
	}
}
