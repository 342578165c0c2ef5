package console

import (
	"strings"

	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// support writes the table of the capabilities.
func (p *printer) support() {
	rows, untested := p.SupportTable()
	if len(rows) == 0 {
		return
	}
	names, classes := 0, 0 // widths
	for _, s := range rows {
		names, classes = max(names, visible(safe.Line(s.Name))), max(classes, visible(p.class(s.Class)))
	}
	for _, s := range rows {
		name, class := safe.Line(s.Name), p.class(s.Class)
		p.line("  %s%s  %s%s  %s", name, strings.Repeat(" ", names-visible(name)), class, strings.Repeat(" ", classes-visible(class)), s.Counts())
	}
	if len(untested) > 0 {
		p.wrap("  ", "  ", p.class(overview.NotTested)+": "+safe.Line(strings.Join(untested, ", ")))
	}
	p.line("")
}

// signs has a sign and a color for each word, so that color is not the only difference.
var signs = map[overview.Class]struct {
	sign  string
	color color
}{
	overview.Passed: {"✓", green}, overview.Failed: {"✗", red}, overview.CouldNotTell: {"?", yellow}, overview.NotTested: {"–", dim},
}

func (p *printer) class(c overview.Class) string {
	return p.paint(signs[c].color, signs[c].sign+" "+string(c))
}
