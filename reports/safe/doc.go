// Package safe makes text that comes from a target harmless in every format that shows it.
//
// The server under test writes a large part of what reports show: bodies, headers, error texts. Such text may
// carry terminal escapes that rewrite the screen, marks that turn the reading direction, markup, or bytes that
// are not text. Every exporter passes it through this package. What is dangerous becomes visible ("\x1b",
// "\u202e") and is not dropped: it is evidence, and often the very fault.
//
// HTML needs no function: html/template escapes it, after [Visible] has made the invisible visible.
package safe
