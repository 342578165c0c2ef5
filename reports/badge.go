package reports

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// Badge writes a small picture with the verdict, to be shown in a README. It holds no text of the target.
func Badge(w io.Writer, r *Result) error {
	label, message, fill := "agentconform", badgeMessage(r), "#b35900"
	switch standingOf(r).Tone {
	case toneGood:
		fill = "#1a7f37"
	case toneBad:
		fill = "#cf222e"
	}
	// The width of the text is estimated, and textLength makes it fit exactly whatever font there is.
	left, right := textWidth(label)+12, textWidth(message)+12
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s">
<title>%[2]s: %[3]s</title>
<clipPath id="r"><rect width="%[1]d" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#444c56"/><rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
<text x="6" y="14" textLength="%[7]d">%[2]s</text>
<text x="%[8]d" y="14" textLength="%[9]d">%[3]s</text>
</g>
</svg>
`
	if _, err := fmt.Fprintf(w, svg, left+right, label, message, left, right, fill, left-12, left+6, right-12); err != nil {
		return fmt.Errorf("writing the badge: %w", err)
	}
	return nil
}

// badgeMessage says the verdict and how much of the interface it is about: a conformance to three requirements out
// of seventy must not look like one to all.
func badgeMessage(r *Result) string {
	if left := leftOutOf(r); r.Verdict == Conformant && left.n > 0 {
		return fmt.Sprintf("conformant in part: %d/%d judged", left.all-left.n, left.all)
	}
	passed, binds := 0, 0
	for _, q := range r.Requirements {
		if !binding(q.Level, r.Run.Strict) {
			continue
		}
		binds++
		if q.Verdict == Passed {
			passed++
		}
	}
	conclusion := r.Verdict
	if conclusion != Conformant && conclusion != NonConformant {
		conclusion = Incomplete
	}
	return fmt.Sprintf("%s %d/%d", conclusion, passed, binds)
}

func textWidth(s string) int { return utf8.RuneCountInString(s)*13/2 + 2 }
