// Loop computes for ever and calls nobody.
package main

var count uint64

func main() {
	for {
		count++
	}
}
