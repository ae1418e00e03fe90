package cpu_test

import (
	"testing"

	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/device/devicetest"
)

func TestDevice(t *testing.T) { devicetest.Run(t, cpu.Open) }
