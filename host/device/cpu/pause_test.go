package cpu

import "testing"

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		pause()
	}
}

func BenchmarkYield(b *testing.B) {
	for b.Loop() {
		schedYield()
	}
}
