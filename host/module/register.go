package module

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
)

// handlers lists what carries out each row of [abi.Table], in its order.
var handlers = [...]struct {
	name   string
	handle handler
}{
	{"world", world},
	{"clock_now", clockNow},
	{"last_error", lastError},
	{"abort", abort},
	{"buffer_alloc", bufferAlloc},
	{"buffer_free", bufferFree},
	{"buffer_size", bufferSize},
	{"buffer_read", bufferRead},
	{"buffer_write", bufferWrite},
	{"buffer_fill", bufferFill},
	{"buffer_verify", bufferVerify},
	{"buffer_digest", bufferDigest},
	{"stream_create", streamCreate},
	{"stream_destroy", streamDestroy},
	{"stream_sync", streamSync},
	{"stream_query", streamQuery},
	{"event_create", eventCreate},
	{"event_destroy", eventDestroy},
	{"event_record", eventRecord},
	{"event_wait", eventWait},
	{"event_sync", eventSync},
	{"event_query", eventQuery},
	{"copy", copyOwn},
	{"put", put},
	{"get", get},
	{"signal", signal},
	{"wait", wait},
	{"signal_value", signalValue},
	{"send", send},
	{"recv", recv},
	{"reduce", reduce},
	{"submit", submit},
	{"share_publish", sharePublish},
	{"share_lookup", shareLookup},
	{"barrier", barrier},
	{"tag", tag},
	{"collective_begin", collectiveBegin},
	{"collective_end", collectiveEnd},
	{"mark_begin", markBegin},
	{"mark_end", markEnd},
	{"comm_world", commWorld},
	{"comm_split", commSplit},
	{"comm_free", commFree},
	{"comm_info", commInfo},
	{"comm_world_rank", commWorldRank},
	{"collective", collective},
	{"collective_group", collectiveGroup},
	{"gemm", gemm},
	{"buffer_verify_reduced", bufferVerifyReduced},
	{"copy_box", copyBox},
	{"pipeline_create", pipelineCreate},
	{"pipeline_ranks", pipelineRanks},
	{"pipeline_add", pipelineAdd},
	{"pipeline_build", pipelineBuild},
	{"pipeline_buckets", pipelineBuckets},
	{"pipeline_order", pipelineOrder},
	{"pipeline_agree", pipelineAgree},
	{"pipeline_start", pipelineStart},
	{"pipeline_poll", pipelinePoll},
	{"pipeline_wait", pipelineWait},
	{"pipeline_admit", pipelineAdmit},
	{"pipeline_stats", pipelineStats},
	{"pipeline_destroy", pipelineDestroy},
}

// Register makes the functions of [abi.Table] importable by the guests of a
// runtime. It is to be called once for each runtime.
func Register(ctx context.Context, r wazero.Runtime) error {
	all, err := functions()
	if err != nil {
		return err
	}
	builder := r.NewHostModuleBuilder(abi.Module)
	for _, f := range all {
		names := make([]string, len(f.row.Params))
		for n := range f.row.Params {
			names[n] = f.row.Params[n].Name
		}
		builder.NewFunctionBuilder().
			WithGoModuleFunction(f, paramTypes(f.row), []api.ValueType{api.ValueTypeI32}).
			WithName(f.row.Name).WithParameterNames(names...).Export(f.row.Name)
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return fmt.Errorf("host module %s: %w", abi.Module, err)
	}
	return nil
}

// functions joins the table with the handlers.
func functions() ([]*function, error) {
	if len(handlers) != len(abi.Table) {
		return nil, fmt.Errorf("%d handlers for the %d rows of the table", len(handlers), len(abi.Table))
	}
	direct := map[string]handler{"copy": copyDirect, "put": putDirect, "get": getDirect}
	all := make([]*function, len(abi.Table))
	for n := range abi.Table {
		if handlers[n].name != abi.Table[n].Name {
			return nil, fmt.Errorf("handler %s stands where the table has %s", handlers[n].name, abi.Table[n].Name)
		}
		all[n] = newFunction(&abi.Table[n], handlers[n].handle)
		all[n].direct = direct[handlers[n].name]
	}
	return all, nil
}

// newFunction works out what to check. Pointers come first: so a result that
// is written on failure too has its place before anything else can fail.
func newFunction(row *abi.Row, handle handler) *function {
	f := &function{row: row, handle: handle, counts: row.Name == "submit"}
	position := make(map[abi.Role]int)
	var others []check
	for n := range row.Params {
		p := &row.Params[n]
		k := newCheck(row, n)
		k.position = uint8(position[p.Role])
		position[p.Role]++
		switch p.Role {
		case abi.In, abi.Out, abi.InStruct:
			f.checks = append(f.checks, k)
			f.points = true
		case abi.Stream, abi.EventH, abi.Comm, abi.Pipeline, abi.Buffer, abi.Rank, abi.Enum:
			others = append(others, k)
		case abi.Size:
			f.sizes, f.sized = append(f.sizes, k), append(f.sized, k.param)
		case abi.Timeout:
			f.waits = true
		case abi.Scalar, abi.Len:
		}
	}
	f.checks = append(f.checks, others...)
	return f
}

func newCheck(row *abi.Row, n int) check {
	p := &row.Params[n]
	k := check{role: p.Role, name: p.Name, param: uint8(n), length: -1, unit: uint64(p.Bytes), align: alignment(p), tooLarge: errNegative}
	if n+1 < len(row.Params) && row.Params[n+1].Role == abi.Len {
		k.length = int8(n + 1)
	}
	if p.Role == abi.Enum {
		k.values = enumValues(p.Type)
	}
	if !row.Returns(abi.Range) {
		k.tooLarge = errSize
	}
	return k
}

// alignment of what a pointer points to, by the conventions of package abi.
func alignment(p *abi.Param) uint64 {
	switch p.Bytes {
	case 0, 1:
		return 1
	case 4:
		return 4
	}
	return 8
}

// enumValues is the number of values of an enumeration, which are 0, 1, ...
func enumValues(name string) uint64 {
	at := slices.IndexFunc(abi.Enums, func(e abi.Enumeration) bool { return e.Name == name })
	return uint64(len(abi.Enums[at].Values))
}

func paramTypes(row *abi.Row) []api.ValueType {
	types := make([]api.ValueType, len(row.Params))
	for n := range row.Params {
		types[n] = valueType(row.Params[n].Val)
	}
	return types
}

func valueType(t abi.ValType) api.ValueType {
	switch t {
	case abi.I64:
		return api.ValueTypeI64
	case abi.F64:
		return api.ValueTypeF64
	default:
		return api.ValueTypeI32
	}
}
