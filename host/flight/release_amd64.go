package flight

// storeRelease stores v after everything that was stored before. Processors of
// this architecture store in order, so it takes no lock, which would wait until
// the record has reached the cache.
//
//go:noescape
func storeRelease(p *uint32, v uint32)
