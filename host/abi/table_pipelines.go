package abi

// pipelineRows are those of version 3: bucket pipelines, and the copies of
// boxes that they pack and unpack with.
var pipelineRows = []Row{
	{
		Name: "copy_box", Since: 3, Family: "transfers",
		Doc: "Copies a box, rows of equal length at equal distances, between buffers of this rank, in stream order.",
		Params: []Param{
			{Name: "stream", Val: I64, Role: Stream},
			{Name: "box", Val: I32, Role: InStruct, Type: "box", Bytes: 96},
		},
		Errnos:  []Errno{BadHandle, Stale, Range, Invalid, Failed},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_create", Since: 3, Family: "pipelines",
		Doc: "Makes a bucket pipeline, which all ranks of the world make alike; budgets and buffers are the rank's own.",
		Params: []Param{
			{Name: "params", Val: I32, Role: InStruct, Type: "pipeline", Bytes: 80},
			{Name: "pipeline", Val: I32, Role: Out, Type: "u64", Bytes: 8},
		},
		Errnos:  []Errno{Invalid, Limit},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_ranks", Since: 3, Family: "pipelines",
		Doc: "Appends to the list of ranks that entries name their destinations and parts in.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "ranks", Val: I32, Role: In, Type: "u32", Bytes: 4},
			{Name: "ranks_len", Val: I32, Role: Len},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, NoRank, Limit},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_add", Since: 3, Family: "pipelines",
		Doc: "Appends entries; every rank appends all of them, in the same order, with buffers where it has a part in them. A bad one refuses all.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "entries", Val: I32, Role: In, Type: "pipeline_entry", Bytes: 128},
			{Name: "entries_len", Val: I32, Role: Len},
		},
		Errnos:  []Errno{BadHandle, Stale, Range, Invalid, NoRank, Limit},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_build", Since: 3, Family: "pipelines",
		Doc: "Joins the entries to buckets, which takes no more of them from then on, and says what came of it.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "plan", Val: I32, Role: Out, Type: "pipeline_plan", Bytes: 48},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Limit},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_buckets", Since: 3, Family: "pipelines",
		Doc: "Describes buckets from the first-th on, in the order in which they were formed, and says how many it has described.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "first", Val: I32, Role: Scalar, Type: "u32", Bytes: 4},
			{Name: "buckets", Val: I32, Role: Out, Type: "pipeline_bucket", Bytes: 48},
			{Name: "buckets_len", Val: I32, Role: Len},
			{Name: "described", Val: I32, Role: Out, Type: "u32", Bytes: 4},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_order", Since: 3, Family: "pipelines",
		Doc: "Sets the order in which buckets are admitted, the same on all ranks: the number of each bucket once. Without it, channels take turns.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "order", Val: I32, Role: In, Type: "u32", Bytes: 4},
			{Name: "order_len", Val: I32, Role: Len},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_agree", Since: 3, Family: "pipelines",
		Doc: "Compares the plan with all other ranks', which call it too: nothing moves before they agree. mismatch: last_error names the first difference.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "timeout", Val: I64, Role: Timeout},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Failed, TimedOut, Mismatch},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_start", Since: 3, Family: "pipelines",
		Doc: "Begins to move all buckets, on streams that have nothing else to do until they have arrived; can be repeated after that. It begins a collective in the trace.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "streams", Val: I32, Role: In, Type: "u64", Bytes: 8},
			{Name: "streams_len", Val: I32, Role: Len},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Limit, Failed, NoMemory},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_poll", Since: 3, Family: "pipelines",
		Doc: "Does what can be done now, without waiting, and says how far the rank is.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "status", Val: I32, Role: Out, Type: "pipeline_status", Bytes: 48},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Failed, NoMemory, Mismatch},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_wait", Since: 3, Family: "pipelines",
		Doc: "Waits until all buckets have arrived on all ranks, or until this rank has admitted all that pipeline_admit lets it. failed: a bucket failed on some rank; last_error says which.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "timeout", Val: I64, Role: Timeout},
			{Name: "status", Val: I32, Role: Out, Type: "pipeline_status", Bytes: 48},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Failed, NoMemory, TimedOut, Mismatch},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_admit", Since: 3, Family: "pipelines",
		Doc: "Under the scripted policy, lets the rank admit the buckets before place limit of the order, and no others; a limit never goes back. It fails as pipeline_wait does.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "limit", Val: I32, Role: Scalar, Type: "u32", Bytes: 4},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Failed, NoMemory, Mismatch},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_stats", Since: 3, Family: "pipelines",
		Doc: "Writes the statistics of this rank's present or last run of the pipeline.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
			{Name: "stats", Val: I32, Role: Out, Type: "pipeline_stats", Bytes: 192},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid},
		Devices: "cpu sim",
	},
	{
		Name: "pipeline_destroy", Since: 3, Family: "pipelines",
		Doc: "Gives a pipeline and its staging memory back; one that is under way cannot be.",
		Params: []Param{
			{Name: "pipeline", Val: I64, Role: Pipeline},
		},
		Errnos:  []Errno{BadHandle, Stale, Invalid, Failed},
		Devices: "cpu sim",
	},
}
