// Loop computes for ever and calls nobody.
package main

func main() {
	for count := uint64(1); count != 0; count++ {
	}
}
