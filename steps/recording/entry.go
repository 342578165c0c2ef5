package recording

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/reports"
)

// Entry is one entry of an archive. Members of the wrong type count as absent.
type Entry struct {
	Method, URL   string
	Header        http.Header // of the request
	Body          []byte      // of the request
	Status        int         // 0 without a response
	Response      http.Header
	ResponseBody  []byte
	Cut           bool // ResponseBody is incomplete or missing
	Repeated      bool // the client sent the request twice
	NotFromTarget bool // the target did not answer this request: see isCached and isNotResponse
	Sent          time.Time
	Took          time.Duration
}

// Limits of times in an archive. Times outside of them count as absent.
const (
	longestMS = 30 * 24 * 3600 * 1000
	firstYear = 1990
	lastYear  = 9999
)

// timesOf returns the times of an entry. isTimed is false if the time or the duration is absent. An absent time is zero.
// A duration of 0 counts as absent, because every request takes time, and some programs write 0 if they measured none.
func timesOf(text []byte) (sent time.Time, took time.Duration, isTimed bool) {
	sent, err := time.Parse(time.RFC3339, gjson.GetBytes(text, "startedDateTime").Str)
	if err != nil || sent.Year() < firstYear || sent.Year() > lastYear {
		return time.Time{}, 0, false
	}
	ms := gjson.GetBytes(text, "time")
	if ms.Type != gjson.Number || ms.Num <= 0 || ms.Num > longestMS {
		return sent, 0, false
	}
	return sent, time.Duration(ms.Num * float64(time.Millisecond)), true
}

// resolutionOf returns the resolution of the time of an entry, such as a millisecond for three decimals, or the known
// one if that is finer.
func resolutionOf(text []byte, known time.Duration) time.Duration {
	_, fraction, _ := strings.Cut(gjson.GetBytes(text, "startedDateTime").Str, ".")
	resolution := time.Second
	for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9'; i++ {
		resolution /= 10
	}
	return min(resolution, known)
}

// membersRead has the names of the members of an entry, its request, its response and its content that this package
// reads.
var membersRead = []string{"request", "response", "comment", "_fromCache", "_fetchedViaServiceWorker", "_webSocketMessages",
	"method", "url", "headers", "postData", "status", "content", "bodySize", "mimeType", "text", "encoding", "size"}

// members are the relevant members of a JSON object.
type members []member

type member struct {
	name  string
	value gjson.Result
}

// membersOf reads an object once. A value that is not an object has no members.
func membersOf(value gjson.Result) members {
	if !value.IsObject() {
		return nil
	}
	var all members
	value.ForEach(func(name, value gjson.Result) bool {
		if slices.Contains(membersRead, name.Str) {
			all = append(all, member{name.Str, value})
		}
		return true
	})
	return all
}

// get returns a member, or a value that does not exist. The first of equal names counts.
func (m members) get(name string) gjson.Result {
	for _, each := range m {
		if each.name == name {
			return each.value
		}
	}
	return gjson.Result{}
}

// text returns a member that is a string, or "". It is a copy, because a substring would keep the text of the
// whole entry in memory.
func (m members) text(name string) string { return strings.Clone(m.get(name).Str) }

func entryOf(text string) Entry {
	entry := membersOf(gjson.Parse(text))
	request, response := membersOf(entry.get("request")), membersOf(entry.get("response"))
	e := Entry{
		Method: request.text("method"), URL: request.text("url"), Header: headersOf(request.get("headers")),
		Body: []byte(request.get("postData").Get("text").Str), Status: statusOf(response.get("status")), Response: headersOf(response.get("headers")),
	}
	sentType := request.get("postData").Get("mimeType").Str
	if len(e.Body) > 0 && e.Header.Get("Content-Type") == "" && sentType != "" {
		e.Header.Set("Content-Type", sentType)
	}
	content := membersOf(response.get("content"))
	e.ResponseBody, e.Cut = bodyOf(content)
	e.Cut = e.Cut || isLost(e, response.get("bodySize").Num) || isCompressed(e)
	shownType := content.get("mimeType").Str
	if len(e.Response) == 0 && e.Status != 0 { // some programs export no headers
		e.Cut = e.Cut || shownType == ""
		e.Response.Set("Content-Type", shownType)
	}
	e.Repeated = strings.Contains(entry.get("comment").Str, reports.RepeatedNote)
	e.NotFromTarget = isCached(entry) || isNotResponse(e)
	return e
}

// restore replaces the names of secrets by the secrets. It does not change Cut, because a body that becomes shorter is
// still complete.
func (e *Entry) restore(names *strings.Replacer) {
	e.URL = names.Replace(e.URL)
	for _, header := range []http.Header{e.Header, e.Response} {
		for _, values := range header {
			for i, value := range values {
				values[i] = names.Replace(value)
			}
		}
	}
	e.Body = []byte(names.Replace(string(e.Body)))
	e.ResponseBody = []byte(names.Replace(string(e.ResponseBody)))
}

func statusOf(value gjson.Result) int {
	status := value.Num
	if value.Type != gjson.Number || status < 100 || status > 999 {
		return 0
	}
	return int(status)
}

// isCached reports whether the response of an entry is from a cache, or from a program in the browser.
func isCached(entry members) bool {
	return entry.get("_fromCache").Str != "" || entry.get("_fetchedViaServiceWorker").Bool() || entry.get("_webSocketMessages").Exists()
}

// isNotResponse reports whether a response only concerns the transport: the client already has the body, the protocol
// changes, or the client must send the request to another address.
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

// isLost reports whether the body of a response is empty in the archive, although bytes of it were received. Browsers
// remove large or old bodies.
func isLost(e Entry, received float64) bool {
	length, _ := strconv.ParseFloat(e.Response.Get("Content-Length"), 64) // 0 if absent
	return len(e.ResponseBody) == 0 && (received > 0 || length > 0)
}

// isCompressed reports whether the archive has the bytes of a compressed body. An archive should have the text, but some
// programs write what they received.
func isCompressed(e Entry) bool {
	encoding := e.Response.Get("Content-Encoding")
	isEncoded := encoding != "" && !strings.EqualFold(encoding, "identity")
	return isEncoded && bytes.ContainsFunc(e.ResponseBody, isBinary)
}

// isBinary reports whether a character cannot occur in JSON. Compressed bodies contain such characters, unless they are
// very short.
func isBinary(r rune) bool {
	return r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\t\n\r", r)
}

// headersOf returns the headers of a list, without the pseudo-headers of HTTP/2 and invalid ones.
func headersOf(list gjson.Result) http.Header {
	all := http.Header{}
	list.ForEach(func(_, each gjson.Result) bool {
		name, value := each.Get("name").Str, each.Get("value").Str
		if httpguts.ValidHeaderFieldName(name) {
			all.Add(name, value)
		}
		return true
	})
	return all
}

// bodyOf returns the body in the content of a response, and reports whether the archive lacks a part of it.
func bodyOf(content members) (body []byte, isCut bool) {
	text := content.get("text")
	body = []byte(text.Str)
	if content.get("encoding").Str == "base64" {
		decoded, err := base64.StdEncoding.DecodeString(text.Str)
		if err != nil {
			return nil, true
		}
		body = decoded
	}
	size := content.get("size")
	if !size.Exists() {
		return body, !text.Exists()
	}
	isUnknown := size.Num < 0 // programs write -1
	return body, size.Num > float64(len(body)) || isUnknown && len(body) == 0
}
