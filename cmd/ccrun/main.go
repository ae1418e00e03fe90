// Command ccrun runs a Wasm module on every rank of a node.
package main

func main() {}
