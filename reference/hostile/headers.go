package hostile

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
)

// emptyPage is an answer to a list as bytes, with headers.
func emptyPage(headers string) string {
	text := page + pageEnd
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + headers + "Content-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text
}

// headers are headers within the limit and beyond it, and what is in them.
func headers() []Mode {
	sent := func(name, does, text string) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: on("list-revisions", wire(text))}
	}
	late := func(name, does, text string) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: both(spoiled, on("list-revisions", wire(text)))}
	}
	numbered := func(n int, size int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "X-%d: %s\r\n", i, strings.Repeat("v", size))
		}
		return b.String()
	}
	return []Mode{
		sent("large-header", "has a header of 1 MiB", emptyPage("X-Large: "+strings.Repeat("v", 1<<20)+"\r\n")),
		sent("million-headers", "has a million headers", emptyPage(numbered(1_000_000, 1))),
		late("most-headers", "has 10,000 headers, within what is read", emptyPage(numbered(10_000, 1))),
		sent("same-header", "has one header 20,000 times", emptyPage(strings.Repeat("A:\r\n", 20_000))),
		sent("large-cookies", "sets cookies of 1 MB", emptyPage(strings.Repeat("Set-Cookie: a="+strings.Repeat("c", 4000)+"\r\n", 250))),
		sent("control-character-in-header", "has an escape character in a header", emptyPage("X-Text: \x1b[2J\r\n")),
		sent("zero-byte-in-header", "has a zero byte in a header", emptyPage("X-Te\x00xt: a\r\n")),
		sent("header-without-colon", "has a header without a colon", emptyPage("this is no header\r\n")),
		sent("two-lengths", "has two different lengths", emptyPage("Content-Length: 5\r\n")),
		sent("length-and-chunks", "has a length and chunks", emptyPage("Transfer-Encoding: chunked\r\n")),
		sent("escapes-in-status-line", "has escape sequences in the status line", "HTTP/1.1 200 \x1b[31mOK\x1b]0;title\x07\r\nContent-Length: 2\r\n\r\n{}"),
		{Name: "endless-headers", Does: "does not end its headers", Verdict: NonConformant,
			Layer: on("list-revisions", connection(func(c net.Conn) {
				_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				for err == nil {
					_, err = io.WriteString(c, "X-A: "+strings.Repeat("v", 1000)+"\r\n")
				}
			}))},
		{Name: "no-content-type", Does: "answers lists without a Content-Type", Verdict: NonConformant,
			Layer: changed("list-revisions", func(_ *http.Request, a *deviate.Answer) { a.Header["Content-Type"] = nil })},
		{Name: "large-content-type", Does: "has a Content-Type of 60 KB", Verdict: NonConformant,
			Layer: changed("list-revisions", func(_ *http.Request, a *deviate.Answer) { a.Header.Set("Content-Type", strings.Repeat("x", 60<<10)) })},
		{Name: "many-cookies", Does: "sets 20 cookies of 1 KB in all answers", Verdict: Conformant, Because: "the interface says nothing of cookies",
			Layer: always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				for i := range 20 {
					w.Header().Add("Set-Cookie", fmt.Sprintf("a%d=%s; Domain=example.org", i, strings.Repeat("c", 1000)))
				}
				next.ServeHTTP(w, r)
			})},
		{Name: "text-in-headers", Does: "has a script, a command of CI and a right-to-left mark in a header", Verdict: Conformant,
			Because: "any header is allowed", Layer: header("X-Text", script+" ##[error]x ::error::x \u202e")},
		{Name: "policies-in-headers", Does: "has headers that browsers obey", Verdict: Conformant, Because: "any header is allowed",
			Layer: both(header("Refresh", "0; url=javascript:alert(1)"), header("Alt-Svc", `h3="127.0.0.1:1"; ma=86400, h2="127.0.0.1:1"`))},
	}
}
