package client

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
)

// shortestSpelled is the least length in bytes of a secret that is looked for in all spellings. They are, also mixed:
//   - percent-encoded, in any case, each byte or some;
//   - JSON escapes: \/ \" \\ and \u002B in any case;
//   - character references of HTML: named, decimal, hexadecimal, with leading zeros;
//   - base64, of either alphabet and within a longer text, which holds for a Basic pair too.
const shortestSpelled = 12

// entities are the names that HTML has for characters of ASCII which libraries escape.
var entities = map[rune][]string{
	'"': {"quot", "QUOT"}, '&': {"amp", "AMP"}, '<': {"lt", "LT"}, '>': {"gt", "GT"}, '\'': {"apos"}, '+': {"plus"}, '/': {"sol"}, '=': {"equals"},
	'`': {"grave"}, '\\': {"bsol"}, '%': {"percnt"}, '#': {"num"}, '$': {"dollar"}, '@': {"commat"}, ':': {"colon"}, ';': {"semi"},
	'_': {"lowbar"}, '.': {"period"}, ',': {"comma"}, '!': {"excl"}, '?': {"quest"}, '*': {"ast"}, '(': {"lpar"}, ')': {"rpar"},
}

// spellings matches a secret in all spellings but base64.
func spellings(secret string) *regexp.Regexp {
	var b strings.Builder
	for _, c := range secret {
		fmt.Fprintf(&b, `(?:%s|&#0{0,6}%d;|&#[xX]0{0,6}(?i:%x);`, regexp.QuoteMeta(string(c)), c, c)
		b.WriteString("|(?i:")
		for _, octet := range []byte(string(c)) {
			fmt.Fprintf(&b, "%%%02x", octet)
		}
		b.WriteString(")")
		if c < 0x10000 {
			fmt.Fprintf(&b, `|\\u(?i:%04x)`, c)
		}
		if strings.ContainsRune(`/"\`, c) {
			b.WriteString(`|` + regexp.QuoteMeta(`\`+string(c)))
		}
		if c == ' ' {
			b.WriteString(`|\+`)
		}
		for _, name := range entities[c] {
			b.WriteString("|&" + name + ";")
		}
		b.WriteString(")")
	}
	return regexp.MustCompile(b.String())
}

// encoded are the parts of the base64 of a longer text that follow from the secret alone, at each of the three offsets.
func encoded(secret string) []string {
	var all []string
	for offset, first := range []int{0, 2, 3} {
		text := append(make([]byte, offset), secret...)
		last := len(text) * 8 / 6
		all = append(all, base64.RawStdEncoding.EncodeToString(text)[first:last], base64.RawURLEncoding.EncodeToString(text)[first:last])
	}
	return all
}

// shapesOf are the spellings of a secret that are looked for as they are.
func shapesOf(secret, quoted string) []string {
	shapes := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), quoted, base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret))}
	if len(secret) >= shortestSpelled {
		shapes = append(append(shapes, html.EscapeString(secret)), encoded(secret)...)
	}
	return shapes
}

// respelled replaces secrets that are spelled with escapes.
func (r *redactions) respelled(s string) string {
	if !strings.ContainsAny(s, `%\&`) {
		return s
	}
	for _, known := range r.spelled {
		s = known.pattern.ReplaceAllLiteralString(s, known.name)
	}
	return s
}

// spelled is a secret in all spellings, and its name.
type spelled struct {
	pattern *regexp.Regexp
	name    string
	length  int
}
