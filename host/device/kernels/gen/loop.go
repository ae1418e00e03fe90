package gen

import (
	"bytes"
	"fmt"
	"strconv"
)

// assembler writes functions for one machine.
type assembler struct {
	machine *machine
	out     bytes.Buffer
}

func (a *assembler) emit(format string, args ...any) {
	fmt.Fprintf(&a.out, "\t"+format+"\n", args...)
}

func (a *assembler) label(name string) { fmt.Fprintf(&a.out, "\n%s:\n", name) }

// Registers of all functions: DI the work, CX bytes left, DX offset, R8 and R9
// the ends of the lists of sources and destinations, R10 how to scale, R11
// whether to store past the caches, SI the position in a list, AX an address.
func (a *assembler) function(k *kernelShape) {
	m := a.machine
	fmt.Fprintf(&a.out, "\n// func %s(w *work)\nTEXT ·%s(SB), NOSPLIT, $0-8\n", k.name(m), k.name(m))
	a.emit("MOVQ w+0(FP), DI")
	a.emit("MOVQ work_bytes(DI), CX")
	a.emit("MOVQ work_sourceCount(DI), R8")
	a.emit("MOVQ work_destCount(DI), R9")
	if k.scaled() {
		a.emit("MOVQ work_scaling(DI), R10")
	}
	a.emit("MOVQ work_streaming(DI), R11")
	a.emit("MOVQ work_offset(DI), DX")
	a.constants(k)
	a.emit("TESTQ R11, R11")
	a.emit("JEQ many")
	if k.copies() {
		a.emit("CMPQ R11, $const_streamPages")
		a.emit("JEQ pages")
	}
	a.loop(k, "lines", k.accumulators(m), "one", m.stream)
	if k.copies() {
		a.pages(k)
	}
	a.loop(k, "many", k.accumulators(m), "one", m.move)
	a.loop(k, "one", 1, "done", m.move)
	a.label("done")
	a.emit("TESTQ R11, R11")
	a.emit("JEQ ordered")
	a.emit("SFENCE")
	a.label("ordered")
	a.emit("VZEROUPPER")
	a.emit("RET")
}

// scaled reports whether the result may be divided: averages are sums.
func (k *kernelShape) scaled() bool { return k.float() && k.red == "Sum" }

// constants fills the registers that no iteration changes.
func (a *assembler) constants(k *kernelShape) {
	if k.scaled() && k.element == "F64" {
		a.emit("VBROADCASTSD work_scale64(DI), %s", a.machine.scale)
	} else if k.scaled() {
		a.emit("VBROADCASTSS work_scale32(DI), %s", a.machine.scale)
	}
	if k.element != "BF16" {
		return
	}
	for i, value := range []string{"1", "0x7fff"} {
		low := "X" + a.machine.consts[i][1:]
		a.emit("MOVL $%s, AX", value)
		a.emit("VMOVD AX, %s", low)
		a.emit("VPBROADCASTD %s, %s", low, a.machine.consts[i])
	}
}

const (
	pageBytes = 4096
	lineBytes = 64
)

// vectorBytes is how much memory a vector covers.
func (k *kernelShape) vectorBytes(m *machine) int {
	if k.half() {
		return m.vectorBytes / 2
	}
	return m.vectorBytes
}

// copies reports whether this is the kernel that moves a single source.
func (k *kernelShape) copies() bool { return k.element == "U8" && k.red == "Sum" }

// pages emits the loop that works on one line of several pages at a time: more
// of the memory's banks work at once than with one line after the other. BX
// counts the lines of a page.
func (a *assembler) pages(k *kernelShape) {
	vectorBytes := k.vectorBytes(a.machine)
	perLine := lineBytes / vectorBytes
	pages := k.accumulators(a.machine) / perLine
	a.label("pages")
	a.emit("CMPQ CX, $%d", pages*pageBytes)
	a.emit("JLT many")
	a.emit("MOVQ $%d, BX", pageBytes/lineBytes)
	a.label("page")
	var offsets []int
	for i := range pages * perLine {
		offsets = append(offsets, i/perLine*pageBytes+i%perLine*vectorBytes)
	}
	a.combine(k, "page", offsets, a.machine.stream)
	a.emit("ADDQ $%d, DX", lineBytes)
	a.emit("DECQ BX")
	a.emit("JNE page")
	a.emit("ADDQ $%d, DX", (pages-1)*pageBytes)
	a.emit("SUBQ $%d, CX", pages*pageBytes)
	a.emit("JMP pages")
}

// loop emits the loop over count vectors at a time; it goes on to next when
// fewer are left.
func (a *assembler) loop(k *kernelShape, name string, count int, next, store string) {
	vectorBytes := k.vectorBytes(a.machine)
	var offsets []int
	for i := range count {
		offsets = append(offsets, i*vectorBytes)
	}
	a.label(name)
	a.emit("CMPQ CX, $%d", count*vectorBytes)
	a.emit("JLT %s", next)
	a.combine(k, name, offsets, store)
	a.emit("ADDQ $%d, DX", count*vectorBytes)
	a.emit("SUBQ $%d, CX", count*vectorBytes)
	a.emit("JMP %s", name)
}

// combine emits one step: a vector at each of the offsets.
func (a *assembler) combine(k *kernelShape, name string, offsets []int, store string) {
	a.emit("MOVQ work_sources(DI), AX")
	for i, offset := range offsets {
		a.widen(k, address(offset), a.register(i))
	}
	a.emit("MOVQ $1, SI")
	a.label(name + "Source")
	a.emit("CMPQ SI, R8")
	a.emit("JGE %sScale", name)
	a.emit("MOVQ work_sources(DI)(SI*8), AX")
	fold := k.fold(a.machine)
	for i, offset := range offsets {
		fold(a, a.register(i), address(offset))
	}
	a.emit("INCQ SI")
	a.emit("JMP %sSource", name)
	a.label(name + "Scale")
	a.rescale(k, name, len(offsets))
	for i := range offsets {
		a.narrow(k, a.register(i))
	}
	a.store(k, name, offsets, store)
}

// rescale multiplies or divides the sums.
func (a *assembler) rescale(k *kernelShape, name string, count int) {
	if !k.scaled() {
		return
	}
	a.emit("CMPQ R10, $const_scaleMultiply")
	a.emit("JLT %sNarrow", name)
	a.emit("JGT %sDivide", name)
	for i := range count {
		a.emit("VMUL%s %s, %s, %s", k.suffix(), a.machine.scale, a.register(i), a.register(i))
	}
	a.emit("JMP %sNarrow", name)
	a.label(name + "Divide")
	for i := range count {
		a.emit("VDIV%s %s, %s, %s", k.suffix(), a.machine.scale, a.register(i), a.register(i))
	}
	a.label(name + "Narrow")
}

// store writes the accumulators to all destinations.
func (a *assembler) store(k *kernelShape, name string, offsets []int, store string) {
	a.emit("XORQ SI, SI")
	a.label(name + "Dest")
	a.emit("MOVQ work_dests(DI)(SI*8), AX")
	for i, offset := range offsets {
		register := a.register(i)
		if k.half() {
			register = a.machine.narrower(register)
		}
		a.emit("%s %s, %s", store, register, address(offset))
	}
	a.emit("INCQ SI")
	a.emit("CMPQ SI, R9")
	a.emit("JLT %sDest", name)
}

func (a *assembler) register(i int) string { return a.machine.letter + strconv.Itoa(i) }

func address(offset int) string {
	if offset == 0 {
		return "(AX)(DX*1)"
	}
	return strconv.Itoa(offset) + "(AX)(DX*1)"
}
