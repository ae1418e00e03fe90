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
		{"sources", "u32", 64, "of reduce: pointer to that many views; of gemm and call: pointer to a structure of that name"},
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
}

// Enums lists the enumerations. host/module checks in a test that they agree
// with package op.
var Enums = []Enumeration{
	{"kind", "operations of a stream", []EnumValue{
		{"copy", 1}, {"put", 2}, {"get", 3}, {"signal", 4}, {"wait", 5}, {"send", 6}, {"recv", 7}, {"reduce", 8},
		{"fill", 9}, {"verify", 10}, {"digest", 11}, {"event_record", 12}, {"event_wait", 13},
		{"gemm", 14}, {"call", 15},
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
