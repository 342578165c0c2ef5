package faults

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/deviate"
)

// transports differ in how the same answers are written and sent.
func transports() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "pretty-printed", Place: "JSON",
			Differs: "JSON is indented, with keys in reverse order and unnecessary escapes, as Application/JSON; Charset=UTF-8",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := deviate.Capture(next, r)
				if value := deviate.Value(a.Body); value != nil && strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
					a.Body = []byte(printed(value, "\r\n"))
					a.Header.Set("Content-Type", "Application/JSON; Charset=UTF-8")
				}
				a.Send(w)
			}),
		},
		{
			Name: "gzip", Place: "coding",
			Differs: "bodies are compressed with gzip if the client accepts it, and sent in pieces with pauses, without Content-Length",
			Apply:   around(inPieces),
		},
		{
			Name: "reads-are-redirected", Place: "redirects",
			Differs: "GET requests to the control plane are redirected with 308 on the same host",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				path, redirected := strings.CutSuffix(r.URL.Path, "/-")
				if r.Method == http.MethodGet && strings.HasPrefix(path, "/v2/") && !redirected {
					w.Header().Set("Location", withPath(r, path+"/-").URL.RequestURI())
					w.WriteHeader(http.StatusPermanentRedirect)
					return
				}
				next.ServeHTTP(w, withPath(r, path))
			}),
		},
		{
			Name: "rate-limit-per-window", Place: "throttling", Differs: "requests beyond 40 in 100 ms get 429 with Retry-After: 0",
			Apply: fresh(func() Layer { return limited(40, 100*time.Millisecond) }),
		},
	}
}

// printed writes a JSON value, its lines separated by a line break and the indent.
func printed(value any, line string) string {
	var items []string
	begin, end, inner := "[", "]", line+"    "
	switch value := value.(type) {
	case map[string]any:
		begin, end = "{", "}"
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(value))) {
			items = append(items, printed(key, inner)+" : "+printed(value[key], inner))
		}
	case []any:
		for _, item := range value {
			items = append(items, printed(item, inner))
		}
	case string:
		text, _ := json.Marshal(value) // a string always encodes
		return strings.NewReplacer("-", `\u002d`, "/", `\/`, "é", `\u00e9`).Replace(string(text))
	default:
		text, _ := json.Marshal(value) // it was decoded from JSON
		return string(text)
	}
	return begin + inner + strings.Join(items, ","+inner) + line + end
}

func inPieces(w http.ResponseWriter, r *http.Request, next http.Handler) {
	a := deviate.Capture(next, r)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(a.Body) > 0 {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(a.Body) // into memory
		_ = z.Close()
		a.Body = b.Bytes()
		a.Header.Set("Content-Encoding", "gzip")
		a.Header.Add("Vary", "Accept-Encoding")
	}
	a.Header.Del("Content-Length")
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	for piece := range slices.Chunk(a.Body, max(1, len(a.Body)/4)) {
		if _, err := w.Write(piece); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		pause(r, 5*time.Millisecond)
	}
}

// limited accepts a number of requests in each window of time.
func limited(few int, window time.Duration) Layer {
	var mu sync.Mutex
	var began time.Time
	taken := 0
	take := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(began) >= window {
			began, taken = now, 0
		}
		taken++
		return taken <= few
	}
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !take() {
			busy(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
