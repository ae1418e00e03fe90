package gen

import (
	"slices"
	"strings"
)

// kernelShape is a kernel of every machine that has the instructions for it.
type kernelShape struct {
	element, red string // as package op names them
}

// fold emits the combination of an accumulator with the vector at an address.
type fold func(a *assembler, acc, address string)

var kernels = shapes()

func shapes() (all []*kernelShape) {
	for _, element := range []string{"U8", "I32", "I64", "F16", "BF16", "F32", "F64"} {
		for _, red := range []string{"Sum", "Prod", "Min", "Max"} {
			all = append(all, &kernelShape{element, red})
		}
	}
	return all
}

func (k *kernelShape) name(m *machine) string {
	return strings.ToLower(k.element) + k.red + m.isa
}

func (k *kernelShape) half() bool { return k.element == "F16" || k.element == "BF16" }

func (k *kernelShape) float() bool { return strings.Contains(k.element, "F") }

// suffix ends the floating point instructions of the element type.
func (k *kernelShape) suffix() string {
	if k.element == "F64" {
		return "PD"
	}
	return "PS"
}

// accumulators is how many vectors the loop works on at a time. Halves are
// accumulated in single precision.
func (k *kernelShape) accumulators(m *machine) int {
	if m.wide() && !k.half() {
		return 4
	}
	return 8
}

// fold returns nil if the machine has no instructions for the kernel.
func (k *kernelShape) fold(m *machine) fold {
	switch {
	case k.float() && (k.red == "Min" || k.red == "Max"):
		return k.foldFloatExtreme
	case k.float():
		return k.simple(map[string]string{"Sum": "VADD", "Prod": "VMUL"}[k.red] + k.suffix())
	case k.element == "I64" && k.red == "Prod" && !m.wide():
		return foldLongProduct
	case k.element == "I64" && k.red != "Sum" && k.red != "Prod" && !m.wide():
		return k.foldLongExtreme
	}
	instruction := integers[k.element][slices.Index([]string{"Sum", "Prod", "Min", "Max"}, k.red)]
	if instruction == "" {
		return nil
	}
	return k.simple(instruction)
}

var integers = map[string][4]string{
	"U8":  {"VPADDB", "", "VPMINUB", "VPMAXUB"},
	"I32": {"VPADDD", "VPMULLD", "VPMINSD", "VPMAXSD"},
	"I64": {"VPADDQ", "VPMULLQ", "VPMINSQ", "VPMAXSQ"},
}

// simple is a fold of one instruction.
func (k *kernelShape) simple(instruction string) fold {
	return func(a *assembler, acc, address string) {
		if k.half() {
			a.widen(k, address, a.machine.temps[0])
			address = a.machine.temps[0]
		}
		a.emit("%s %s, %s, %s", instruction, address, acc, acc)
	}
}

// foldFloatExtreme keeps the accumulator unless the new value is beyond it or
// is not a number. The instruction alone would drop what is not a number.
func (k *kernelShape) foldFloatExtreme(a *assembler, acc, address string) {
	m, v := a.machine, a.machine.temps[0]
	a.widen(k, address, v)
	instruction := "V" + strings.ToUpper(k.red) + k.suffix()
	if m.wide() {
		a.emit("VCMP%s $3, %s, %s, K1", k.suffix(), v, v)
		a.emit("%s %s, %s, %s", instruction, acc, v, acc)
		a.emit("VMOVA%s %s, K1, %s", k.suffix(), v, acc)
		return
	}
	a.emit("VCMP%s $3, %s, %s, %s", k.suffix(), v, v, m.temps[1])
	a.emit("%s %s, %s, %s", instruction, acc, v, acc)
	a.emit("VBLENDV%s %s, %s, %s, %s", k.suffix(), m.temps[1], v, acc, acc)
}

// foldLongExtreme compares and selects: AVX2 has no minimum of long integers.
func (k *kernelShape) foldLongExtreme(a *assembler, acc, address string) {
	v, mask := a.machine.temps[0], a.machine.temps[1]
	a.emit("%s %s, %s", a.machine.move, address, v)
	if k.red == "Min" {
		a.emit("VPCMPGTQ %s, %s, %s", v, acc, mask)
	} else {
		a.emit("VPCMPGTQ %s, %s, %s", acc, v, mask)
	}
	a.emit("VBLENDVPD %s, %s, %s, %s", mask, v, acc, acc)
}

// foldLongProduct multiplies halves crosswise: AVX2 multiplies 32 bits.
func foldLongProduct(a *assembler, acc, address string) {
	v, cross, other := a.machine.temps[0], a.machine.temps[1], a.machine.temps[2]
	a.emit("%s %s, %s", a.machine.move, address, v)
	a.emit("VPSRLQ $32, %s, %s", acc, cross)
	a.emit("VPMULUDQ %s, %s, %s", v, cross, cross)
	a.emit("VPSRLQ $32, %s, %s", v, other)
	a.emit("VPMULUDQ %s, %s, %s", acc, other, other)
	a.emit("VPADDQ %s, %s, %s", other, cross, cross)
	a.emit("VPSLLQ $32, %s, %s", cross, cross)
	a.emit("VPMULUDQ %s, %s, %s", v, acc, acc)
	a.emit("VPADDQ %s, %s, %s", cross, acc, acc)
}
