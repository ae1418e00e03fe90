package gen

// machine is a set of vector instructions.
type machine struct {
	name, isa   string
	letter      string // of its widest registers
	vectorBytes int
	// Registers that a kernel may use for itself; accumulators come first.
	temps  []string
	scale  string
	consts [2]string
	// move loads and stores, stream stores past the caches.
	move, stream string
}

var machines = []*machine{
	{
		name: "avx2", isa: "AVX2", letter: "Y", vectorBytes: 32,
		temps: []string{"Y8", "Y9", "Y10"}, scale: "Y15", consts: [2]string{"Y12", "Y13"},
		move: "VMOVDQU", stream: "VMOVNTDQ",
	},
	{
		name: "avx512", isa: "AVX512", letter: "Z", vectorBytes: 64,
		temps: []string{"Z16", "Z17", "Z18"}, scale: "Z31", consts: [2]string{"Z28", "Z29"},
		move: "VMOVDQU64", stream: "VMOVNTDQ",
	},
}

// wide reports whether vectors have masks and instructions for long integers.
func (m *machine) wide() bool { return m.letter == "Z" }

// narrower is the register of half the width that is the lower part of r.
func (m *machine) narrower(r string) string {
	if m.wide() {
		return "Y" + r[1:]
	}
	return "X" + r[1:]
}
