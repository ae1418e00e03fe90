package abi

// collectiveRows are those of version 2: collectives and what goes with them.
var collectiveRows = []Row{
	{
		Name: "comm_world", Since: 2, Family: "comms",
		Doc: "Gives the communicator of all ranks, which are numbered as in the world; every rank calls it, and later calls give the same handle.",
		Params: []Param{
			{Name: "timeout", Val: I64, Role: Timeout},
			{Name: "comm", Val: I32, Role: Out, Type: "u64", Bytes: 8},
		},
		Errnos:  []Errno{TimedOut, Limit, Failed, Unsupported, Mismatch},
		Devices: "cpu",
	},
	{
		Name: "comm_split", Since: 2, Family: "comms",
		Doc: "Makes communicators of the ranks of one that give the same color, ordered by key and then by rank; every rank of it calls this, and one with a negative color gets 0.",
		Params: []Param{
			{Name: "parent", Val: I64, Role: Comm},
			{Name: "color", Val: I32, Role: Scalar, Type: "i32", Bytes: 4},
			{Name: "key", Val: I32, Role: Scalar, Type: "i32", Bytes: 4},
			{Name: "timeout", Val: I64, Role: Timeout},
			{Name: "comm", Val: I32, Role: Out, Type: "u64", Bytes: 8},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, TimedOut, Limit, Failed, Unsupported, Mismatch},
		Devices: "cpu",
	},
	{
		Name: "comm_free", Since: 2, Family: "comms",
		Doc: "Gives a communicator back; calls already submitted still finish. mismatch: other ranks have called something else meanwhile; the communicator is given back all the same.",
		Params: []Param{
			{Name: "comm", Val: I64, Role: Comm},
		},
		Errnos:  []Errno{BadHandle, Stale, Mismatch},
		Devices: "cpu",
	},
	{
		Name: "comm_info", Since: 2, Family: "comms",
		Doc: "Fills in what this rank is told of a communicator.",
		Params: []Param{
			{Name: "comm", Val: I64, Role: Comm},
			{Name: "info", Val: I32, Role: Out, Type: "comm", Bytes: 16},
		},
		Errnos:  []Errno{BadHandle, Stale},
		Devices: "cpu",
	},
	{
		Name: "comm_world_rank", Since: 2, Family: "comms",
		Doc: "Gives the rank in the world of a rank of a communicator.",
		Params: []Param{
			{Name: "comm", Val: I64, Role: Comm},
			{Name: "rank", Val: I32, Role: Scalar, Type: "u32", Bytes: 4},
			{Name: "world_rank", Val: I32, Role: Out, Type: "u32", Bytes: 4},
		},
		Errnos:  []Errno{BadHandle, Stale, NoRank},
		Devices: "cpu",
	},
	{
		Name: "collective", Since: 2, Family: "collectives",
		Doc: "Submits a collective; it begins and ends one in the trace by itself. Ranks must agree on all but their buffers; an all_to_all is in place on all of them or on none.",
		Params: []Param{
			{Name: "stream", Val: I64, Role: Stream},
			{Name: "call", Val: I32, Role: InStruct, Type: "call", Bytes: 96},
		},
		Errnos:  []Errno{BadHandle, Stale, Range, Invalid, Failed, NoRank, Unsupported, Limit},
		Devices: "cpu",
	},
	{
		Name: "collective_group", Since: 2, Family: "collectives",
		Doc: "Submits collectives that make progress together: the order of calls on different communicators need not be the same on all ranks. A structure that is wrong refuses all of them; the device may refuse some after others were submitted.",
		Params: []Param{
			{Name: "stream", Val: I64, Role: Stream},
			{Name: "calls", Val: I32, Role: In, Type: "call", Bytes: 96},
			{Name: "calls_len", Val: I32, Role: Len},
		},
		Errnos:  []Errno{BadHandle, Stale, Range, Invalid, Failed, NoRank, Unsupported, Limit},
		Devices: "cpu",
	},
	{
		Name: "gemm", Since: 2, Family: "collectives",
		Doc: "Multiplies matrices, in stream order.",
		Params: []Param{
			{Name: "stream", Val: I64, Role: Stream},
			{Name: "gemm", Val: I32, Role: InStruct, Type: "gemm", Bytes: 64},
		},
		Errnos:  []Errno{BadHandle, Stale, Range, Invalid, Failed, Unsupported},
		Devices: "cpu",
	},
	{
		Name: "buffer_verify_reduced", Since: 2, Family: "buffers",
		Doc: "Compares a region with the reduction of the patterns of all seeds from pattern_offset on, after all earlier operations of the stream; the run fails (exit 114) if any element differs by more than rounding explains.",
		Params: []Param{
			{Name: "stream", Val: I64, Role: Stream},
			{Name: "buffer", Val: I64, Role: Buffer},
			{Name: "offset", Val: I64, Role: Size},
			{Name: "bytes", Val: I64, Role: Size},
			{Name: "dtype", Val: I32, Role: Enum, Type: "dtype"},
			{Name: "redop", Val: I32, Role: Enum, Type: "redop"},
			{Name: "seeds", Val: I32, Role: In, Type: "u64", Bytes: 8},
			{Name: "seeds_len", Val: I32, Role: Len},
			{Name: "pattern_offset", Val: I64, Role: Size},
			{Name: "result", Val: I32, Role: Out, Type: "verify_result", Bytes: 16},
		},
		Errnos:  []Errno{BadHandle, Stale, Range, Invalid, Failed, TimedOut, Unsupported},
		Devices: "cpu cuda sim",
	},
}
