//go:build amd64 || arm64

package cpu

// pause tells the processor that this is a spin loop.
//
//go:noescape
func pause()
