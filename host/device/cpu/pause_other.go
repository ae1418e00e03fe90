//go:build !amd64 && !arm64

package cpu

// pause is where a processor would be told that this is a spin loop.
func pause() {}
