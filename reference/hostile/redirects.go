package hostile

import (
	"net/http"
	"strconv"
)

// redirects are answers that send the client elsewhere.
func redirects() []Mode {
	to := func(name, does, operation string, status int, location string) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: on(operation, redirect(status, func(*http.Request) string { return location }))}
	}
	return []Mode{
		{Name: "loop", Does: "redirects lists to themselves", Verdict: NonConformant,
			Layer: on("list-revisions", redirect(302, func(r *http.Request) string { return r.URL.String() }))},
		{Name: "chain", Does: "redirects lists to another query each time", Verdict: NonConformant,
			Layer: on("list-revisions", redirect(307, func(*http.Request) string { return "?limit=" + strconv.FormatInt(serial.Add(1), 10) }))},
		to("other-host", "redirects lists to another host", "list-revisions", 302, "http://192.0.2.1/v2"),
		to("other-port", "redirects lists to another port", "list-revisions", 302, "http://127.0.0.1:1/"),
		to("metadata", "redirects lists to the metadata of a cloud", "list-revisions", 302, "http://169.254.169.254/latest/meta-data/"),
		to("file", "redirects lists to a file", "list-revisions", 302, "file:///etc/passwd"),
		to("script", "redirects lists to a script", "list-revisions", 302, "javascript:alert(1)"),
		to("no-location", "redirects lists without saying where", "list-revisions", 302, ""),
		to("broken-location", "redirects lists to an address that cannot be read", "list-revisions", 302, "http://[::1/%zz"),
		to("opaque-location", "redirects lists to a mail address", "list-revisions", 301, "mailto:a@example.org"),
		to("long-location", "redirects lists to an address of 100 KB", "list-revisions", 302, "/"+string(make100KB())),
		to("post-elsewhere", "redirects creation to another host", "create-deployment", 307, "http://192.0.2.1/steal"),
		to("post-to-broken", "redirects creation to an address that cannot be read", "create-deployment", 308, ":"),
		to("threads-elsewhere", "redirects the creation of threads to another host", "create-thread", 307, "http://192.0.2.1/steal"),
		to("runs-broken", "redirects runs to an address that cannot be read", "get-run", 303, "http://a b/"),
		to("multiple-choices", "answers lists with status 300", "list-revisions", 300, "/a"),
		to("use-proxy", "answers lists with status 305", "list-revisions", 305, "http://192.0.2.1:3128"),
	}
}

func make100KB() []byte {
	text := make([]byte, 100<<10)
	for i := range text {
		text[i] = 'a'
	}
	return text
}

func redirect(status int, to func(r *http.Request) string) answering {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		if location := to(r); location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
	}
}
