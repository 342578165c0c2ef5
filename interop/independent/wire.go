package independent

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object that is written with sorted keys: their order has no meaning.
type object = map[string]any

// maxBody bounds what a client may send.
const maxBody = 1 << 20

// zones are deliberately unusual: date-times compare by instant, never by their text.
var zones = []*time.Location{
	time.FixedZone("", 5*3600+45*60), time.FixedZone("", -(9*3600 + 30*60)), time.UTC, time.FixedZone("", 13*3600),
}

// createdAt renders an instant that was cut to 100 µs without loss, in a zone and with a precision that vary by n.
func createdAt(t time.Time, n int) string {
	layouts := []string{"2006-01-02T15:04:05.0000Z07:00", "2006-01-02T15:04:05.000000000Z07:00", "2006-01-02T15:04:05.00000Z07:00"}
	return t.In(zones[n%len(zones)]).Format(layouts[n%len(layouts)])
}

// updatedAt renders an instant in another zone than createdAt does for the same n.
func updatedAt(t time.Time, n int) string {
	return t.In(zones[(n+1)%len(zones)]).Format(time.RFC3339Nano)
}

// response is what a request is answered with. Handlers return it and do not write it themselves, so that a client that reads
// slowly holds no lock.
type response struct {
	status int // 0: nothing is answered, the client has gone
	body   any // nil: none
}

func (a response) write(w http.ResponseWriter, r *http.Request) {
	switch {
	case a.body != nil:
		reply(w, r, a.status, a.body)
	case a.status != 0:
		w.WriteHeader(a.status)
	}
}

// route is one method of a path.
type route struct {
	method string
	serve  func() response
}

func dispatch(w http.ResponseWriter, r *http.Request, routes []route, separator string) {
	var allowed []string
	for _, known := range routes {
		if known.method == r.Method {
			known.serve().write(w, r)
			return
		}
		allowed = append(allowed, known.method)
	}
	notAllowed(w, r, strings.Join(allowed, separator))
}

// reply sends v as indented JSON, with every slash escaped, which JSON permits (RFC 8259, section 7).
func reply(w http.ResponseWriter, r *http.Request, status int, v any) {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil { // only a fault of this package can get here
		http.Error(w, fmt.Sprintf("encoding the answer: %v", err), http.StatusInternalServerError)
		return
	}
	b = append(bytes.ReplaceAll(b, []byte("/"), []byte(`\/`)), '\n')
	send(w, r, status, "Application/JSON; Charset=UTF-8", b)
}

// send writes the body compressed when the client takes that, else in two chunks.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Vary", "Accept-Encoding")
	if takesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = z.Write(body) // a client that has gone is none of our concern
		_ = z.Close()
		return
	}
	w.WriteHeader(status)
	half := len(body) / 2
	_, _ = w.Write(body[:half])
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(body[half:])
}

// takesGzip knows that a weight of 0 is a refusal (RFC 9110, section 12.4.2).
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(coding, "gzip") {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// segments splits the path before unescaping, so that an id with an escaped slash stays one segment.
func segments(u *url.URL) []string {
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			parts[i] = plain
		}
	}
	return parts
}

// notAllowed answers a method that the path does not know.
func notAllowed(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	send(w, r, http.StatusMethodNotAllowed, "text/plain", []byte("only "+allow+" here\n"))
}

// weather makes answers late, and some requests futile, as Options ask.
func (s *Server) weather(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.served.Add(1)
		if s.opts.Jitter > 0 && !pause(r.Context(), rand.N(s.opts.Jitter)) {
			return
		}
		every := int64(s.opts.BusyEvery)
		if every == 0 || n%every != 0 {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			h.ServeHTTP(w, r)
			return
		}
		// Both forms of Retry-After that HTTP knows (RFC 9110, section 10.2.3), and both mean: at once.
		status, after := http.StatusTooManyRequests, strconv.Itoa(0)
		if n/every%2 == 0 {
			status, after = http.StatusServiceUnavailable, time.Now().UTC().Format(http.TimeFormat)
		}
		w.Header().Set("Retry-After", after)
		send(w, r, status, "text/plain", []byte("busy, come back\n"))
	})
}
