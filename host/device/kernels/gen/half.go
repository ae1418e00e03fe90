package gen

// widen loads a vector; halves become single precision.
func (a *assembler) widen(k *kernelShape, address, register string) {
	switch k.element {
	case "F16":
		a.emit("VCVTPH2PS %s, %s", address, register)
	case "BF16":
		a.emit("VPMOVZXWD %s, %s", address, register)
		a.emit("VPSLLD $16, %s, %s", register, register)
	default:
		a.emit("%s %s, %s", a.machine.move, address, register)
	}
}

// narrow rounds an accumulator of halves into its own lower part.
func (a *assembler) narrow(k *kernelShape, register string) {
	low := a.machine.narrower(register)
	switch k.element {
	case "F16":
		a.emit("VCVTPS2PH $0, %s, %s", register, low)
	case "BF16":
		t, upper := a.machine.temps[0], a.machine.narrower(a.machine.temps[1])
		a.roundHalf(register, t)
		if a.machine.wide() {
			a.emit("VPMOVDW %s, %s", t, low)
			return
		}
		a.emit("VEXTRACTI128 $1, %s, %s", t, upper)
		a.emit("VPACKUSDW %s, %s, %s", upper, a.machine.narrower(t), low)
	}
}

// roundHalf adds to a copy of an accumulator what makes its upper half rounded
// to nearest, ties to even. What is not a number came from halves or from the
// processor, so its lower half is zero and it stays what it is.
func (a *assembler) roundHalf(register, t string) {
	m, and := a.machine, "VPAND"
	if m.wide() {
		and = "VPANDD"
	}
	a.emit("VPSRLD $16, %s, %s", register, t)
	a.emit("%s %s, %s, %s", and, m.consts[0], t, t)
	a.emit("VPADDD %s, %s, %s", m.consts[1], register, register)
	a.emit("VPADDD %s, %s, %s", register, t, t)
	a.emit("VPSRLD $16, %s, %s", t, t)
}
