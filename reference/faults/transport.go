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

	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// transports differ in how the same answers are written and sent.
func transports() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "pretty-printed", Place: "JSON",
			Apply:   around(prettyPrinted),
			Differs: "JSON is indented, with sorted members and unnecessary escapes, as Application/JSON; Charset=UTF-8",
		},
		{
			Name: "gzip", Place: "coding", Apply: around(inPieces),
			Differs: "bodies are compressed with gzip if the client accepts it, and sent in pieces with pauses, without Content-Length",
		},
		{
			Name: "idle-connections-are-closed", Apply: closingIdle,
			Differs: "a connection that was idle for 50 ms is closed when the next request arrives, and the request is not served",
		},
		{
			Name: "rate-limit", Place: "throttling", Differs: "requests beyond 40 in 100 ms get 429 with Retry-After: 0",
			Apply: func(o *reference.Options) {
				limit := rate.NewLimiter(rate.Every(100*time.Millisecond/40), 40)
				around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if !limit.Allow() {
						busy(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})(o)
			},
		},
	}
}

// closingIdle closes a connection that was idle for 50 ms when the next request arrives.
func closingIdle(o *reference.Options) {
	const longest = 50 * time.Millisecond
	var answered sync.Map // when the last request was answered, by the address of the client
	around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if last, known := answered.Load(r.RemoteAddr); known && time.Since(last.(time.Time)) >= longest {
			answered.Delete(r.RemoteAddr)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
		answered.Store(r.RemoteAddr, time.Now())
	})(o)
}

func prettyPrinted(w http.ResponseWriter, r *http.Request, next http.Handler) {
	a := deviate.Capture(next, r)
	var value any
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	if a.Header.Get("Content-Type") == "application/json" && d.Decode(&value) == nil {
		text, _ := json.MarshalIndent(value, "", "    ") // it was decoded from JSON
		// All but \n are in texts only.
		escaped := strings.NewReplacer("\n", "\r\n", "-", `\u002d`, "/", `\/`, "é", `\u00e9`)
		a.Body = []byte(escaped.Replace(string(text)))
		a.Header.Set("Content-Type", "Application/JSON; Charset=UTF-8")
	}
	a.Send(w)
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
		time.Sleep(5 * time.Millisecond) // the pause is the difference
	}
}
