// Package guestsdk holds the files of the guest SDKs, for programs that write
// them out beside a workflow: nothing is published, so that a guest author
// gets the SDK from the ccrun binary. What guests import are the packages
// below it.
package guestsdk

import "embed"

// Go is the Go SDK, rooted at this directory: go/ccrun/...
//
//go:embed go/ccrun
var Go embed.FS
