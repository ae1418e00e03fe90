package gen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/abi"
)

// markdown is ABI.md, the table for readers.
func markdown() []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Code generated from host/abi by `go generate ./host/abi`. DO NOT EDIT. -->\n\n")
	fmt.Fprintf(&b, "# The guest ABI, version %d\n\n", abi.Version)
	fmt.Fprintf(&b, "A guest imports these functions from module `%s`. %s\n\n", abi.Module, markdownRules)
	markdownFunctions(&b)
	b.WriteString("## Errnos\n\n| number | name | meaning |\n|---|---|---|\n")
	for _, e := range abi.Errnos {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", e.Errno, e.Name, e.Doc)
	}
	b.WriteString("\n## Structures\n\n")
	for i := range abi.Structs {
		markdownStruct(&b, &abi.Structs[i])
	}
	b.WriteString("## Enumerations\n\n| enumeration | values |\n|---|---|\n")
	for i := range abi.Enums {
		markdownEnum(&b, &abi.Enums[i])
	}
	return b.Bytes()
}

const markdownRules = `Every function returns an errno as
i32, 0 for success. Results go through out pointers, which are written only on success. Handles are 64-bit, index and
generation; 0 is never a handle. Pointers are offsets into the guest's memory; pointers to structures and to numbers are
aligned (8 bytes, 4 for a u32). Numbers are little-endian, sizes and offsets in bytes, times in nanoseconds; a negative
timeout waits for ever. Functions are only ever added.`

func markdownFunctions(b *bytes.Buffer) {
	for _, family := range families() {
		fmt.Fprintf(b, "## Functions: %s\n\n", family)
		for i := range abi.Table {
			r := &abi.Table[i]
			if r.Family != family {
				continue
			}
			fmt.Fprintf(b, "### %s\n\n`%s`\n\n%s Returns %s. Since version %d, on %s.\n\n",
				r.Name, r.Signature(), r.Doc, quoted(r.ErrnoNames()), r.Since, strings.Join(strings.Fields(r.Devices), ", "))
		}
	}
}

// families lists the families in the order in which the table names them first.
func families() []string {
	var names []string
	seen := map[string]bool{}
	for i := range abi.Table {
		if f := abi.Table[i].Family; !seen[f] {
			seen[f] = true
			names = append(names, f)
		}
	}
	return names
}

func quoted(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

func markdownStruct(b *bytes.Buffer, s *abi.Struct) {
	fmt.Fprintf(b, "### %s, %d bytes\n\n%s.\n\n| offset | type | field | meaning |\n|---|---|---|---|\n", s.Name, s.Bytes, upperFirst(s.Doc))
	for _, f := range s.Fields {
		fmt.Fprintf(b, "| %d | %s | `%s` | %s |\n", f.Offset, f.Type, f.Name, f.Doc)
	}
	b.WriteString("\n")
}

func markdownEnum(b *bytes.Buffer, e *abi.Enumeration) {
	values := make([]string, len(e.Values))
	for i, v := range e.Values {
		values[i] = fmt.Sprintf("%d `%s`", v.Value, v.Name)
	}
	fmt.Fprintf(b, "| `%s`: %s | %s |\n", e.Name, e.Doc, strings.Join(values, ", "))
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
