// Package independent is a second conforming server, written from the interface alone, for the tests of the suite.
//
// A suite that only ever meets its own reference slowly becomes a description of that reference. This server keeps
// every sentence of the interface and differs wherever the interface leaves room: status codes, texts, extra fields,
// opaque agent ids, date-times with odd offsets, bodies that are pretty-printed, chunked or compressed, refusals in plain
// text, revisions that skip statuses, no DELETE. A check that fails here is tuned to the reference, or this
// server breaks the interface; either is worth knowing.
//
// It is not for copying from (the reference is), and it keeps nothing on disk. A build looks a ref up in a table and waits a
// moment; with Options.Clone it fetches what a request names over HTTP, as the builder of a vendor does, and fails where the
// source does not hold it. It runs no graph but its own.
package independent
