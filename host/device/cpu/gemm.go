package cpu

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/op"
)

// multiply executes a Gemm.
func (s *stream) multiply(o *op.Op) error {
	operands := [...]op.View{o.Sources[0], o.Sources[1], o.Dst}
	var mem [len(operands)][]byte
	entered := 0
	for ; entered < len(operands); entered++ {
		v := &operands[entered]
		b := v.Buf.(*buffer)
		if !b.enter(s.number, entered) {
			break
		}
		mem[entered] = b.mem[v.Off:]
	}
	err := error(device.ErrStale)
	if entered == len(operands) {
		err = nil
		kernels.Gemm(mem[2][:o.Bytes], mem[0], mem[1], o.Type, o.Gemm)
	}
	for i := range entered {
		operands[i].Buf.(*buffer).leave(s.number, i)
	}
	return err
}
