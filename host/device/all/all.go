// Package all lists the devices that ccrun knows. It is the one place to add
// one; nothing registers itself.
package all

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
)

// Openers gives every device, the one that "auto" prefers first. A device that
// this machine lacks is listed too; its Available says what is missing.
func Openers() []device.Opener {
	return []device.Opener{cpu.Opener()}
}
