package client

import (
	"encoding/base64"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// ShortestSpelled is the least length in bytes of a secret that is looked for everywhere, in all spellings.
const ShortestSpelled = 12

// Spellings are those in which a secret is found, also mixed and one within another (up to four deep), and no others. SECURITY.md lists them.
var Spellings = []string{
	"as it is",
	"percent-encoded, in any case, each byte or some; a space as +",
	"escapes of JSON: \\/ \\\" \\\\ \\n and the like, and \\u002B in any case, with pairs of surrogates",
	"character references of HTML: named, decimal, hexadecimal, with leading zeros",
	"base64, of either alphabet and within a longer text, which holds for a Basic pair too",
	"an end of it that has at least 12 bytes and at least half of the secret, in all of these but base64",
}

// spells adds a secret that is looked for in all spellings.
func (r *redactions) spells(secret, name string) {
	r.spelled = append(r.spelled, spelled{secret, name})
	if asForm := strings.ReplaceAll(secret, " ", "+"); asForm != secret {
		r.spelled = append(r.spelled, spelled{asForm, name})
		r.ends = append(r.ends, spelled{asForm, name})
	}
	if plain := normalOf(secret).plain; plain != secret { // it holds escapes itself, of which some may be escaped again
		r.spelled = append(r.spelled, spelled{plain, name})
	}
	for _, part := range encoded(secret) {
		if strings.ContainsAny(part, "+/") { // which may be escaped
			r.spelled = append(r.spelled, spelled{part, name})
		}
	}
	if !strings.Contains(secret, "//") { // the end of a URL is no secret
		r.ends = append(r.ends, spelled{secret, name})
	}
}

// shortestEnd is the least end of a secret that is replaced.
func shortestEnd(secret string) string {
	return secret[min(len(secret)-ShortestSpelled, len(secret)/2):]
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
	if len(secret) >= ShortestSpelled {
		shapes = append(append(shapes, html.EscapeString(secret)), encoded(secret)...)
	}
	return shapes
}

// respelled replaces secrets that are spelled with escapes, and ends of secrets: it looks for them in the text without escapes, in time
// linear to the text.
func (r *redactions) respelled(s string) string {
	if len(r.spelled) == 0 {
		return s
	}
	n := normalOf(s)
	if n.starts != nil {
		for _, known := range r.spelled {
			n = n.without(known, known.secret)
		}
	}
	for _, known := range r.ends {
		n = n.without(known, shortestEnd(known.secret))
	}
	return n.text
}

// without replaces a secret, where it ends as given.
func (n normal) without(known spelled, end string) normal {
	var b strings.Builder
	done, from := 0, 0
	for {
		i := strings.Index(n.plain[from:], end)
		if i < 0 {
			break
		}
		first, last := from+i, from+i+len(end)
		for rest := len(known.secret) - len(end); rest > 0 && first > from && n.plain[first-1] == known.secret[rest-1]; rest-- {
			first--
		}
		b.WriteString(n.text[done:n.start(first)] + known.name)
		from, done = last, n.start(last)
	}
	if done == 0 {
		return n
	}
	return normalOf(b.String() + n.text[done:])
}

// normal is a text with its normal form, in which each escape is the character that it stands for.
type normal struct {
	text, plain string
	starts      []int32 // where in the text each byte of the normal form begins; nil: at the same place
}

func (n normal) start(i int) int {
	if n.starts == nil {
		return i
	}
	return int(n.starts[i])
}

// deepest is how many spellings may be one within another: JSON in JSON, quoted in a report.
const deepest = 4

// normalOf reads escapes, and escapes within them: a framework escapes what another one has escaped.
func normalOf(s string) normal {
	n := normal{text: s, plain: s}
	for range deepest {
		if !strings.ContainsAny(n.plain, `%\&`) {
			break
		}
		plain, starts := unescaped(n.plain)
		if plain == n.plain {
			break
		}
		for i, at := range starts {
			starts[i] = int32(n.start(int(at)))
		}
		n.plain, n.starts = plain, starts
	}
	return n
}

// spelled is a secret that is looked for in all spellings, and its name.
type spelled struct{ secret, name string }

// unescaped returns a text in which each escape is the character that it stands for, and where in the text each byte of that begins.
func unescaped(s string) (plain string, starts []int32) {
	out := make([]byte, 0, len(s))
	starts = make([]int32, 0, len(s)+1)
	for i := 0; i < len(s); {
		size, held := 0, ""
		switch s[i] {
		case '%':
			size, held = octet(s[i:])
		case '\\':
			size, held = escapeOfJSON(s[i:])
		case '&':
			size, held = reference(s[i:])
		}
		if size == 0 {
			size, held = 1, s[i:i+1]
		}
		for range len(held) {
			starts = append(starts, int32(i))
		}
		out = append(out, held...)
		i += size
	}
	return string(out), append(starts, int32(len(s)))
}

// octet reads "%2b".
func octet(s string) (size int, held string) {
	if len(s) < 3 {
		return 0, ""
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	if err != nil {
		return 0, ""
	}
	return 3, string([]byte{byte(n)})
}

// shortEscapes are those of JSON that stand for a control character.
var shortEscapes = map[byte]string{'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

// escapeOfJSON reads a backslash with a slash, a quotation mark, a backslash or a letter, or "\u002b".
func escapeOfJSON(s string) (size int, held string) {
	switch {
	case len(s) < 2:
		return 0, ""
	case s[1] == '/' || s[1] == '"' || s[1] == '\\':
		return 2, s[1:2]
	case shortEscapes[s[1]] != "":
		return 2, shortEscapes[s[1]]
	}
	first := unit(s)
	if second := unit(s[min(len(s), 6):]); utf16.IsSurrogate(first) && second >= 0 {
		if both := utf16.DecodeRune(first, second); both != unicode.ReplacementChar {
			return 12, string(both)
		}
	}
	if first < 0 {
		return 0, ""
	}
	return 6, string(first)
}

// unit reads "\u002b"; it is -1 for anything else.
func unit(s string) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// longestReference is how long a reference of HTML may be, with leading zeros.
const longestReference = 16

// reference reads "&#43;", "&#x2b;" and "&plus;".
func reference(s string) (size int, held string) {
	end := strings.IndexByte(s[:min(len(s), longestReference)], ';')
	if end < 3 {
		return 0, ""
	}
	if held = html.UnescapeString(s[:end+1]); held == s[:end+1] {
		return 0, ""
	}
	return end + 1, held
}
