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
	switch {
	case k.element == "F16":
		a.emit("VCVTPS2PH $0, %s, %s", register, a.machine.narrower(register))
	case k.element == "BF16" && a.machine.wide():
		a.narrowMasked(register)
	case k.element == "BF16":
		a.narrowBlended(register)
	}
}

// narrowMasked adds what rounds to nearest, ties to even; what is not a number
// becomes quiet instead.
func (a *assembler) narrowMasked(register string) {
	m, t := a.machine, a.machine.temps[0]
	a.emit("VCMPPS $3, %s, %s, K1", register, register)
	a.emit("VPSRLD $16, %s, %s", register, t)
	a.emit("VPANDD %s, %s, %s", m.consts[0], t, t)
	a.emit("VPADDD %s, %s, %s", m.consts[1], t, t)
	a.emit("VPADDD %s, %s, %s", register, t, t)
	a.emit("VPORD %s, %s, K1, %s", m.consts[2], register, t)
	a.emit("VPSRLD $16, %s, %s", t, t)
	a.emit("VPMOVDW %s, %s", t, m.narrower(register))
}

// narrowBlended is narrowMasked without masks.
func (a *assembler) narrowBlended(register string) {
	m, t, mask := a.machine, a.machine.temps[0], a.machine.temps[1]
	a.emit("VCMPPS $3, %s, %s, %s", register, register, mask)
	a.emit("VPSRLD $16, %s, %s", register, t)
	a.emit("VPAND %s, %s, %s", m.consts[0], t, t)
	a.emit("VPADDD %s, %s, %s", m.consts[1], t, t)
	a.emit("VPADDD %s, %s, %s", register, t, t)
	a.emit("VPOR %s, %s, %s", m.consts[2], register, register)
	a.emit("VBLENDVPS %s, %s, %s, %s", mask, register, t, t)
	a.emit("VPSRLD $16, %s, %s", t, t)
	a.emit("VEXTRACTI128 $1, %s, %s", t, m.narrower(mask))
	a.emit("VPACKUSDW %s, %s, %s", m.narrower(mask), m.narrower(t), m.narrower(register))
}
