package abi

// Field is one field of a structure that crosses the ABI.
type Field struct {
	Name   string
	Type   string // u8, u16, u32, u64, i64
	Offset int
	Doc    string
}

// Struct is a structure of the ABI: little-endian, no implicit padding, no
// pointers but offsets into the guest's memory.
type Struct struct {
	Name   string
	Bytes  int
	Doc    string
	Fields []Field
}

// EnumValue is one value of an enumeration.
type EnumValue struct {
	Name  string
	Value uint32
}

// Enumeration is a set of numbers that the ABI fixes.
type Enumeration struct {
	Name   string
	Doc    string
	Values []EnumValue
}

// Sizes of the structures, for the host's decoders.
const (
	WorldBytes      = 48
	OpBytes         = 96
	ViewBytes       = 16
	CollectiveBytes = 48
	VerifyBytes     = 16
	DigestBytes     = 16
	CommBytes       = 16
	CallBytes       = 96
	GemmBytes       = 64

	BoxBytes            = 96
	PipelineBytes       = 80
	PipelineEntryBytes  = 128
	PipelinePlanBytes   = 48
	PipelineBucketBytes = 48
	PipelineStatusBytes = 48
	PipelineStatsBytes  = 192
)

// Structs lists the structures.
var Structs = []Struct{
	{"world", WorldBytes, "what a rank is told of the world it runs in", []Field{
		{"rank", "u32", 0, "this rank, from 0"},
		{"size", "u32", 4, "number of ranks"},
		{"local_rank", "u32", 8, "this rank among those of its node"},
		{"local_size", "u32", 12, "number of ranks of its node"},
		{"seed", "u64", 16, "the run's seed, the same on all ranks"},
		{"abi_version", "u32", 24, "the host's version of this table"},
		{"device", "u32", 28, "what carries out operations (enumeration device)"},
		{"signal_slots", "u32", 32, "signal slots per pair of ranks"},
		{"send_channels", "u32", 36, "send channels per pair of ranks"},
		{"buffer_limit", "u64", 40, "device memory that this rank may allocate, in bytes"},
	}},
	{"view", ViewBytes, "a place in a buffer", []Field{
		{"buffer", "u64", 0, "buffer handle"},
		{"offset", "u64", 8, "bytes from its start"},
	}},
	{"op", OpBytes, "one operation of a stream; fields that its kind does not use are ignored", []Field{
		{"kind", "u32", 0, "what to do (enumeration kind)"},
		{"peer", "u32", 4, "the other rank of signal, wait, send, recv"},
		{"dst", "u64", 8, "buffer that is written; of verify and digest: read"},
		{"dst_offset", "u64", 16, "bytes from its start"},
		{"src", "u64", 24, "buffer that is read"},
		{"src_offset", "u64", 32, "bytes from its start; of fill and verify: first byte of the pattern"},
		{"bytes", "u64", 40, "how many bytes"},
		{"value", "u64", 48, "of signal and wait: the sequence number; of fill and verify: the seed"},
		{"slot", "u32", 56, "of signal and wait: the slot; of send and recv: the channel"},
		{"dtype", "u8", 60, "element type of reduce, fill, verify (enumeration dtype)"},
		{"redop", "u8", 61, "operator of reduce (enumeration redop)"},
		{"source_count", "u8", 62, "of reduce: number of sources, 1 to 8"},
		{"reserved", "u8", 63, "zero"},
		{"sources", "u32", 64, "of reduce: pointer to that many views; of gemm and call: pointer to a structure of that name; of copy_box and get_box: to a box"},
		{"collective", "u32", 68, "collective that it belongs to, as given by collective_begin; 0 for none"},
		{"chunk", "u32", 72, "rank-chunk of the collective"},
		{"slice", "u32", 76, "pipelined slice of the chunk"},
		{"flow", "u16", 80, "flow of the chunk"},
		{"step", "u16", 82, "step of the algorithm"},
		{"message", "u32", 84, "transport message of the flow"},
		{"event", "u64", 88, "event handle of event_record and event_wait"},
	}},
	{"collective", CollectiveBytes, "what a collective is, for traces and summaries", []Field{
		{"op", "u32", 0, "which collective (enumeration collective)"},
		{"dtype", "u8", 4, "element type (enumeration dtype)"},
		{"redop", "u8", 5, "operator, of reducing collectives (enumeration redop)"},
		{"reserved", "u16", 6, "zero"},
		{"bytes", "u64", 8, "size as nccl-tests counts it: the whole array, so n times one rank's share for all_gather, reduce_scatter and all_to_all"},
		{"slice_bytes", "u32", 16, "size of a pipelined slice, 0 if chunks are not sliced"},
		{"ranks", "u32", 20, "number of ranks that take part, 0 for all"},
		{"algorithm", "u32", 24, "pointer to the algorithm's name"},
		{"algorithm_len", "u32", 28, "its length in bytes, at most 63"},
		{"group", "u32", 32, "communicator, 0 for the world"},
		{"warmup", "u32", 36, "1 to leave it out of the statistics"},
		{"reserved2", "u64", 40, "zero"},
	}},
	{"verify_result", VerifyBytes, "what verify found", []Field{
		{"mismatches", "u64", 0, "elements that differ"},
		{"first_bad", "i64", 8, "offset in bytes, within the region, of the first one, -1 if none"},
	}},
	{"digest", DigestBytes, "a 128-bit digest", []Field{
		{"low", "u64", 0, "first half"},
		{"high", "u64", 8, "second half"},
	}},
	{"comm", CommBytes, "what a rank is told of a communicator", []Field{
		{"rank", "u32", 0, "this rank within it, from 0"},
		{"size", "u32", 4, "number of its ranks"},
		{"group", "u32", 8, "its number, the same on all its ranks, by which records name it; 0 is the world's"},
		{"reserved", "u32", 12, "zero"},
	}},
	{"call", CallBytes, "one collective on a communicator, which all its ranks call alike; counts are elements: of the whole vector for all_reduce, broadcast and reduce, of what one rank gives to or gets from one other for the rest", []Field{
		{"comm", "u64", 0, "communicator handle"},
		{"op", "u32", 8, "which collective (enumeration collective)"},
		{"root", "u32", 12, "rank within the communicator, of broadcast, reduce, gather and scatter"},
		{"dtype", "u8", 16, "element type (enumeration dtype)"},
		{"redop", "u8", 17, "operator, of reducing collectives (enumeration redop)"},
		{"flags", "u16", 18, "bit 0: leave it out of the statistics (warm-up); the others zero"},
		{"slice_bytes", "u32", 20, "size of a pipelined slice, 0 to let the host choose"},
		{"count", "u64", 24, "elements; not used by all_to_all_v"},
		{"in", "u64", 32, "buffer that is read, 0 for in place: the input lies where the output goes"},
		{"in_offset", "u64", 40, "bytes from its start"},
		{"out", "u64", 48, "buffer that is written; where a rank gets nothing (reduce and gather beside the root) it may be 0"},
		{"out_offset", "u64", 56, "bytes from its start"},
		{"algorithm", "u32", 64, "pointer to the name of the algorithm to use"},
		{"algorithm_len", "u32", 68, "its length in bytes, 0 to let the host choose"},
		{"send_counts", "u32", 72, "of all_to_all_v: pointer to a u64 for each rank of the communicator, elements to it"},
		{"send_offsets", "u32", 76, "where they begin in the input, in elements"},
		{"recv_counts", "u32", 80, "elements from each rank"},
		{"recv_offsets", "u32", 84, "where they go in the output, in elements"},
		{"reserved", "u64", 88, "zero"},
	}},
	{"gemm", GemmBytes, "a product of matrices, c = a b, all in rows without gaps", []Field{
		{"c", "u64", 0, "buffer of m rows and n columns, written"},
		{"c_offset", "u64", 8, "bytes from its start"},
		{"a", "u64", 16, "buffer of m rows and k columns"},
		{"a_offset", "u64", 24, "bytes from its start"},
		{"b", "u64", 32, "buffer of k rows and n columns"},
		{"b_offset", "u64", 40, "bytes from its start"},
		{"m", "u32", 48, "rows of a and c"},
		{"n", "u32", 52, "columns of b and c"},
		{"k", "u32", 56, "columns of a, rows of b"},
		{"dtype", "u8", 60, "element type: f32 or f64 (enumeration dtype)"},
		{"flags", "u8", 61, "bit 0: add the product to c; the others zero"},
		{"reserved", "u16", 62, "zero"},
	}},
	{"box", BoxBytes, "rows of equal length at equal distances, in planes at equal distances: part of an array of up to three dimensions; where a box is copied to must not overlap where it is copied from", []Field{
		{"dst", "u64", 0, "buffer that is written"},
		{"dst_offset", "u64", 8, "bytes from its start to the first row"},
		{"dst_row", "u64", 16, "bytes from the start of a row to that of the next, in dst"},
		{"dst_plane", "u64", 24, "bytes from the start of a plane to that of the next, in dst"},
		{"src", "u64", 32, "buffer that is read"},
		{"src_offset", "u64", 40, "bytes from its start to the first row"},
		{"src_row", "u64", 48, "bytes from the start of a row to that of the next, in src"},
		{"src_plane", "u64", 56, "bytes from the start of a plane to that of the next, in src"},
		{"planes", "u64", 64, "planes"},
		{"rows", "u64", 72, "rows of a plane"},
		{"row_bytes", "u64", 80, "bytes of a row"},
		{"reserved", "u64", 88, "zero"},
	}},
	{"pipeline", PipelineBytes, "how a bucket pipeline works; what is marked (own) may differ between ranks", []Field{
		{"bucket_bytes", "u64", 0, "entries of a channel are joined until a bucket has so many bytes; an entry that has as many is a bucket of its own; 0: every entry is"},
		{"max_bytes", "u64", 8, "(own) staging memory that the rank's buckets may hold at a time, over all channels; 0 for no limit"},
		{"max_buckets", "u32", 16, "(own) buckets that the rank may have in flight, over all channels; 0 for no limit"},
		{"max_in_flight", "u32", 20, "(own) buckets that it may have in flight per channel; 0 for 2"},
		{"policy", "u32", 24, "when buckets are admitted (enumeration admission)"},
		{"window", "u32", 28, "(own) of the windowed policy: buckets of a window"},
		{"oversize", "u32", 32, "what becomes of a bucket that needs more than max_bytes (enumeration oversize)"},
		{"publish", "u32", 36, "when what has arrived is written to where it belongs (enumeration publish)"},
		{"flags", "u32", 40, "bit 0: compare digests of each bucket; bit 1: leave the runs out of the statistics (warm-up); the others zero"},
		{"first_slot", "u32", 44, "it uses 4 signal slots from here on, which the guest does not raise itself once ranks agree"},
		{"first_channel", "u32", 48, "it uses send channels from here on"},
		{"channels", "u32", 52, "so many, 0 for all that there are"},
		{"name", "u32", 56, "pointer to the name in the trace"},
		{"name_len", "u32", 60, "its length in bytes, at most 63; 0 for bucket_pipeline"},
		{"reserved", "u64", 64, "zero"},
		{"reserved2", "u64", 72, "zero"},
	}},
	{"pipeline_entry", PipelineEntryBytes, "a box that is to get from one rank to others; what is marked (own) counts on the ranks that have a part in it, and may differ", []Field{
		{"source", "u32", 0, "rank that has it, or that the parts are added up for"},
		{"dst_first", "u32", 4, "place of its first destination in the list of ranks"},
		{"dst_count", "u32", 8, "destinations, ascending; the source alone: it stays there"},
		{"part_first", "u32", 12, "place of the first of the ranks whose parts make it up"},
		{"part_count", "u32", 16, "how many, ascending and the source among them; 0 if the source has it whole"},
		{"tensor", "u32", 20, "number by which messages name it"},
		{"cell", "u32", 24, "part of the tensor, likewise; entries with parts are joined only within a cell if they stay at their source"},
		{"dtype", "u8", 28, "element type (enumeration dtype)"},
		{"redop", "u8", 29, "how parts are added up (enumeration redop)"},
		{"transport", "u8", 30, "how it travels (enumeration transport)"},
		{"reserved", "u8", 31, "zero"},
		{"planes", "u64", 32, "planes of the box"},
		{"rows", "u64", 40, "rows of a plane"},
		{"row_bytes", "u64", 48, "bytes of a row"},
		{"src", "u64", 56, "(own) buffer it is read from, at the source and where there are parts"},
		{"src_offset", "u64", 64, "(own) bytes to the first row"},
		{"src_row", "u64", 72, "(own) bytes from row to row"},
		{"src_plane", "u64", 80, "(own) bytes from plane to plane"},
		{"dst", "u64", 88, "(own) buffer it is written to, at destinations"},
		{"dst_offset", "u64", 96, "(own) bytes to the first row"},
		{"dst_row", "u64", 104, "(own) bytes from row to row"},
		{"dst_plane", "u64", 112, "(own) bytes from plane to plane"},
		{"reserved2", "u64", 120, "zero"},
	}},
	{"pipeline_plan", PipelinePlanBytes, "what the entries came to", []Field{
		{"entries", "u32", 0, "entries"},
		{"buckets", "u32", 4, "buckets"},
		{"channels", "u32", 8, "channels"},
		{"mine", "u32", 12, "buckets that this rank has a part in"},
		{"my_channels", "u32", 16, "channels of those"},
		{"reserved", "u32", 20, "zero"},
		{"bytes", "u64", 24, "of all entries"},
		{"largest", "u64", 32, "staging memory of the bucket that needs most on this rank"},
		{"hash", "u64", 40, "of the entries and their buckets, the same on all ranks"},
	}},
	{"pipeline_bucket", PipelineBucketBytes, "a bucket", []Field{
		{"bucket", "u32", 0, "its number"},
		{"channel", "u32", 4, "its channel's"},
		{"source", "u32", 8, "rank that it comes from"},
		{"destinations", "u32", 12, "how many ranks it goes to"},
		{"destination", "u32", 16, "the first of them, or the source"},
		{"parts", "u32", 20, "ranks whose parts are added up first, 0 for none"},
		{"entries", "u32", 24, "entries"},
		{"entry", "u32", 28, "the first of them"},
		{"bytes", "u64", 32, "of all of them"},
		{"mine", "u32", 40, "1 if this rank has a part in it"},
		{"reserved", "u32", 44, "zero"},
	}},
	{"pipeline_status", PipelineStatusBytes, "how far a rank is", []Field{
		{"mine", "u32", 0, "buckets that it has a part in"},
		{"admitted", "u32", 4, "of those, how many have been admitted"},
		{"finished", "u32", 8, "and how many are finished"},
		{"next", "u32", 12, "place in the order of the first that is not admitted; the number of all buckets if none is left"},
		{"published", "u32", 16, "so many buckets of the order have arrived, or been written if one by one, on all their ranks, as far as this one knows"},
		{"stalled", "u32", 20, "why the next is not admitted (enumeration stall)"},
		{"done", "u32", 24, "1 if the run has ended well on all ranks"},
		{"reserved", "u32", 28, "zero"},
		{"held_bytes", "u64", 32, "staging memory that its buckets hold"},
		{"reserved2", "u64", 40, "zero"},
	}},
	{"pipeline_stats", PipelineStatsBytes, "a rank's run of a pipeline; times in nanoseconds", []Field{
		{"nanos", "u64", 0, "from its start to its end, or until now"},
		{"sent", "u64", 8, "bytes sent to other ranks"},
		{"received", "u64", 16, "bytes received from them"},
		{"copied", "u64", 24, "bytes that were copied here without being sent"},
		{"peak_bytes", "u64", 32, "most staging memory that was held at a time"},
		{"mean_bytes", "u64", 40, "on average over time"},
		{"peak_buckets", "u32", 48, "most buckets in flight at a time"},
		{"peak_operations", "u32", 52, "most operations under way at a time"},
		{"peak_descriptors", "u32", 56, "most entries of buckets in flight at a time"},
		{"buckets", "u32", 60, "buckets finished"},
		{"mean_buckets_milli", "u64", 64, "thousandths of buckets in flight, on average over time"},
		{"operations", "u64", 72, "operations submitted"},
		{"device_peak_bytes", "u64", 80, "most memory that the device had given this rank during the run, beyond what it had at the start; staging memory that earlier runs left counts"},
		{"stall_order", "u64", 88, "time in which the next bucket waited for a rank's turn in the order"},
		{"stall_channel", "u64", 96, "for its channel: max_in_flight"},
		{"stall_buckets", "u64", 104, "for max_buckets"},
		{"stall_bytes", "u64", 112, "for max_bytes"},
		{"stall_policy", "u64", 120, "for its window, or the script"},
		{"stall_credit", "u64", 128, "for receivers' credits"},
		{"stall_streams", "u64", 136, "for a stream, or a send channel"},
		{"stall_oversize", "u64", 144, "for all others to finish, as it needs more than max_bytes"},
		{"runs", "u64", 152, "runs begun"},
		{"skipped", "u64", 160, "buckets admitted before one that comes earlier in the order"},
		{"allocations", "u64", 168, "times that the device was asked for staging memory"},
		{"reserved", "u64", 176, "zero"},
		{"reserved2", "u64", 184, "zero"},
	}},
}

// Enums lists the enumerations. host/module checks in a test that they agree
// with package op.
var Enums = []Enumeration{
	{"kind", "operations of a stream", []EnumValue{
		{"copy", 1}, {"put", 2}, {"get", 3}, {"signal", 4}, {"wait", 5}, {"send", 6}, {"recv", 7}, {"reduce", 8},
		{"fill", 9}, {"verify", 10}, {"digest", 11}, {"event_record", 12}, {"event_wait", 13},
		{"gemm", 14}, {"call", 15}, {"copy_box", 16}, {"get_box", 17},
	}},
	{"dtype", "element types", []EnumValue{
		{"u8", 0}, {"i32", 1}, {"i64", 2}, {"f16", 3}, {"bf16", 4}, {"f32", 5}, {"f64", 6},
	}},
	{"redop", "reduction operators", []EnumValue{{"sum", 0}, {"prod", 1}, {"min", 2}, {"max", 3}, {"avg", 4}}},
	{"collective", "collectives, by nccl-tests' bandwidth formulas", []EnumValue{
		{"custom", 0}, {"all_reduce", 1}, {"all_gather", 2}, {"reduce_scatter", 3}, {"broadcast", 4}, {"reduce", 5},
		{"gather", 6}, {"scatter", 7}, {"all_to_all", 8}, {"all_to_all_v", 9}, {"send_recv", 10}, {"barrier", 11},
	}},
	{"device", "what carries out operations", []EnumValue{{"cpu", 0}, {"cuda", 1}, {"sim", 2}}},
	{"admission", "when a pipeline admits buckets, within its limits: as soon as it can; a window at a time; one at a time; when all receivers have granted a credit; when the guest says so", []EnumValue{
		{"all_at_once", 0}, {"windowed", 1}, {"serialized", 2}, {"credits", 3}, {"scripted", 4},
	}},
	{"oversize", "what becomes of a bucket that needs more memory than the budget: it has the rank to itself, or the pipeline is refused", []EnumValue{{"alone", 0}, {"refuse", 1}}},
	{"publish", "when a bucket is written to where it belongs: when it has arrived; when all earlier ones of the order have arrived on all ranks; or when all earlier ones have been written on all ranks, so that nothing follows one that failed", []EnumValue{{"at_once", 0}, {"in_order", 1}, {"one_by_one", 2}}},
	{"transport", "how a bucket travels: packed, from its source to each destination; packed, from destination to destination; entry by entry, from where they lie; or not at all: destinations copy it from the source's memory, which they must be able to reach", []EnumValue{
		{"packed", 0}, {"chain", 1}, {"scattered", 2}, {"direct", 3},
	}},
	{"stall", "why a pipeline's next bucket is not admitted", []EnumValue{
		{"none", 0}, {"order", 1}, {"channel", 2}, {"buckets", 3}, {"bytes", 4}, {"policy", 5}, {"credit", 6}, {"streams", 7}, {"oversize", 8},
	}},
}

// StructNamed finds a structure.
func StructNamed(name string) (*Struct, bool) {
	for i := range Structs {
		if Structs[i].Name == name {
			return &Structs[i], true
		}
	}
	return nil, false
}

// EnumNamed finds an enumeration.
func EnumNamed(name string) (*Enumeration, bool) {
	for i := range Enums {
		if Enums[i].Name == name {
			return &Enums[i], true
		}
	}
	return nil, false
}
