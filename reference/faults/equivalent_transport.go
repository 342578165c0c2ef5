package faults

import (
	"bytes"
	"compress/gzip"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// transports differ in how the same answers are sent.
func transports() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "more-headers", Place: "headers", Differs: "answers also have cookie, cache, rate-limit and CORS headers",
			Apply: onEvery(func(r *http.Request, a *deviate.Answer) {
				for name, value := range map[string]string{
					"Set-Cookie": "session=1; Path=/; HttpOnly", "Cache-Control": "no-store", "Etag": `W/"1"`, "Server": "other/1.0",
					"Access-Control-Allow-Origin": "*", "X-Ratelimit-Remaining": "0", "Strict-Transport-Security": "max-age=1",
					"Link": "<" + r.URL.Path + ">; rel=self",
				} {
					a.Header.Set(name, value)
				}
			}),
		},
		{
			Name: "connections-close", Place: "connection", Differs: "the connection is closed after every answer",
			Apply: onEvery(func(_ *http.Request, a *deviate.Answer) { a.Header.Set("Connection", "close") }),
		},
		{
			Name: "gzip", Place: "coding", Differs: "bodies are compressed with gzip if the client accepts it",
			Apply: onEvery(func(r *http.Request, a *deviate.Answer) {
				if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || len(a.Body) == 0 {
					return
				}
				var b bytes.Buffer
				z := gzip.NewWriter(&b)
				_, _ = z.Write(a.Body) // into memory
				_ = z.Close()
				a.Body = b.Bytes()
				a.Header.Set("Content-Encoding", "gzip")
				a.Header.Add("Vary", "Accept-Encoding")
			}),
		},
		{
			Name: "chunked", Place: "transfer", Differs: "bodies are sent in chunks, without Content-Length",
			Apply: inPieces(7, 0),
		},
		{
			Name: "slow-bodies", Place: "transfer", Differs: "bodies are sent in pieces with pauses between them",
			Apply: inPieces(4, 5*time.Millisecond),
		},
		{
			Name: "reads-are-redirected", Place: "redirects", Differs: "GET requests to the control plane are redirected with 308 on the same host",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				path, redirected := strings.CutSuffix(r.URL.Path, "/-")
				if r.Method == http.MethodGet && isPlane(r) && !redirected {
					to := r.URL.EscapedPath() + "/-"
					if r.URL.RawQuery != "" {
						to += "?" + r.URL.RawQuery
					}
					w.Header().Set("Location", to)
					w.WriteHeader(http.StatusPermanentRedirect)
					return
				}
				next.ServeHTTP(w, withPath(r, path))
			}),
		},
	}
}

// inPieces sends bodies in the given number of pieces.
func inPieces(pieces int, gap time.Duration) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := deviate.Capture(next, r)
		maps.Copy(w.Header(), a.Header)
		w.WriteHeader(a.Status)
		size := max(1, len(a.Body)/pieces)
		for body := a.Body; len(body) > 0; {
			n := min(size, len(body))
			if _, err := w.Write(body[:n]); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			body = body[n:]
			pause(r, gap)
		}
	})
}

// waits delay or postpone answers.
func waits() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "added-latency", Differs: "every answer is delayed by 80 to 100 ms",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				pause(r, 80*time.Millisecond+rand.N(20*time.Millisecond))
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "too-many-requests", Place: "throttling", Differs: "every 10th request gets 429 with Retry-After: 0",
			Apply: everyNth(10, func(w http.ResponseWriter) { busy(w, http.StatusTooManyRequests, "0") }),
		},
		{
			Name: "rate-limit-per-window", Place: "throttling", Differs: "requests beyond 40 in 100 ms get 429 with Retry-After: 0",
			Apply: fresh(func() Layer { return limited(40, 100*time.Millisecond) }),
		},
		{
			Name: "too-many-requests-without-a-time", Place: "throttling", Differs: "every 25th request gets 429 without Retry-After",
			Apply: everyNth(25, func(w http.ResponseWriter) { busy(w, http.StatusTooManyRequests, "") }),
		},
		{
			Name: "unavailable-for-a-second", Place: "throttling", Differs: "every 200th request gets 503 with Retry-After: 1",
			Apply: everyNth(200, func(w http.ResponseWriter) { busy(w, http.StatusServiceUnavailable, "1") }),
		},
		{
			Name: "unavailable-until-a-date", Place: "throttling", Differs: "every 200th request gets 503 with a date in Retry-After",
			Apply: everyNth(200, func(w http.ResponseWriter) {
				busy(w, http.StatusServiceUnavailable, time.Now().Add(time.Second).UTC().Format(http.TimeFormat))
			}),
		},
		{
			Name: "slow-builds", Differs: "a revision stays in each status for at least 15 ms",
			Apply: func(o *reference.Options) { o.Pace = 15 * time.Millisecond },
		},
	}
}

func everyNth(n int64, answer func(w http.ResponseWriter)) Layer {
	return fresh(func() Layer {
		var requests atomic.Int64
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if requests.Add(1)%n == 0 {
				answer(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

func busy(w http.ResponseWriter, status int, retryAfter string) {
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	writeJSON(w, status, `{"detail":"Try again later: `+strconv.Itoa(status)+`"}`)
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
			busy(w, http.StatusTooManyRequests, "0")
			return
		}
		next.ServeHTTP(w, r)
	})
}
