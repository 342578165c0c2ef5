package recording

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/reports"
)

// Entry is one entry of an archive. Members of the wrong type are like absent ones.
type Entry struct {
	Method, URL   string
	Header        http.Header // of the request
	Body          []byte      // of the request
	Status        int         // 0 without a response
	Response      http.Header
	ResponseBody  []byte
	Cut           bool // ResponseBody is not the whole body, or nothing of it
	Repeated      bool // the client sent the request twice
	NotFromTarget bool // the response is not that of the server to this request: a cache, a redirect, a socket
	Sent          time.Time
	Took          time.Duration
}

// Limits of times in an archive, outside of which they count as absent.
const (
	longestMS = 30 * 24 * 3600 * 1000
	firstYear = 1990
	lastYear  = 9999
)

// timesOf returns the times of an entry. isTimed is false if the time or the duration is absent. An absent time is zero.
func timesOf(text string) (sent time.Time, took time.Duration, isTimed bool) {
	sent, err := time.Parse(time.RFC3339, gjson.Get(text, "startedDateTime").Str)
	if err != nil || sent.Year() < firstYear || sent.Year() > lastYear {
		return time.Time{}, 0, false
	}
	ms := gjson.Get(text, "time")
	if ms.Type != gjson.Number || ms.Num < 0 || ms.Num > longestMS {
		return sent, 0, false
	}
	return sent, time.Duration(ms.Num * float64(time.Millisecond)), true
}

// entryOf returns the entry of a JSON text.
func entryOf(text string) Entry {
	request, response := gjson.Get(text, "request"), gjson.Get(text, "response")
	e := Entry{
		// Copies, because what is kept of the address would keep the whole text in memory.
		Method: strings.Clone(request.Get("method").Str), URL: strings.Clone(request.Get("url").Str), Header: headersOf(request),
		Body: []byte(request.Get("postData.text").Str), Status: statusOf(response.Get("status")), Response: headersOf(response),
	}
	sentType := request.Get("postData.mimeType").Str
	if len(e.Body) > 0 && e.Header.Get("Content-Type") == "" && sentType != "" {
		e.Header.Set("Content-Type", sentType)
	}
	content := response.Get("content")
	e.ResponseBody, e.Cut = bodyOf(content)
	shownType := content.Get("mimeType").Str
	if len(e.Response) == 0 && e.Status != 0 { // some programs export no headers
		e.Cut = e.Cut || shownType == ""
		e.Response.Set("Content-Type", shownType)
	}
	e.Repeated = strings.Contains(gjson.Get(text, "comment").Str, reports.RepeatedNote)
	e.NotFromTarget = isCached(text) || isNotResponse(e)
	return e
}

func statusOf(value gjson.Result) int {
	status := value.Num
	if value.Type != gjson.Number || status < 100 || status > 999 {
		return 0
	}
	return int(status)
}

// isCached reports whether the response of an entry is from a cache, or from a program in the browser.
func isCached(text string) bool {
	return gjson.Get(text, "_fromCache").Str != "" || gjson.Get(text, "_fetchedViaServiceWorker").Bool() ||
		gjson.Get(text, "_webSocketMessages").Exists()
}

// isNotResponse reports whether a response answers no request of the interface: the client has the body already, the
// protocol changes, or the client must go elsewhere.
func isNotResponse(e Entry) bool {
	switch e.Status {
	case http.StatusNotModified:
		return e.Header.Get("If-None-Match") != "" || e.Header.Get("If-Modified-Since") != ""
	case http.StatusSwitchingProtocols:
		return true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return e.Response.Get("Location") != ""
	}
	return false
}

// headersOf returns the headers of a request or response, without the pseudo-headers of HTTP/2 and invalid ones.
func headersOf(of gjson.Result) http.Header {
	all := http.Header{}
	of.Get("headers").ForEach(func(_, each gjson.Result) bool {
		name, value := each.Get("name").Str, each.Get("value").Str
		if httpguts.ValidHeaderFieldName(name) {
			all.Add(name, value)
		}
		return true
	})
	return all
}

// bodyOf returns the body in the content of a response, and whether the archive lacks a part of it.
func bodyOf(content gjson.Result) (body []byte, isCut bool) {
	text := content.Get("text")
	body = []byte(text.Str)
	if content.Get("encoding").Str == "base64" {
		decoded, err := base64.StdEncoding.DecodeString(text.Str)
		if err != nil {
			return nil, true
		}
		body = decoded
	}
	size := content.Get("size")
	if !size.Exists() {
		return body, !text.Exists()
	}
	return body, size.Num > float64(len(body)) || size.Num < 0 && len(body) == 0
}
