package client

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

// FuzzRetryAfter checks that no wait is negative or longer than the maximum.
func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{"", "0", "1", "0.5", "-1", "1e400", "NaN", "Inf", "99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(v, uint16(429), uint8(0))
	}
	f.Fuzz(func(t *testing.T, value string, status uint16, attempt uint8) {
		a := &exchange.Response{Status: int(status), Header: http.Header{"Retry-After": {value}, "Date": {value}}}
		attempt %= maxAttempts
		wait, asked := askedToWait(a, int(attempt))
		if !asked {
			require.Zero(t, wait)
			return
		}
		require.GreaterOrEqual(t, wait, 5*time.Millisecond)
		require.LessOrEqual(t, wait, maxRetryAfter)
	})
}

// located is a transport that responds with a Location.
type located string

func (l located) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {string(l)}}, Body: http.NoBody, Request: r}, nil
}

// FuzzLocation checks that each redirect is returned as a response and that no other host is contacted.
func FuzzLocation(f *testing.F) {
	for _, v := range []string{"/a", "//other.example/", "http://[::1", "javascript:alert(1)", "http:opaque", "?q", "", "http://a.example:99999/", "http://a.example%2f@b/", "https://a.example/", "\x00"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, location string) {
		a, err := follow(located(location), httptest.NewRequest(http.MethodGet, "http://a.example/v2/x", nil))
		require.NoError(t, err)
		require.Equal(t, "http://a.example", a.Request.URL.Scheme+"://"+a.Request.URL.Host)
		require.Equal(t, []string{location}, a.Header["Location"], "the header is unchanged")
	})
}

// spellings returns a secret in each of the spellings that a redactor replaces.
var spellings = []func(string) string{
	func(s string) string { return s },
	url.QueryEscape, url.PathEscape, html.EscapeString, quoted,
	func(s string) string { return octets.ReplaceAllStringFunc(url.QueryEscape(s), strings.ToLower) },
	func(s string) string { return strings.ReplaceAll(url.PathEscape(s), "%2F", "/") },
	func(s string) string { return strings.ReplaceAll(quoted(s), "/", `\/`) },
	func(s string) string { return ascii(strings.ReplaceAll(quoted(s), "/", `\/`)) },
	func(s string) string { return quoted(html.EscapeString(s)) },
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("ab" + s + "c")) },
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte("a" + s + "zz")) },
}

// quoted returns a text as it is within a JSON string.
func quoted(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) }

// FuzzRedactor checks that no spelling of a secret remains in a text.
func FuzzRedactor(f *testing.F) {
	for i := range spellings {
		f.Add(`k+y/"se<cr>et&'7é=x`, "before ", " after", uint8(i))
		f.Add(`ab/cd%2bef&amp;gh`, `{"a":"`, `"}`, uint8(i))
		f.Add("a secret 😀 of runes", "", "", uint8(i))
	}
	f.Fuzz(func(t *testing.T, secret, before, after string, spelling uint8) {
		const name = "$AGENTCONFORM_X"
		if len(secret) < ShortestSpelled || !utf8.ValidString(secret) || strings.ContainsAny(secret, "\x00\ufffd") || strings.ContainsAny(before+after, `%\&`) || strings.Contains(before+after+secret, "AGENTCONFORM") {
			return
		}
		if after != "" && !strings.Contains(" \"}", after[:1]) { // the character would become part of the spelling
			return
		}
		// The configuration refuses a secret with a control character, since a header cannot contain it.
		if strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			return
		}
		r := NewRedactor(map[string]string{secret: name})
		spelled := spellings[int(spelling)%len(spellings)](secret)
		for _, clean := range []string{r.Text(before + spelled + after), r.Record(before + spelled + after)} {
			require.Contains(t, clean, name, "%q", spelled)
			require.NotContains(t, strings.ReplaceAll(clean, name, "\x00"), secret)
		}
	})
}
