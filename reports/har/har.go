// Package har writes the exchanges of a result as an HTTP archive. Start with [Write].
package har

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Write writes the exchanges of r as an HTTP archive (HAR 1.2), which browsers and proxies can open. An exchange without a
// response has the status 0, like in browsers, and a comment with the reason. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	if _, err := io.WriteString(w, Head(r.Suite.Version, overview.Of(r).FactsText("; "))); err != nil {
		return err
	}
	separator := ""
	for _, x := range r.Exchanges {
		if _, err := io.WriteString(w, separator+Entry(r.Run.StartedAt, x)); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(w, Tail)
	return err
}

// Head returns the beginning of an archive. Entries follow, and [Tail] after the last one.
func Head(version, comment string) string {
	return fmt.Sprintf(`{"log": {"version": "1.2", "creator": {"name": "agentconform", "version": %s}, "comment": %s, "entries": [`,
		encode(version), encode(comment))
}

// Tail is the end of an archive.
const Tail = "\n]}}\n"

// Entry returns an exchange as an entry, which begins with a line feed. Commas separate entries.
func Entry(start time.Time, x reports.Exchange) string {
	return "\n" + string(encode(entryOf(start, x)))
}

// encode returns a value of texts and numbers as JSON.
func encode(value any) []byte {
	doc, _ := json.Marshal(value)
	return safe.JSON(doc)
}

// entry is an entry of the HAR 1.2 specification. Members that start with an underscore are extensions. The members of all
// objects are sorted.
type entry struct {
	Exchange int      `json:"_exchange,omitempty"` // ID of an exchange of a test run
	Scenario string   `json:"_scenario,omitempty"`
	Cache    struct{} `json:"cache"`
	Comment  string   `json:"comment,omitempty"`
	Request  request  `json:"request"`
	Response response `json:"response"`
	Started  string   `json:"startedDateTime"`
	Time     float64  `json:"time"`
	Timings  timings  `json:"timings"`
}

type timings struct {
	Receive int     `json:"receive"`
	Send    int     `json:"send"`
	Wait    float64 `json:"wait"`
}

type request struct {
	BodySize    int       `json:"bodySize"`
	Cookies     []pair    `json:"cookies"`
	Headers     []pair    `json:"headers"`
	HeadersSize int       `json:"headersSize"`
	HTTPVersion string    `json:"httpVersion"`
	Method      string    `json:"method"`
	PostData    *postData `json:"postData,omitempty"`
	QueryString []pair    `json:"queryString"`
	URL         string    `json:"url"`
}

type postData struct {
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
}

type response struct {
	BodySize    int     `json:"bodySize"`
	Content     content `json:"content"`
	Cookies     []pair  `json:"cookies"`
	Headers     []pair  `json:"headers"`
	HeadersSize int     `json:"headersSize"`
	HTTPVersion string  `json:"httpVersion"`
	RedirectURL string  `json:"redirectURL"`
	Status      int     `json:"status"`
	StatusText  string  `json:"statusText"`
}

type content struct {
	Comment  string `json:"comment,omitempty"`
	MimeType string `json:"mimeType"`
	Size     int    `json:"size"`
	Text     string `json:"text"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func entryOf(start time.Time, x reports.Exchange) entry {
	const version = "HTTP/1.1"
	target, query := address(x.URL)
	sent, layout := start.Add(time.Duration(x.AtMS)*time.Millisecond).UTC(), "2006-01-02T15:04:05.000Z"
	if sent.Nanosecond()%int(time.Millisecond) != 0 {
		layout = "2006-01-02T15:04:05.000000Z"
	}
	e := entry{
		Exchange: x.ID, Scenario: x.Scenario,
		Started: sent.Format(layout),
		Time:    max(x.MS, 0), Timings: timings{Wait: max(x.MS, 0)},
		Request: request{Method: cmp.Or(x.Method, "GET"), URL: target, QueryString: query, HTTPVersion: version, Cookies: []pair{},
			Headers: pairs(x.Request.SortedHeaders()), HeadersSize: -1, BodySize: x.Request.FullSize()},
		Response: response{Status: x.Status, StatusText: http.StatusText(x.Status), HTTPVersion: version, Cookies: []pair{},
			Headers: pairs(x.Response.SortedHeaders()), HeadersSize: -1, BodySize: x.Response.FullSize(),
			RedirectURL: x.Response.Header("Location"), Content: content{Size: x.Response.FullSize(), Text: x.Response.Body,
				MimeType: cmp.Or(x.Response.Header("Content-Type"), "x-unknown")}},
	}
	if x.Request.Body != "" {
		e.Request.PostData = &postData{MimeType: x.Request.Header("Content-Type"), Text: x.Request.Body}
	}
	if x.Response.Size > len(x.Response.Body) {
		e.Response.Content.Comment = fmt.Sprintf("cut to %d bytes; sha256 of the whole body: %s", len(x.Response.Body), x.Response.SHA256)
	}
	var comments []string
	if x.Error != "" {
		comments = append(comments, "no response: "+x.Error)
	}
	if x.Repeated {
		comments = append(comments, reports.RepeatedNote)
	}
	e.Comment = strings.Join(comments, "; ")
	return e
}

func pairs(all [][2]string) []pair {
	list := []pair{}
	for _, each := range all {
		list = append(list, pair{each[0], each[1]})
	}
	return list
}

// notInQuery matches escapes, and characters that the query of a URI must not contain.
var notInQuery = regexp.MustCompile(`%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/?-]`)

// address returns a valid URI and its query parameters, because readers refuse a file with an invalid one. The URI has no
// credentials and no fragment, as the specification requires.
func address(raw string) (string, []pair) {
	u, err := url.Parse(raw)
	if err != nil {
		return "about:blank#" + url.PathEscape(safe.Cut(raw, 2000)), []pair{}
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	var query [][2]string
	for _, part := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' }) {
		name, value, _ := strings.Cut(part, "=")
		query = append(query, [2]string{unescaped(name), unescaped(value)})
	}
	u.RawQuery = notInQuery.ReplaceAllStringFunc(u.RawQuery, func(found string) string {
		if len(found) == 3 && found[0] == '%' {
			return found
		}
		return url.PathEscape(found)
	})
	return u.String(), pairs(query)
}

func unescaped(s string) string {
	plain, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return plain
}
