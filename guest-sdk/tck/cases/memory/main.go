// Memory takes more and more of the guest's own memory.
package main

import "fmt"

func main() {
	var held [][]byte
	for {
		block := make([]byte, 1<<20)
		block[len(held)%len(block)] = 1
		held = append(held, block)
		if len(held)%1024 == 0 {
			fmt.Println(len(held), "MiB")
		}
	}
}
