// Package har writes the exchanges of a result as an HTTP archive.
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
	var entries []string
	for _, x := range r.Exchanges {
		entries = append(entries, "\n"+encode(entryOf(r.Run.StartedAt, x)))
	}
	creator := object{"name": "agentconform", "version": r.Suite.Version}
	_, err := fmt.Fprintf(w, `{"log": {
"version": "1.2",
"creator": %s,
"comment": %s,
"entries": [%s
]}}
`, encode(creator), encode(overview.Of(r).FactsText("; ")), strings.Join(entries, ","))
	return err
}

// object is a JSON object.
type object map[string]any

// encode returns a value of texts and numbers as JSON.
func encode(value any) string {
	doc, _ := json.Marshal(value)
	return string(safe.JSON(doc))
}

// entryOf returns an exchange as an entry of the HAR 1.2 specification. Members that start with an underscore are
// extensions.
func entryOf(start time.Time, x reports.Exchange) object {
	target, query := address(x.URL)
	request := object{
		"method": cmp.Or(x.Method, "GET"), "url": target, "httpVersion": "HTTP/1.1", "cookies": []object{},
		"queryString": query, "headers": pairs(x.Request.SortedHeaders()), "headersSize": -1,
		"bodySize": x.Request.FullSize(),
	}
	if x.Request.Body != "" {
		request["postData"] = object{"mimeType": x.Request.Header("Content-Type"), "text": x.Request.Body}
	}
	content := object{
		"size": x.Response.FullSize(), "mimeType": cmp.Or(x.Response.Header("Content-Type"), "x-unknown"),
		"text": x.Response.Body,
	}
	if x.Response.Size > len(x.Response.Body) {
		content["comment"] = fmt.Sprintf("cut to %d bytes; sha256 of the whole body: %s", len(x.Response.Body), x.Response.SHA256)
	}
	entry := object{
		"startedDateTime": start.Add(time.Duration(x.AtMS) * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z"),
		"time":            max(x.MS, 0), "timings": object{"send": 0, "wait": max(x.MS, 0), "receive": 0}, "cache": object{},
		"_exchange": x.ID, "_scenario": x.Scenario, "request": request,
		"response": object{
			"status": x.Status, "statusText": http.StatusText(x.Status), "httpVersion": "HTTP/1.1", "cookies": []object{},
			"headers": pairs(x.Response.SortedHeaders()), "redirectURL": x.Response.Header("Location"), "headersSize": -1,
			"bodySize": x.Response.FullSize(), "content": content,
		},
	}
	var comments []string
	if x.Error != "" {
		comments = append(comments, "no response: "+x.Error)
	}
	if x.Repeated {
		comments = append(comments, reports.RepeatedNote)
	}
	if len(comments) > 0 {
		entry["comment"] = strings.Join(comments, "; ")
	}
	return entry
}

func pairs(all [][2]string) []object {
	objects := []object{}
	for _, each := range all {
		objects = append(objects, object{"name": each[0], "value": each[1]})
	}
	return objects
}

// notInQuery matches escapes, and characters that the query of a URI must not contain.
var notInQuery = regexp.MustCompile(`%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/?-]`)

// address returns a valid URI and its query parameters, because readers refuse a file with an invalid one. The URI has no
// credentials and no fragment, as the specification requires.
func address(raw string) (string, []object) {
	u, err := url.Parse(raw)
	if err != nil {
		return "about:blank#" + url.PathEscape(safe.Cut(raw, 2000)), []object{}
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
