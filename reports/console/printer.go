package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports"
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

// labelWidth is the column at which the values of a finding start: under each other, they are compared at a glance.
const labelWidth = 10

// printer writes lines to a console. The first error ends it.
type printer struct {
	w    io.Writer
	opts Options
	err  error

	result *reports.Result
}

// line prints one line. Text of the target has to be safe before it comes here.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

func (p *printer) paint(c color, s string) string {
	if !p.opts.Color || s == "" {
		return s
	}
	return "\x1b[" + strings.TrimSuffix(string(c), ";") + "m" + s + "\x1b[0m"
}

// verdict returns the run's verdict with a sign, so that it is distinct without colours.
func (p *printer) verdict(r *reports.Result) string {
	s := overview.DisplayVerdictOf(r)
	c, sign := yellow, "?"
	switch s.Tone {
	case overview.ToneGood:
		c, sign = green, "✓"
	case overview.ToneBad:
		c, sign = red, "✗"
	case overview.ToneAllowed:
		sign = "!"
	}
	return p.paint(c+bold, safe.Line(sign+" "+s.String()))
}

// field prints a labelled text, wrapped under itself.
func (p *printer) field(label, text string) {
	p.wrap("    "+p.paint(dim, fmt.Sprintf("%-*s", labelWidth, label)), strings.Repeat(" ", 4+labelWidth), safe.Line(safe.Cut(text, 2000)))
}

// verbatim prints a labelled text that must not be wrapped, because it is there to be copied.
func (p *printer) verbatim(label, text string) {
	p.line("    %s%s", p.paint(dim, fmt.Sprintf("%-*s", labelWidth, label)), text)
}

// difference prints what was expected and what was seen: as a difference where that shows more.
func (p *printer) difference(expected, actual string) {
	expected, actual = safe.Cut(expected, 4000), safe.Cut(actual, 4000)
	lines := overview.Difference(expected, actual)
	if lines == nil {
		p.block("expected", expected, green)
		p.block("actual", actual, red)
		return
	}
	p.line("    %s%s %s", p.paint(dim, fmt.Sprintf("%-*s", labelWidth, "diff")), p.paint(green, "- expected"), p.paint(red, "+ actual"))
	for i, l := range lines {
		if i == maxBlock {
			p.line("%s… %d more lines%s", strings.Repeat(" ", 4+labelWidth), len(lines)-i, p.more())
			return
		}
		text := string(rune(l.Op)) + " " + safe.Line(l.Text)
		switch l.Op {
		case '-':
			text = p.paint(green, text)
		case '+':
			text = p.paint(red, text)
		}
		p.line("%s%s", strings.Repeat(" ", 4+labelWidth), text)
	}
}

// maxBlock bounds the lines of one text.
const maxBlock = 20

func (p *printer) block(label, text string, c color) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(safe.Terminal(text), "\n"), "\n")
	for i, l := range lines {
		if i == maxBlock {
			p.line("%s… %d more lines%s", strings.Repeat(" ", 4+labelWidth), len(lines)-i, p.more())
			return
		}
		if i > 0 {
			label = ""
		}
		p.line("    %s%s", p.paint(dim, fmt.Sprintf("%-*s", labelWidth, label)), p.paint(c, l))
	}
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

// firstLine prints the verdict and the headline.
func (p *printer) firstLine(r *reports.Result) {
	p.wrap("", "  ", p.verdict(r)+p.paint(bold, ": "+safe.Line(safe.Ellipsis(overview.Headline(r), 1000))))
}

// WriteVerdict shows only the first line: the verdict and the headline. It fails only where w does.
func WriteVerdict(w io.Writer, r *reports.Result, opts Options) error {
	p := &printer{w: w, opts: opts, result: r}
	p.firstLine(r)
	if p.err != nil {
		return fmt.Errorf("printing the verdict: %w", p.err)
	}
	return nil
}
