package sim

// lines says which processor cores have the bytes of an allocation as they are,
// in their own caches as far as those reach: a core that has read or written
// them since any other core wrote them.
type lines struct {
	partBytes int64
	holders   []uint64 // by part: bits of cores, none if nobody has touched it
	touched   int64    // bytes of parts that somebody has
}

// partsMax is how many parts of an allocation are told apart, coresMax how many
// cores; those beyond share bits.
const (
	partsMax = 256
	coresMax = 64
)

// linesOf begins with the bytes nowhere.
func linesOf(bytes int64) *lines {
	part := max(1, (bytes+partsMax-1)/partsMax)
	return &lines{partBytes: part, holders: make([]uint64, (bytes+part-1)/part)}
}

// missing is how many bytes of a region a core does not have.
func (l *lines) missing(off, bytes int64, core int) int64 {
	missing := int64(0)
	for i, n := range l.parts(off, bytes) {
		if l.holders[i]>>(core%coresMax)&1 == 0 {
			missing += n
		}
	}
	return missing
}

// read notes that a core has a region, as others may.
func (l *lines) read(off, bytes int64, core int) {
	for i := range l.parts(off, bytes) {
		l.hold(i, l.holders[i]|1<<(core%coresMax))
	}
}

// written notes that a core alone has a region.
func (l *lines) written(off, bytes int64, core int) {
	for i := range l.parts(off, bytes) {
		l.hold(i, 1<<(core%coresMax))
	}
}

func (l *lines) hold(part int, holders uint64) {
	if l.holders[part] == 0 {
		l.touched += l.partBytes
	}
	l.holders[part] = holders
}

// parts yields the parts of a region and how many bytes of it lie in each.
func (l *lines) parts(off, bytes int64) func(yield func(int, int64) bool) {
	return func(yield func(int, int64) bool) {
		for at := off; at < off+bytes; {
			i := at / l.partBytes
			end := min((i+1)*l.partBytes, off+bytes)
			if int(i) >= len(l.holders) || !yield(int(i), end-at) {
				return
			}
			at = end
		}
	}
}
