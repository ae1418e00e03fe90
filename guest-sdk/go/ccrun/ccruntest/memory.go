package ccruntest

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

func (r *rank) BufferAlloc(bytes int64, handle *uint64) raw.Errno {
	defer r.lock()()
	if bytes < 0 || bytes > 1<<30 {
		return r.fail(raw.ErrnoNoMemory, "more than the limit")
	}
	m := &memory{data: make([]byte, bytes)}
	*handle = r.handle()
	r.buffers[*handle] = &buffer{memory: m, data: m.data, own: true}
	return raw.OK
}

func (r *rank) BufferFree(handle uint64) raw.Errno {
	defer r.lock()()
	b, errno := find(r, r.buffers, handle)
	if errno != raw.OK {
		return errno
	}
	if b.own {
		b.memory.freed = true
	}
	delete(r.buffers, handle)
	return raw.OK
}

func (r *rank) BufferSize(handle uint64, bytes *uint64) raw.Errno {
	defer r.lock()()
	b, errno := find(r, r.buffers, handle)
	if errno == raw.OK {
		*bytes = uint64(len(b.data))
	}
	return errno
}

func (r *rank) BufferRead(handle uint64, offset int64, data *uint8, dataLen uint32) raw.Errno {
	defer r.lock()()
	src, errno := r.region(handle, uint64(offset), uint64(dataLen))
	copy(bytesAt(data, dataLen), src)
	return errno
}

func (r *rank) BufferWrite(handle uint64, offset int64, data *uint8, dataLen uint32) raw.Errno {
	defer r.lock()()
	dst, errno := r.region(handle, uint64(offset), uint64(dataLen))
	copy(dst, bytesAt(data, dataLen))
	return errno
}

func (r *rank) SharePublish(name string, epoch uint64, handle uint64, offset, bytes int64) raw.Errno {
	defer r.lock()()
	data, errno := r.region(handle, uint64(offset), uint64(bytes))
	if errno != raw.OK {
		return errno
	}
	key := share{r.number, name, epoch}
	if _, twice := r.world.shares[key]; twice || name == "" {
		return r.fail(raw.ErrnoInvalid, "published twice, or without a name")
	}
	r.world.shares[key] = &buffer{memory: r.buffers[handle].memory, data: data}
	r.world.changed.Broadcast()
	return raw.OK
}

func (r *rank) ShareLookup(peer uint32, name string, epoch uint64, timeout int64, handle, bytes *uint64) raw.Errno {
	defer r.lock()()
	if errno := r.peer(peer); errno != raw.OK {
		return errno
	}
	key := share{int(peer), name, epoch}
	errno := r.world.await(time.Duration(timeout), func() bool { return r.world.shares[key] != nil })
	if errno != raw.OK {
		return r.fail(errno, "lookup of "+name)
	}
	found := r.world.shares[key]
	if found.memory.freed {
		return r.fail(raw.ErrnoStale, "the peer has freed it")
	}
	*handle, *bytes = r.handle(), uint64(len(found.data))
	r.buffers[*handle] = &buffer{memory: found.memory, data: found.data}
	return raw.OK
}
