package console

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// color is a list of terminal attributes: "1;31;".
type color string

const (
	bold    color = "1;"
	dim     color = "2;"
	red     color = "31;"
	green   color = "32;"
	yellow  color = "33;"
	magenta color = "35;"
)

// The values of a finding are aligned, so that they are easy to compare.
const (
	labelFormat = "     %-10s"
	labelWidth  = 15
)

// printer collects the lines for a terminal.
type printer struct {
	overview.Overview
	b    strings.Builder
	opts Options
}

// line prints one line. The caller must have passed text of the target through package safe.
func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *printer) paint(c color, s string) string {
	if !p.opts.Color || c == "" || s == "" {
		return s
	}
	return "\x1b[" + strings.TrimSuffix(string(c), ";") + "m" + s + "\x1b[0m"
}

// link returns a text that a terminal links to a file in the folder of the reports. Other terminals show only the text.
func (p *printer) link(file, text string) string {
	if p.opts.Links == "" || file == "" {
		return text
	}
	return "\x1b]8;;" + p.opts.Links + "/" + file + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

func (p *printer) label(name string) string { return p.paint(dim, fmt.Sprintf(labelFormat, name)) }

// field prints a label and a text, which is wrapped and indented.
func (p *printer) field(label, text string) {
	if text != "" {
		p.wrap(p.label(label), strings.Repeat(" ", labelWidth), safe.Line(safe.Cut(text, 2000)))
	}
}

// maxLines is the maximum number of lines of one text.
const maxLines = 20

// colored prints a label and a text of the target with several lines, in a color. Lines are wrapped.
func (p *printer) colored(label, text string, c color) {
	p.lines(label, text, func(label, line string) {
		p.wrapColored(label, strings.Repeat(" ", labelWidth), p.broken(line, labelWidth), c)
	})
}

// broken returns a text of the target with spaces inserted into words that are longer than a line.
func (p *printer) broken(text string, indent int) string {
	room := max(p.opts.Width-indent, 20)
	if p.opts.Width <= 0 {
		return text
	}
	var words []string
	for _, word := range strings.Fields(text) {
		for chunk := range slices.Chunk([]rune(word), room) {
			words = append(words, string(chunk))
		}
	}
	return strings.Join(words, " ")
}

// verbatim prints a label and a text that is not wrapped, because users copy it.
func (p *printer) verbatim(label, text string) {
	p.lines(label, text, func(label, line string) { p.line("%s%s", label, line) })
}

// lines prints the lines of a text of the target, the first one after the label.
func (p *printer) lines(label, text string, print func(label, line string)) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(safe.Terminal(safe.Cut(text, 4000)), "\n"), "\n")
	for i, line := range lines {
		if i == maxLines {
			p.line("%s… %d more lines%s", p.label(""), len(lines)-i, p.more())
			return
		}
		print(p.label(label), line)
		label = ""
	}
}

// prose prints a text of any length like wrap.
func (p *printer) prose(first, rest, text string) {
	p.wrap(first, rest, safe.Line(safe.Ellipsis(text, 1000)))
}

// wrap prints a wrapped text. The first line starts with first, the others with rest.
func (p *printer) wrap(first, rest, text string) { p.wrapColored(first, rest, text, "") }

func (p *printer) wrapColored(first, rest, text string, c color) {
	lines := []string{text}
	if p.opts.Width > 0 {
		lines = Wrapped(text, max(p.opts.Width-visible(rest), 20), visible(first)-visible(rest))
	}
	for _, line := range lines {
		p.line("%s%s", first, p.paint(c, line))
		first = rest
	}
}

// Wrapped returns the lines of a text of at most width characters. The first line is shorter by a number of characters.
func Wrapped(text string, width, used int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		n := visible(word)
		if line != "" && used+1+n > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// visible returns the number of characters of a text, without terminal attributes and the addresses of links.
func visible(s string) int { return utf8.RuneCountInString(attributes.ReplaceAllString(s, "")) }

var attributes = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\]8;;[^\x1b]*\x1b\\\\")
