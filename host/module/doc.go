// Package module is what a guest can call: the functions of [abi.Table],
// decoded, checked and handed to a [device.Device].
//
// Call [Register] once for each wazero runtime and [New] for each rank; refuse
// a guest with [CheckImports]; run the guest's functions with
// [Instance.Context]; then read [Instance.Results] and call [Instance.Close].
//
// A guest can ask for anything. What is wrong with a call is an errno to it, a
// counter in the flight file and a text for last_error, and nothing else: no
// panic of the host, no write outside the ranges that the call declares. Two
// calls do not return: abort unwinds the guest with an [AbortError], and any
// call does with an [UnwindError] once [Instance.Abort] was called.
//
// The package moves no payload and starts no goroutine: devices do. It does
// not load, limit or print anything of a guest: package runner does. The words
// that it uses are those of the glossary in package host.
package module
