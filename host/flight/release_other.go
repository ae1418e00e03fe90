//go:build !amd64

package flight

import "sync/atomic"

// storeRelease stores v after everything that was stored before.
func storeRelease(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
