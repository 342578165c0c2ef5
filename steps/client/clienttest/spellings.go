// Package clienttest is for tests only: it spells secrets in each way of the list of client.Spellings.
package clienttest

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Spelled are texts that hold the secret, for each of client.Spellings in their order.
func Spelled(secret string) [][]string {
	percent := each(secret, "%%%02x")
	some := strings.NewReplacer("+", "%2b", "/", "%2F", `"`, "%22", "<", "%3c").Replace(secret)
	named := strings.NewReplacer("+", "&plus;", "/", "&sol;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "&", "&amp;", "=", "&equals;").Replace(secret)
	slashes := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "/", `\/`, "\n", `\n`).Replace(secret)
	from := min(len(secret)-12, len(secret)/2)
	for !utf8.RuneStart(secret[from]) {
		from--
	}
	end := secret[from:]
	spelled := [][]string{
		{secret, "Bearer " + secret, "x" + secret + "y"},
		{url.QueryEscape(secret), url.PathEscape(secret), percent, strings.ToUpper(percent), some, strings.ReplaceAll(some, "%", "%25")},
		{slashes, units(secret, `\u%04x`), units(secret, `\u%04X`), strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(slashes)},
		{html.EscapeString(secret), named, runes(secret, "&#%d;"), runes(secret, "&#00%d;"), runes(secret, "&#x%x;"), runes(secret, "&#X%X;")},
		nil,
		{"****" + end, "****" + url.QueryEscape(end), "****" + units(end, `\u%04x`), "****" + html.EscapeString(end), secret[from/2:]},
	}
	for _, front := range []string{"", "a", "ab", "user:"} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString([]byte(front + secret + "zz"))
			spelled[4] = append(spelled[4], text, strings.ReplaceAll(text, "/", `\/`))
		}
	}
	return spelled
}

func each(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func runes(s, format string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func units(s, format string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}
