package abi

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the whole table as text, always the same for the same
// table: `ccrun abi` prints it and testdata/table.golden keeps it. Lines that
// begin at the margin are promises to compiled guests and never change;
// indented ones explain.
func WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "module %s\n", Module)
	for _, e := range Errnos {
		fmt.Fprintf(&b, "errno %d %s\n  %s\n", e.Errno, e.Name, e.Doc)
	}
	for i := range Enums {
		Enums[i].writeText(&b)
	}
	for i := range Structs {
		Structs[i].writeText(&b)
	}
	for i := range Table {
		Table[i].writeText(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (e *Enumeration) writeText(b *bytes.Buffer) {
	for _, v := range e.Values {
		fmt.Fprintf(b, "enum %s %d %s\n", e.Name, v.Value, v.Name)
	}
}

func (s *Struct) writeText(b *bytes.Buffer) {
	fmt.Fprintf(b, "struct %s %d bytes\n  %s\n", s.Name, s.Bytes, s.Doc)
	for _, f := range s.Fields {
		fmt.Fprintf(b, "field %s+%d %s %s\n  %s\n", s.Name, f.Offset, f.Type, f.Name, f.Doc)
	}
}

func (r *Row) writeText(b *bytes.Buffer) {
	fmt.Fprintf(b, "func %s since %d\n", r.Signature(), r.Since)
	fmt.Fprintf(b, "  %s\n", r.Doc)
	fmt.Fprintf(b, "  returns %s; on %s\n", strings.Join(r.ErrnoNames(), " "), r.Devices)
}

// Signature is the row as one line of text: "wait(stream: i64 stream, ...)".
func (r *Row) Signature() string {
	params := make([]string, len(r.Params))
	for i := range r.Params {
		params[i] = r.Params[i].String()
	}
	return r.Name + "(" + strings.Join(params, ", ") + ")"
}

// ErrnoNames lists every errno that the function may return, ok first.
func (r *Row) ErrnoNames() []string {
	var names []string
	for _, e := range Errnos {
		if r.Returns(e.Errno) {
			names = append(names, e.Name)
		}
	}
	return names
}

// String is the parameter as text: name, WebAssembly type, and what it means.
func (p *Param) String() string {
	text := p.Name + ": " + p.Val.String()
	switch p.Role {
	case Scalar:
		if p.Type == "" || p.Type == p.Val.String() {
			return text
		}
		return text + " as " + p.Type
	case Enum:
		return text + " enum " + p.Type
	case In, Out, InStruct:
		return text + " " + p.Role.String() + " *" + p.Type
	default:
		return text + " " + p.Role.String()
	}
}

var roles = [...]string{
	Scalar: "scalar", Buffer: "buffer", Stream: "stream", EventH: "event", Rank: "rank", Enum: "enum",
	Size: "size", Timeout: "timeout", In: "in", Len: "len", Out: "out", InStruct: "in",
	Comm: "comm", Pipeline: "pipeline",
}

// String is the role's name, as the table's text form spells it.
func (r Role) String() string {
	if int(r) < len(roles) {
		return roles[r]
	}
	return "unknown"
}
