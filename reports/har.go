package reports

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports/safe"
)

// HAR writes the exchanges of r as an HTTP archive (HAR 1.2), which browsers and proxies can open. It is streamed.
// An exchange without an answer has status 0, as browsers write it, and a comment that says why.
func HAR(w io.Writer, r *Result) error {
	out := bufio.NewWriterSize(w, 64<<10)
	creator, err := json.Marshal(map[string]string{"name": "agentconform", "version": r.Suite.Version})
	if err != nil {
		return fmt.Errorf("writing the HTTP archive: %w", err)
	}
	fmt.Fprintf(out, "{\"log\": {\n\"version\": \"1.2\",\n\"creator\": %s,\n\"entries\": [", safe.JSON(creator)) //nolint:errcheck // Flush tells
	if err := harEntries(out, r); err != nil {
		return fmt.Errorf("writing the HTTP archive: %w", err)
	}
	fmt.Fprint(out, "\n]}}\n") //nolint:errcheck // Flush tells
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the HTTP archive: %w", err)
	}
	return nil
}

func harEntries(out *bufio.Writer, r *Result) error {
	if r.Exchanges == nil {
		return nil
	}
	separator := "\n"
	for x, err := range r.Exchanges.All() {
		if err != nil {
			return err
		}
		doc, err := json.Marshal(entryOf(r.Run.StartedAt, x))
		if err != nil {
			return fmt.Errorf("encoding exchange %d: %w", x.ID, err)
		}
		if _, err := out.WriteString(separator + string(safe.JSON(doc))); err != nil {
			return err
		}
		separator = ",\n"
	}
	return nil
}

// The parts of an entry; names and required members are those of the HAR 1.2 specification. Members that start with
// an underscore are extensions, as it allows.
type (
	harEntry struct {
		Started  string      `json:"startedDateTime"`
		Time     float64     `json:"time"`
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment,omitempty"`
		ID       int         `json:"_exchange"`
		Scenario string      `json:"_scenario,omitempty"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		QueryString []harPair `json:"queryString"`
		PostData    *harPost  `json:"postData,omitempty"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		RedirectURL string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int        `json:"bodySize"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harPost struct {
		MimeType string `json:"mimeType"`
		Text     string `json:"text"`
	}
	harContent struct {
		Size     int    `json:"size"`
		MimeType string `json:"mimeType"`
		Text     string `json:"text,omitempty"`
		Comment  string `json:"comment,omitempty"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
)

func entryOf(start time.Time, x Exchange) harEntry {
	e := harEntry{
		Started: start.Add(time.Duration(x.AtMS) * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z"),
		Time:    max(x.MS, 0), Timings: harTimings{Wait: max(x.MS, 0)}, ID: x.ID, Scenario: x.Scenario,
	}
	if x.Error != "" {
		e.Comment = "no answer: " + x.Error
	}
	target, query := harURL(x.URL)
	e.Request = harRequest{
		Method: cmp.Or(x.Method, "GET"), URL: target, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, QueryString: query,
		Headers: harHeaders(x.Request.Headers), HeadersSize: -1, BodySize: size(x.Request),
	}
	if x.Request.Body != "" {
		e.Request.PostData = &harPost{MimeType: header(x.Request, "Content-Type"), Text: x.Request.Body}
	}
	e.Response = harResponse{
		Status: x.Status, StatusText: http.StatusText(x.Status), HTTPVersion: "HTTP/1.1", Cookies: []harPair{},
		Headers: harHeaders(x.Response.Headers), RedirectURL: header(x.Response, "Location"), HeadersSize: -1, BodySize: size(x.Response),
		Content: harContent{Size: size(x.Response), MimeType: cmp.Or(header(x.Response, "Content-Type"), "x-unknown"), Text: x.Response.Body},
	}
	if x.Response.Size > len(x.Response.Body) {
		e.Response.Content.Comment = fmt.Sprintf("cut to %d bytes; sha256 of the whole: %s", len(x.Response.Body), x.Response.SHA256)
	}
	return e
}

// harURL returns the address in a form that is always a URI: a reader of the archive refuses the whole file otherwise.
// Credentials and the fragment are left out, as the specification says.
func harURL(raw string) (string, []harPair) {
	query := []harPair{}
	u, err := url.Parse(raw)
	if err != nil {
		return "about:blank#" + url.PathEscape(safe.Cut(raw, 2000)), query
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	for _, part := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' }) {
		name, value, _ := strings.Cut(part, "=")
		query = append(query, harPair{unescaped(name), unescaped(value)})
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

// uriQuery escapes what must not stand in a URI and leaves all else as it was sent.
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

func harHeaders(h map[string][]string) []harPair {
	pairs := []harPair{}
	for _, name := range sortedKeys(h) {
		for _, value := range h[name] {
			pairs = append(pairs, harPair{name, value})
		}
	}
	return pairs
}

// header returns the first value of a header, whatever the case of its name.
func header(m Message, name string) string {
	for key, values := range m.Headers {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

func size(m Message) int { return max(m.Size, len(m.Body)) }
