package gen

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

	"github.com/ccrun/ccrun/host/abi"
)

const goNotice = "// Code generated from host/abi by `go generate ./host/abi`. DO NOT EDIT.\n\n"

func formatGo(source []byte) ([]byte, error) { return format.Source(source) }

// goTypes is the part of package raw that all platforms share.
func goTypes() []byte {
	var b bytes.Buffer
	b.WriteString(goNotice + "package raw\n\nimport \"structs\"\n\n")
	fmt.Fprintf(&b, "// Version is the version of the table that this package was generated from.\nconst Version = %d\n\n", abi.Version)
	goErrnos(&b)
	for i := range abi.Enums {
		goEnum(&b, &abi.Enums[i])
	}
	for i := range abi.Structs {
		goStruct(&b, &abi.Structs[i])
	}
	return b.Bytes()
}

func goErrnos(b *bytes.Buffer) {
	b.WriteString("// Errno is what every function returns.\ntype Errno uint32\n\n// The errnos.\nconst (\n")
	for _, e := range abi.Errnos {
		fmt.Fprintf(b, "\t%s Errno = %d // %s\n", goErrno(e.Name), e.Errno, e.Doc)
	}
	b.WriteString(")\n\nvar errnoNames = [...]string{\n")
	for _, e := range abi.Errnos {
		fmt.Fprintf(b, "\t%q,\n", e.Name)
	}
	b.WriteString("}\n\nvar errnoTexts = [...]string{\n")
	for _, e := range abi.Errnos {
		fmt.Fprintf(b, "\t%q,\n", e.Doc)
	}
	b.WriteString(`}

// String is the errno's name.
func (e Errno) String() string {
	if int(e) < len(errnoNames) {
		return errnoNames[e]
	}
	return "unknown"
}

// Text is the errno's meaning.
func (e Errno) Text() string {
	if int(e) < len(errnoTexts) {
		return errnoTexts[e]
	}
	return "unknown errno"
}

`)
}

func goErrno(name string) string {
	if name == "ok" {
		return "OK"
	}
	return "Errno" + camel(name)
}

func goEnum(b *bytes.Buffer, e *abi.Enumeration) {
	fmt.Fprintf(b, "// Values of the enumeration %s: %s.\nconst (\n", e.Name, e.Doc)
	for _, v := range e.Values {
		fmt.Fprintf(b, "\t%s%s = %d\n", camel(e.Name), camel(v.Name), v.Value)
	}
	b.WriteString(")\n\n")
}

func goStruct(b *bytes.Buffer, s *abi.Struct) {
	fmt.Fprintf(b, "// %s is %s.\ntype %s struct {\n\t_ structs.HostLayout\n\n", camel(s.Name), s.Doc, camel(s.Name))
	for _, f := range s.Fields {
		fmt.Fprintf(b, "\t%s %s // %s\n", camel(f.Name), goScalars[f.Type], f.Doc)
	}
	b.WriteString("}\n\n")
}

var goScalars = map[string]string{
	"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i64": "int64", "i32": "int32", "f64": "float64",
}

// goImports is the part of package raw for guests: the imports themselves.
func goImports() []byte {
	var b bytes.Buffer
	b.WriteString(goNotice + "//go:build wasip1\n\npackage raw\n\n")
	b.WriteString("// Host is the way to the host's functions. Its zero value is ready to use.\ntype Host struct{}\n\n")
	for i := range abi.Table {
		r := &abi.Table[i]
		fmt.Fprintf(&b, "//go:wasmimport %s %s\n//go:noescape\nfunc host%s(%s) Errno\n\n", abi.Module, r.Name, camel(r.Name), goParams(r))
		goDoc(&b, r)
		fmt.Fprintf(&b, "func (Host) %s(%s) Errno { return host%s(%s) }\n\n", camel(r.Name), goParams(r), camel(r.Name), goArguments(r))
	}
	return b.Bytes()
}

// goStub is the part of package raw for other platforms: the same methods,
// carried out by whatever a test puts in place of the host.
func goStub() []byte {
	var b bytes.Buffer
	b.WriteString(goNotice + "//go:build !wasip1\n\npackage raw\n\n")
	b.WriteString("// Calls is what stands in for the host where there is none: package ccruntest\n// has one for unit tests.\ntype Calls interface {\n\tAddresses\n\n")
	for i := range abi.Table {
		r := &abi.Table[i]
		fmt.Fprintf(&b, "\t// %s is %s.\n\t%s(%s) Errno\n", camel(r.Name), r.Signature(), camel(r.Name), goParams(r))
	}
	b.WriteString("}\n\n")
	b.WriteString("// Host is the way to the host's functions. Where no host is, Calls stands in.\ntype Host struct{ Calls Calls }\n\n")
	for i := range abi.Table {
		r := &abi.Table[i]
		goDoc(&b, r)
		fmt.Fprintf(&b, "func (h Host) %s(%s) Errno { return h.calls().%s(%s) }\n\n", camel(r.Name), goParams(r), camel(r.Name), goArguments(r))
	}
	return b.Bytes()
}

func goDoc(b *bytes.Buffer, r *abi.Row) {
	fmt.Fprintf(b, "// %s %s\n//\n// It returns %s.\n", camel(r.Name), lowerFirst(r.Doc), strings.Join(r.ErrnoNames(), ", "))
}

// goParams is the parameter list of r, a text being one string.
func goParams(r *abi.Row) string {
	var params []string
	for j := range r.Params {
		if isTextLen(r, j) {
			continue
		}
		params = append(params, lowerCamel(r.Params[j].Name)+" "+goType(r, j))
	}
	return strings.Join(params, ", ")
}

func goArguments(r *abi.Row) string {
	var names []string
	for j := range r.Params {
		if !isTextLen(r, j) {
			names = append(names, lowerCamel(r.Params[j].Name))
		}
	}
	return strings.Join(names, ", ")
}

func goType(r *abi.Row, j int) string {
	p := &r.Params[j]
	if isText(r, j) {
		return "string"
	}
	switch p.Role {
	case abi.Scalar:
		return goScalars[scalarType(p)]
	case abi.Buffer, abi.Stream, abi.EventH, abi.Comm, abi.Pipeline:
		return "uint64"
	case abi.Size, abi.Timeout:
		return "int64"
	case abi.In, abi.Out, abi.InStruct:
		if t, ok := goScalars[p.Type]; ok {
			return "*" + t
		}
		return "*" + camel(p.Type)
	default:
		return "uint32"
	}
}

// scalarType is the table's type of a scalar parameter.
func scalarType(p *abi.Param) string {
	if p.Type != "" {
		return p.Type
	}
	return p.Val.String()
}
