package sim_test

import (
	"sync"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
)

func TestDevice(t *testing.T) {
	for _, name := range []string{"h100", "cpu"} {
		t.Run(name, func(t *testing.T) { devicetest.Run(t, opener(t, name)) })
	}
}

// opener opens devices of one cluster for each world of the suite, whose ranks
// share their exchange.
func opener(t *testing.T, name string) devicetest.Open {
	p, err := preset.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	clusters := make(map[device.Exchange]*sim.Cluster)
	return func(c device.Config) (device.Device, error) {
		mu.Lock()
		defer mu.Unlock()
		cluster := clusters[c.Exchange]
		if cluster == nil {
			if cluster, err = sim.New(sim.Options{Preset: p, Ranks: c.Size, RealBytes: -1}); err != nil {
				return nil, err
			}
			clusters[c.Exchange] = cluster
		}
		return cluster.Open(c)
	}
}
