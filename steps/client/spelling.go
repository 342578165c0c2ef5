package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
)

// ShortestSpelled is the least length in bytes of a secret that is looked for everywhere, in all spellings.
const ShortestSpelled = 12

// SpellingsOf are the spellings in which a secret is found, and no others: as it was sent, URL-encoded, HTML-escaped,
// in base64, and each of these JSON-escaped, once or twice: the suite quotes JSON. SECURITY.md lists them.
func SpellingsOf(secret string) (all []string) {
	known := map[string]bool{}
	add := func(spelled ...string) {
		for _, s := range spelled {
			if !known[s] {
				known[s] = true
				all = append(all, s)
			}
		}
	}
	query, path := url.QueryEscape(secret), url.PathEscape(secret)
	add(secret)
	spaces, slashes := strings.ReplaceAll(query, "+", "%20"), strings.ReplaceAll(path, "%2F", "/")
	for _, s := range []string{query, path, spaces, slashes} {
		add(s, octets.ReplaceAllStringFunc(s, strings.ToLower))
	}
	escaped := html.EscapeString(secret)
	add(escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(escaped))
	add(base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret)))
	if len(secret) >= ShortestSpelled {
		add(encoded(secret)...)
	}
	for _, s := range all {
		add(escapedAsJSON(s)...)
	}
	for _, s := range all {
		add(escapedAsJSON(s)[0])
	}
	return all
}

var octets = regexp.MustCompile(`%[0-9A-F]{2}`)

// encoded are the parts of the base64 of a longer text, such as a Basic pair, that follow from the secret alone, at
// each of the three offsets.
func encoded(secret string) []string {
	var all []string
	for offset, first := range []int{0, 2, 3} {
		text := append(make([]byte, offset), secret...)
		last := len(text) * 8 / 6
		all = append(all, base64.RawStdEncoding.EncodeToString(text)[first:last], base64.RawURLEncoding.EncodeToString(text)[first:last])
	}
	return all
}

// escapedAsJSON is a text within a JSON string, first as encoders write it that escape as little as they can; others
// also escape what has a meaning in HTML, "/", or all that is not ASCII.
func escapedAsJSON(s string) (all []string) {
	for _, safe := range []bool{false, true} {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(safe)
		_ = e.Encode(s) // a string can be written
		escaped := strings.TrimSuffix(strings.TrimPrefix(text.String(), `"`), "\"\n")
		slashes := strings.ReplaceAll(escaped, "/", `\/`)
		all = append(all, escaped, slashes, ascii(escaped), ascii(slashes))
	}
	return all
}

// ascii escapes all that is not ASCII.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
