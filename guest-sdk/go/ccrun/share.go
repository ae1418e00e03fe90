package ccrun

import "time"

// Publish lets peers look up region under a name and an epoch, at once and
// without waiting for anyone. A name and epoch can be published once; a new
// buffer under the same name takes a new epoch.
func (w *World) Publish(name string, epoch uint64, region Region) error {
	errno := w.host.SharePublish(name, epoch, region.handle(), region.Offset, region.Bytes)
	return w.check("share_publish", errno)
}

// Lookup gives access to the region that peer publishes under a name and an
// epoch, waiting until it does. Asking again costs no message. The buffer
// begins where the region does.
func (w *World) Lookup(peer int, name string, epoch uint64, timeout time.Duration) (*Buffer, error) {
	b := &Buffer{world: w, peer: peer}
	var bytes uint64
	errno := w.host.ShareLookup(hostIndex(peer), name, epoch, int64(timeout), &b.handle, &bytes)
	if err := w.check("share_lookup", errno); err != nil {
		return nil, err
	}
	b.bytes = int64(bytes)
	return b, nil
}
