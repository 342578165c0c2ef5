package client

import (
	"encoding/base64"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// shortestSpelled is the least length in bytes of a secret that is looked for in all spellings. They are, also mixed:
//   - percent-encoded, in any case, each byte or some;
//   - JSON escapes: \/ \" \\ and \u002B in any case, with pairs of surrogates;
//   - character references of HTML: named, decimal, hexadecimal, with leading zeros;
//   - base64, of either alphabet and within a longer text, which holds for a Basic pair too.
const shortestSpelled = 12

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

// respelled replaces secrets that are spelled with escapes: it looks for them in the text without escapes, in time linear to the text.
func (r *redactions) respelled(s string) string {
	if len(r.spelled) == 0 || !strings.ContainsAny(s, `%\&`) {
		return s
	}
	s = replacedIn(s, r.spelled, unescaped)
	if len(r.normal) > 0 {
		s = replacedIn(s, r.normal, normal)
	}
	return s
}

// replacedIn replaces secrets that are found in another form of the text.
func replacedIn(s string, all []spelled, form func(string) (string, []int)) string {
	plain, starts := form(s)
	for _, known := range all {
		var b strings.Builder
		done, from := 0, 0
		for {
			i := strings.Index(plain[from:], known.secret)
			if i < 0 {
				break
			}
			i += from
			from = i + len(known.secret)
			if starts[from]-starts[i] < known.least {
				from = i + 1
				continue
			}
			b.WriteString(s[done:starts[i]] + known.name)
			done = starts[from]
		}
		if done > 0 {
			s = b.String() + s[done:]
			plain, starts = form(s)
		}
	}
	return s
}

// spelled is a secret that is looked for in all spellings, its name, and the length that a spelling has at least.
type spelled struct {
	secret, name string
	least        int
}

// normal returns a text without escapes, also without those that were escaped themselves, and where in the text each byte of that
// begins. A secret that holds escapes is looked for in this form: some of them may be escaped in the text, and some not.
func normal(s string) (plain string, starts []int) {
	plain, starts = unescaped(s)
	for range 2 {
		if !strings.ContainsAny(plain, `%\&`) {
			break
		}
		next, places := unescaped(plain)
		for i, at := range places {
			places[i] = starts[at]
		}
		plain, starts = next, places
	}
	return plain, starts
}

// unescaped returns a text in which each escape is the character that it stands for, and where in the text each byte of that begins.
func unescaped(s string) (plain string, starts []int) {
	out := make([]byte, 0, len(s))
	starts = make([]int, 0, len(s)+1)
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
			starts = append(starts, i)
		}
		out = append(out, held...)
		i += size
	}
	return string(out), append(starts, len(s))
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

// escapeOfJSON reads a backslash with a slash, a quotation mark or a backslash, or "\u002b".
func escapeOfJSON(s string) (size int, held string) {
	switch {
	case len(s) < 2:
		return 0, ""
	case s[1] == '/' || s[1] == '"' || s[1] == '\\':
		return 2, s[1:2]
	case s[1] != 'u' || len(s) < 6:
		return 0, ""
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, ""
	}
	if first := rune(n); utf16.IsSurrogate(first) && len(s) >= 12 && s[6:8] == `\u` {
		second, err := strconv.ParseUint(s[8:12], 16, 16)
		if both := utf16.DecodeRune(first, rune(second)); err == nil && both != utf8.RuneError {
			return 12, string(both)
		}
	}
	return 6, string(rune(n))
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
