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

// transports returns the equivalent mutants that encode or send the same responses differently.
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
	var answered sync.Map // the time of the last response, by the address of the client
	around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if last, known := answered.Load(r.RemoteAddr); known && time.Since(last.(time.Time)) >= longest {
			answered.Delete(r.RemoteAddr)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
		answered.Store(r.RemoteAddr, time.Now())
	})(o)
}

// prettyPrinted indents JSON and escapes characters that need no escape.
func prettyPrinted(w http.ResponseWriter, r *http.Request, next http.Handler) {
	response := deviate.Capture(next, r)
	var value any
	d := json.NewDecoder(bytes.NewReader(response.Body))
	d.UseNumber()
	if response.Header.Get("Content-Type") == "application/json" && d.Decode(&value) == nil {
		text, _ := json.MarshalIndent(value, "", "    ") // cannot fail: the value was decoded from JSON
		// Except for \n, these characters occur only inside of JSON strings.
		escaped := strings.NewReplacer("\n", "\r\n", "-", `\u002d`, "/", `\/`, "é", `\u00e9`)
		response.Body = []byte(escaped.Replace(string(text)))
		response.Header.Set("Content-Type", "Application/JSON; Charset=UTF-8")
	}
	response.Send(w)
}

// inPieces compresses the body if the client accepts it, and sends it in four pieces with pauses.
func inPieces(w http.ResponseWriter, r *http.Request, next http.Handler) {
	response := deviate.Capture(next, r)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(response.Body) > 0 {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(response.Body) // cannot fail in memory
		_ = z.Close()
		response.Body = b.Bytes()
		response.Header.Set("Content-Encoding", "gzip")
		response.Header.Add("Vary", "Accept-Encoding")
	}
	response.Header.Del("Content-Length")
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.Status)
	flush := http.NewResponseController(w).Flush
	for piece := range slices.Chunk(response.Body, max(1, len(response.Body)/4)) {
		_, err := w.Write(piece)
		if err != nil || flush() != nil {
			return
		}
		time.Sleep(5 * time.Millisecond) // the pause is the purpose of this mutant
	}
}
