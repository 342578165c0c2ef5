// Package hostile contains targets that try to harm the suite. They fill memory, waste time, break the terminal or the
// pages of a report, or try to be reported as conformant.
//
// Start reading with hostile.yaml. Each target is a mode of this table, with the correct verdict. The program in the folder
// run serves each mode on loopback, runs the binary against it, and measures the time and the memory of the process.
//
// Most modes are the reference with one deviation, so that the hostile response comes in the middle of a test run. A row
// of the table contains what several modes have in common, and the modes by name below "modes". If a row has "values",
// there is a mode for each value: its name is appended to the name of the mode, and {value} in "do" is replaced by it. A
// single mode can set "value". The keys are:
//
//	does, verdict ("non-conformant" by default), because
//	seconds: added to the time limit of the test run
//	config: configuration keys of the test run
//	when, do, changes: see package deviate
//
// Instead of "do", these keys replace the response:
//
//	status, headers, body
//	headers without status and body: added to the response of the reference
//	gzip: the body is compressed
//	wire: bytes instead of HTTP, after which the connection is closed; resets: with a TCP reset
//	stalls: the response does not end; without status and body it does not start
//	pace: the time between two bytes
//
// These keys change how connections are accepted:
//
//	front: a name in fronts.go; tls: the addresses of the target start with https
//	stops: the number of requests after which the target stops
//
// A text is a string, a mapping of a count to a text that is repeated, or a list of texts. A count is a number, "fill" (up
// to the size limit of bodies) or "forever". # in a repeated text is replaced by a running number, and a comma at its end
// is omitted the last time. A value that is such a text has the tag !text. The texts in "parts" are used elsewhere in the
// file.
package hostile
