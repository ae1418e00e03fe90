package gen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/abi"
)

// cHeader is ccrun.h: everything a C guest needs, without any other header but
// the two that freestanding compilers bring along.
func cHeader() []byte {
	var b bytes.Buffer
	b.WriteString(cPreamble)
	fmt.Fprintf(&b, "\n/* Version of the table that this header was generated from. */\n#define CCRUN_ABI_VERSION %d\n", abi.Version)
	b.WriteString("#define CCRUN_FOREVER (-1) /* timeout: wait for ever */\n\n")
	cErrnos(&b)
	for i := range abi.Enums {
		cEnum(&b, &abi.Enums[i])
	}
	for i := range abi.Structs {
		cStruct(&b, &abi.Structs[i])
	}
	for i := range abi.Table {
		cFunction(&b, &abi.Table[i])
	}
	cBuilders(&b)
	b.WriteString("\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* CCRUN_H */\n")
	return b.Bytes()
}

const cPreamble = `/* Code generated from host/abi by "go generate ./host/abi". DO NOT EDIT. */

/*
 * ccrun.h: what a guest of ccrun can call, from C.
 *
 * Every function returns an errno (ccrun_errno_t, CCRUN_OK is 0); results go
 * through out pointers, written only on success. Handles are 64-bit numbers, 0
 * is never one. Sizes and offsets are in bytes, times in nanoseconds, and a
 * negative timeout waits for ever. Build with
 *
 *   clang --target=wasm32-wasi --sysroot=/usr -O2 -g -I guest-sdk/c -c w.c -o w.o
 *   clang --target=wasm32-wasi --sysroot=/usr w.o -o w.wasm
 *
 * (two steps, so that no optimiser strips the names from the module), or
 * freestanding with --target=wasm32 -nostdlib.
 */
#ifndef CCRUN_H
#define CCRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define CCRUN_STATIC_ASSERT static_assert
#else
#define CCRUN_STATIC_ASSERT _Static_assert
#endif

#ifdef __wasm__
#define CCRUN_IMPORT(name) __attribute__((import_module("ccrun_v1"), import_name(name)))
#else
#define CCRUN_IMPORT(name)
#endif
`

func cErrnos(b *bytes.Buffer) {
	b.WriteString("typedef uint32_t ccrun_errno_t;\n\nenum {\n")
	for _, e := range abi.Errnos {
		fmt.Fprintf(b, "  CCRUN_%s = %d, /* %s */\n", strings.ToUpper(e.Name), e.Errno, e.Doc)
	}
	b.WriteString("};\n\n/* ccrun_errno_name is the name of an errno. */\n")
	b.WriteString("static inline const char *ccrun_errno_name(ccrun_errno_t e) {\n  switch (e) {\n")
	for _, e := range abi.Errnos {
		fmt.Fprintf(b, "  case CCRUN_%s: return \"%s\";\n", strings.ToUpper(e.Name), e.Name)
	}
	b.WriteString("  default: return \"unknown\";\n  }\n}\n\n")
}

func cEnum(b *bytes.Buffer, e *abi.Enumeration) {
	fmt.Fprintf(b, "/* %s */\nenum {\n", e.Doc)
	for _, v := range e.Values {
		fmt.Fprintf(b, "  CCRUN_%s_%s = %d,\n", strings.ToUpper(e.Name), strings.ToUpper(v.Name), v.Value)
	}
	b.WriteString("};\n\n")
}

func cStruct(b *bytes.Buffer, s *abi.Struct) {
	fmt.Fprintf(b, "/* ccrun_%s_t: %s */\ntypedef struct {\n", s.Name, s.Doc)
	for _, f := range s.Fields {
		fmt.Fprintf(b, "  %s %s; /* %s */\n", cScalar(f.Type), f.Name, f.Doc)
	}
	fmt.Fprintf(b, "} ccrun_%s_t;\nCCRUN_STATIC_ASSERT(sizeof(ccrun_%s_t) == %d, \"layout of %s\");\n\n", s.Name, s.Name, s.Bytes, s.Name)
}

func cFunction(b *bytes.Buffer, r *abi.Row) {
	fmt.Fprintf(b, "/* %s\n * Returns %s. */\n", r.Doc, strings.Join(r.ErrnoNames(), ", "))
	params := make([]string, len(r.Params))
	for j := range r.Params {
		params[j] = cParam(&r.Params[j])
	}
	fmt.Fprintf(b, "CCRUN_IMPORT(\"%s\")\nccrun_errno_t ccrun_%s(%s);\n\n", r.Name, r.Name, strings.Join(params, ", "))
}

func cParam(p *abi.Param) string {
	switch p.Role {
	case abi.Scalar:
		return cScalar(scalarType(p)) + " " + p.Name
	case abi.Buffer, abi.Stream, abi.EventH, abi.Comm, abi.Pipeline:
		return "uint64_t " + p.Name
	case abi.Size, abi.Timeout:
		return "int64_t " + p.Name
	case abi.In, abi.InStruct:
		return "const " + cPointee(p) + " *" + p.Name
	case abi.Out:
		return cPointee(p) + " *" + p.Name
	default:
		return "uint32_t " + p.Name
	}
}

func cPointee(p *abi.Param) string {
	if _, ok := abi.StructNamed(p.Type); ok {
		return "ccrun_" + p.Type + "_t"
	}
	if p.Type == "u8" {
		if p.Name == "data" {
			return "void"
		}
		return "char"
	}
	return cScalar(p.Type)
}

func cScalar(t string) string {
	switch t {
	case "f64":
		return "double"
	case "i32", "i64":
		return "int" + t[1:] + "_t"
	default:
		return "uint" + t[1:] + "_t"
	}
}

// cBuilders emits, for each function that is also an operation of submit, an
// inline function that makes its op structure from the same parameters.
func cBuilders(b *bytes.Buffer) {
	b.WriteString("/* Operations for ccrun_submit. */\n")
	for i := range abi.Table {
		r := &abi.Table[i]
		kind, ok := builderKind(r)
		if !ok {
			continue
		}
		var params, sets []string
		for j := range r.Params[1:] {
			p := &r.Params[j+1]
			params = append(params, cParam(p))
			sets = append(sets, fmt.Sprintf("  o.%s = (%s)%s;\n", opField(p.Name), opFieldType(opField(p.Name)), p.Name))
		}
		fmt.Fprintf(b, "static inline ccrun_op_t ccrun_op_%s(%s) {\n  ccrun_op_t o = {0};\n  o.kind = CCRUN_KIND_%s;\n%s  return o;\n}\n\n",
			kind, strings.Join(params, ", "), strings.ToUpper(kind), strings.Join(sets, ""))
	}
}

// builderKind is the kind of operation that r asks of a stream, if its
// parameters are all fields of an op structure.
func builderKind(r *abi.Row) (string, bool) {
	kind := strings.TrimPrefix(r.Name, "buffer_")
	kinds, _ := abi.EnumNamed("kind")
	known := false
	for _, v := range kinds.Values {
		known = known || v.Name == kind
	}
	if !known || r.Params[0].Role != abi.Stream {
		return "", false
	}
	for j := range r.Params[1:] {
		if opFieldType(opField(r.Params[j+1].Name)) == "" {
			return "", false
		}
	}
	return kind, true
}

// opField is the field of an op structure that holds a function's parameter.
func opField(param string) string {
	switch param {
	case "channel":
		return "slot"
	case "buffer":
		return "dst"
	case "offset":
		return "dst_offset"
	case "seed":
		return "value"
	default:
		return param
	}
}

// opFieldType is the C type of a field of the op structure, "" if it has none
// of that name.
func opFieldType(name string) string {
	s, _ := abi.StructNamed("op")
	for _, f := range s.Fields {
		if f.Name == name {
			return cScalar(f.Type)
		}
	}
	return ""
}
