// Package hostile holds targets that try to harm those who judge them: that fill memory, waste time, break the terminal or the
// pages of a report, or are reported conformant without being so. Each is a mode of a table, hostile.yaml, with the verdict that
// is right. The program in the folder run serves each on loopback, judges it with the binary, and measures the time and the
// memory of that from outside.
//
// Most modes are the reference with one deviation, so that the hostile answer comes in the middle of a run. A row of the table
// says what some modes have in common, and has these by name below "modes"; or is one for each of its "values", whose name
// follows that of the mode, and which stands in "do" as {value}, as one that is given as "value" does.
//
//	does, verdict ("non-conformant" by default), because
//	seconds (beyond --timeout, where the run may take longer), config (keys of the configuration of the run)
//	when, do, changes: rows of package deviate
//	when with one of what follows: what is sent in place of the reference's answer
//
//	status, headers, body
//	headers alone: they are added to the reference's answer
//	gzip: the body is compressed
//	wire: bytes in place of HTTP, after which the connection is closed; resets: with a TCP reset
//	stalls: the answer does not end; without status and body it does not begin
//	pace: the time between two bytes
//
//	front: what takes connections, a name in fronts.go; tls: clients are told to use TLS
//	stops: after so many requests
//
// A text is a string, a mapping of how often to a text that is repeated, or a list of texts. How often is a number, "fill" (as often
// as the limit of bodies allows) or "forever"; # in what is repeated is a number that counts, and a comma at the end is left out the
// last time. A value that is such a text has the tag !text. What stands in "parts" is used elsewhere in the file.
package hostile
