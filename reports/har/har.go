// Package har writes the exchanges of a result as an HTTP archive.
package har

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Write writes the exchanges of r as an HTTP archive (HAR 1.2), which browsers and proxies can open. An exchange
// without an answer has status 0, as browsers write it, and a comment that says why. It fails where w does.
func Write(w io.Writer, r *reports.Result) error {
	var facts []string
	for _, f := range overview.Facts(r) {
		facts = append(facts, f.Name+": "+f.Value)
	}
	out := bufio.NewWriterSize(w, 64<<10) // what it returns of an error, Flush returns too
	_, _ = fmt.Fprintf(out, "{\"log\": {\n\"version\": \"1.2\",\n\"creator\": %s,\n\"comment\": %s,\n\"entries\": [",
		inJSON(map[string]string{"name": "agentconform", "version": r.Suite.Version}), inJSON(strings.Join(facts, "; ")))
	separator := "\n"
	if r.Exchanges != nil {
		for x := range r.Exchanges.All() {
			_, _ = out.WriteString(separator + inJSON(entryOf(r.Run.StartedAt, x)))
			separator = ",\n"
		}
	}
	_, _ = out.WriteString("\n]}}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the HTTP archive: %w", err)
	}
	return nil
}

// inJSON is a value of texts and numbers as JSON.
func inJSON(value any) string {
	doc, _ := json.Marshal(value)
	return string(safe.JSON(doc))
}

// The parts of an entry; names and required members are those of the HAR 1.2 specification. Members that start with
// an underscore are extensions, as it allows.
type (
	entry struct {
		Started  string   `json:"startedDateTime"`
		Time     float64  `json:"time"`
		Request  request  `json:"request"`
		Response response `json:"response"`
		Cache    struct{} `json:"cache"`
		Timings  timings  `json:"timings"`
		Comment  string   `json:"comment,omitempty"`
		ID       int      `json:"_exchange"`
		Scenario string   `json:"_scenario,omitempty"`
	}
	request struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []pair    `json:"cookies"`
		Headers     []pair    `json:"headers"`
		QueryString []pair    `json:"queryString"`
		PostData    *postData `json:"postData,omitempty"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	response struct {
		Status      int     `json:"status"`
		StatusText  string  `json:"statusText"`
		HTTPVersion string  `json:"httpVersion"`
		Cookies     []pair  `json:"cookies"`
		Headers     []pair  `json:"headers"`
		Content     content `json:"content"`
		RedirectURL string  `json:"redirectURL"`
		HeadersSize int     `json:"headersSize"`
		BodySize    int     `json:"bodySize"`
	}
	pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	postData struct {
		MimeType string `json:"mimeType"`
		Text     string `json:"text"`
	}
	content struct {
		Size     int    `json:"size"`
		MimeType string `json:"mimeType"`
		Text     string `json:"text,omitempty"`
		Comment  string `json:"comment,omitempty"`
	}
	timings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
)

func entryOf(start time.Time, x reports.Exchange) entry {
	e := entry{
		Started: start.Add(time.Duration(x.AtMS) * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z"),
		Time:    max(x.MS, 0), Timings: timings{Wait: max(x.MS, 0)}, ID: x.ID, Scenario: x.Scenario,
	}
	if x.Error != "" {
		e.Comment = "no answer: " + x.Error
	}
	target, query := address(x.URL)
	e.Request = request{
		Method: cmp.Or(x.Method, "GET"), URL: target, HTTPVersion: "HTTP/1.1", Cookies: []pair{}, QueryString: query,
		Headers: headers(x.Request.Headers), HeadersSize: -1, BodySize: x.Request.FullSize(),
	}
	if x.Request.Body != "" {
		e.Request.PostData = &postData{MimeType: header(x.Request, "Content-Type"), Text: x.Request.Body}
	}
	e.Response = response{
		Status: x.Status, StatusText: http.StatusText(x.Status), HTTPVersion: "HTTP/1.1", Cookies: []pair{},
		Headers: headers(x.Response.Headers), RedirectURL: header(x.Response, "Location"), HeadersSize: -1, BodySize: x.Response.FullSize(),
		Content: content{Size: x.Response.FullSize(), MimeType: cmp.Or(header(x.Response, "Content-Type"), "x-unknown"), Text: x.Response.Body},
	}
	if x.Response.Size > len(x.Response.Body) {
		e.Response.Content.Comment = fmt.Sprintf("cut to %d bytes; sha256 of the whole: %s", len(x.Response.Body), x.Response.SHA256)
	}
	return e
}

// address returns the address in a form that is always a URI: a reader of the archive refuses the whole file otherwise.
// Credentials and the fragment are left out, as the specification says.
func address(raw string) (string, []pair) {
	query := []pair{}
	u, err := url.Parse(raw)
	if err != nil {
		return "about:blank#" + url.PathEscape(safe.Cut(raw, 2000)), query
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	for _, part := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' }) {
		name, value, _ := strings.Cut(part, "=")
		query = append(query, pair{unescaped(name), unescaped(value)})
	}
	u.RawQuery = uriQuery(u.RawQuery)
	return u.String(), query
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// uriQuery escapes what a URI must not contain and keeps the rest as it was sent.
func uriQuery(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}[]#", c) >= 0 || c == '%' && !isHex(s, i+1) {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isHex(s string, at int) bool {
	const digits = "0123456789abcdefABCDEF"
	return at+1 < len(s) && strings.IndexByte(digits, s[at]) >= 0 && strings.IndexByte(digits, s[at+1]) >= 0
}

func headers(h map[string][]string) []pair {
	pairs := []pair{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			pairs = append(pairs, pair{name, value})
		}
	}
	return pairs
}

// header returns the first value of a header, whatever the case of its name.
func header(m reports.Message, name string) string {
	for key, values := range m.Headers {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}
