// Package traces makes sense of flight files: it puts the records of all ranks
// together, states them in the field's terms (collective, rank-chunk, flow,
// slice, message), and writes them out as a summary, as thresholds that hold
// or are crossed, and as OpenTelemetry spans.
//
// Call [Open] on a run directory, during the run or afterwards, then
// [Summarize] for numbers, [ExportOTLP] or [WriteJSON] for spans, or
// [Run.Collectives] for the terms themselves. traces/README.md shows the span
// schema.
//
// The package never starts a run and never judges one, and it trusts nothing
// that it reads: files may be missing, torn or hostile.
package traces
