package console

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// color is a list of terminal attributes, "1;31;".
type color string

const (
	bold    color = "1;"
	dim     color = "2;"
	red     color = "31;"
	green   color = "32;"
	yellow  color = "33;"
	magenta color = "35;"
)

// Values of a finding start at one column: under each other, they are compared at a glance.
const (
	labelFormat = "    %-10s"
	labelWidth  = 14
)

// printer keeps the lines for a console.
type printer struct {
	overview.Overview
	b    strings.Builder
	opts Options
	curl bool // whether to show the requests
}

// line prints one line. Text of the target has to be safe before it comes here.
func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *printer) paint(c color, s string) string {
	if !p.opts.Color || c == "" || s == "" {
		return s
	}
	return "\x1b[" + strings.TrimSuffix(string(c), ";") + "m" + s + "\x1b[0m"
}

func (p *printer) label(name string) string { return p.paint(dim, fmt.Sprintf(labelFormat, name)) }

// field prints a labelled text, wrapped under itself.
func (p *printer) field(label, text string) {
	if text != "" {
		p.wrap(p.label(label), strings.Repeat(" ", labelWidth), safe.Line(safe.Cut(text, 2000)))
	}
}

// maxLines bounds the lines of one text.
const maxLines = 20

// verbatim prints a labelled text that must not be wrapped, because it is there to be copied or compared.
func (p *printer) verbatim(label, text string, c color) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(safe.Terminal(safe.Cut(text, 4000)), "\n"), "\n")
	for i, l := range lines {
		if i == maxLines {
			p.line("%s… %d more lines%s", p.label(""), len(lines)-i, p.more())
			return
		}
		p.line("%s%s", p.label(label), p.paint(c, l))
		label = ""
	}
}

// prose prints text of any length, wrapped; see wrap.
func (p *printer) prose(first, rest, text string) {
	p.wrap(first, rest, safe.Line(safe.Ellipsis(text, 1000)))
}

// wrap prints prose that starts with first; the lines that follow start with rest.
func (p *printer) wrap(first, rest, text string) {
	if p.opts.Width <= 0 {
		p.line("%s%s", first, text)
		return
	}
	room := max(p.opts.Width-utf8.RuneCountInString(rest), 20)
	line, length := "", 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > room {
			p.line("%s%s", first, line)
			first, line, length = rest, "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	p.line("%s%s", first, line)
}
