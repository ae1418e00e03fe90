package guest

import (
	"errors"
	"regexp"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// Frame is a function of a guest's stack.
type Frame struct {
	Function string `json:"function"`         // without its signature: main.ring
	Source   string `json:"source,omitempty"` // file:line:column, where the module has debug information
}

// String is the frame in one line.
func (f Frame) String() string {
	if f.Source == "" {
		return f.Function
	}
	return f.Function + " " + f.Source
}

const stackHeading = "wasm stack trace:\n"

// exitOf reads how a guest ended from the error of its start function.
func exitOf(module string, err error) Exit {
	var exit *sys.ExitError
	switch {
	case err == nil:
		return Exit{}
	case errors.As(err, &exit):
		if exit.ExitCode() == 0 {
			err = nil
		}
		return Exit{Err: err, Code: exit.ExitCode()}
	}
	text, trace, _ := strings.Cut(err.Error(), stackHeading)
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimSuffix(text, " (recovered by wazero)")
	text = strings.TrimPrefix(text, "wasm error: ")
	return Exit{Err: err, Trap: text, Stack: parseStack(module, trace)}
}

// parseStack reads wazero's trace: a function a line behind one tab, where it
// is in the source behind two.
func parseStack(module, trace string) []Frame {
	var frames []Frame
	for line := range strings.Lines(trace) {
		line = strings.TrimRight(line, "\n")
		source, isSource := strings.CutPrefix(line, "\t\t")
		switch {
		case isSource && len(frames) > 0:
			if last := &frames[len(frames)-1]; last.Source == "" {
				_, place, found := strings.Cut(source, ": ")
				if !found || !strings.HasPrefix(source, "0x") {
					place = source
				}
				last.Source = strings.TrimSuffix(strings.TrimSpace(place), " (inlined)")
			}
		case strings.HasPrefix(line, "\t"):
			frames = append(frames, Frame{Function: functionName(module, line[1:])})
		default:
			return frames
		}
	}
	return frames
}

// signatureTail is what wazero writes behind the name of a function.
var signatureTail = regexp.MustCompile(`\((?:(?:[ivf]\d+|\w+ref),?)*\)(?: [\w(),]+)?$`)

// functionName strips what wazero adds to the name of a function: the module's
// name, which is mostly empty, a dot, and the signature.
func functionName(module, s string) string {
	return demangle(strings.TrimPrefix(signatureTail.ReplaceAllString(s, ""), module+"."))
}

// What Go's linker makes of type arguments, which it knows by their shape, and
// of pointer receivers.
var (
	shapeArguments  = regexp.MustCompile(`_go\.shape\.[\w.]*?_(_?\.|$)`)
	pointerReceiver = regexp.MustCompile(`\.__(\w+?(?:\[\.\.\.\])?)_\.`)
)

// demangle writes the name of a Go function as Go's own stack traces do: the
// linker writes an underscore for each character that is neither a letter, a
// digit nor a dot. Other names have no such parts.
func demangle(name string) string {
	name = shapeArguments.ReplaceAllString(name, "[...]$1")
	return pointerReceiver.ReplaceAllString(name, ".(*$1).")
}

// plumbing are prefixes of functions that a guest's author did not write: the
// host's, the SDK's, the language runtime's.
var plumbing = []string{
	"ccrun_v", "wasi_snapshot_preview1.", "github.com_ccrun_ccrun_guest_sdk_", "ccrun_", "runtime.", "syscall.", "internal_",
	"_rt0_", "wasm_pc_f_loop", "gcWriteBarrier", "__wasi_", "__imported_", "__main_void", "_start", "$",
}

// Culprit is the innermost function that the guest's author wrote, "" if the
// stack does not tell.
func Culprit(frames []Frame) string {
	for _, f := range frames {
		if !isPlumbing(f.Function) {
			return f.Function
		}
	}
	return ""
}

func isPlumbing(function string) bool {
	for _, prefix := range plumbing {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
