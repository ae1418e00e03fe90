package runner

import (
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/all"
)

// pickDevice finds a device by name. "auto" is the first that can be opened.
func pickDevice(name string) (device.Opener, error) {
	var names []string
	for _, opener := range all.Openers() {
		names = append(names, opener.Name)
		switch missing := opener.Available(); {
		case (name == "auto" || name == "") && missing == nil:
			return opener, nil
		case name == opener.Name && missing == nil:
			return opener, nil
		case name == opener.Name:
			return device.Opener{}, refuse("`ccrun devices` lists what can be used", "device %s: %v", name, missing)
		}
	}
	return device.Opener{}, refuse(fmt.Sprintf("there are: auto, %s, sim[:PRESET[xNODES]]", strings.Join(names, ", ")), "no device %q in this version", name)
}
