// Package badge writes the verdict as an SVG badge. Start with [Write].
package badge

import (
	"cmp"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Write writes a badge for a README with the verdict and the number of passed requirements. It contains no text of the
// target. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	o := overview.Of(r)
	label, message, fill := "agentconform", message(o), "#b35900"
	switch o.Display().Tone {
	case reports.Conformant:
		fill = "#1a7f37"
	case reports.NonConformant:
		fill = "#cf222e"
	}
	// The width of the text is an estimate; textLength makes the text fit with any font.
	left, right := textWidth(label)+12, textWidth(message)+12
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s">
<title>%[2]s: %[3]s</title>
<desc>%[10]s</desc>
<clipPath id="r"><rect width="%[1]d" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#444c56"/><rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
<text x="6" y="14" textLength="%[7]d">%[2]s</text>
<text x="%[8]d" y="14" textLength="%[9]d">%[3]s</text>
</g>
</svg>
`
	suite := safe.Visible(r.Suite.String() + "; scope " + string(cmp.Or(r.Scope, "unknown")))
	_, err := fmt.Fprintf(w, svg, left+right, label, message, left, right, fill, left-12, left+6, right-12, suite)
	return err
}

// message returns the verdict with the numbers of passed and of applicable requirements, so that a partial test run is
// not mistaken for a whole one.
func message(o overview.Overview) string {
	display := o.Display()
	all := o.Result.Catalogue() - o.Inapplicable()
	text := fmt.Sprintf("%s%s %d/%d", display.Word, display.Scope, len(o.Classes[overview.Passed]), all)
	return reports.Joined(", ", text, o.Unclaimed())
}

func textWidth(s string) int { return utf8.RuneCountInString(s)*13/2 + 2 }
