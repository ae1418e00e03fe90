// Package html writes the page that shows a run in a browser: one file that
// holds its own script, style and data, asks nothing of the network and works
// from a disk. The page is in assets; what stands on it comes from package
// traces.
package html
