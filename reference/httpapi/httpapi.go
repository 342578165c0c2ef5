// Package httpapi contains what the control plane and the agent server have in common (interface, section 7). [Routes]
// dispatches requests and writes responses, which are always JSON. [Form] reads requests and collects their problems. A
// [Refusal] is an error with a status and a detail.
//
// Start reading with [Routes.Handler].
package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Refusal is an error that becomes the response: {"detail": ...} with a status.
type Refusal struct {
	Status int
	Detail any // a text, or the problems of a 422
}

// Error returns the status and the detail.
func (r *Refusal) Error() string { return fmt.Sprintf("%d: %v", r.Status, r.Detail) }

// Refuse returns a refusal with a text.
func Refuse(status int, format string, args ...any) error {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Endpoint serves one operation. If body is nil, the response has no body.
type Endpoint func(r *http.Request) (status int, body any, err error)

// Routes contains endpoints by path, in the syntax of http.ServeMux, and method.
type Routes map[string]map[string]Endpoint

// Handler returns a handler of the routes. Errors that are not refusals return 500 and are passed to failed.
func (routes Routes) Handler(failed func(*http.Request, error)) http.Handler {
	mux := http.NewServeMux()
	for path, endpoints := range routes {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			method := r.Method
			if method == http.MethodHead {
				method = http.MethodGet
			}
			endpoint := endpoints[method]
			if endpoint == nil {
				w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(endpoints)), ", "))
				WriteDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
				return
			}
			status, body, err := endpoint(r)
			var refusal *Refusal
			switch {
			case errors.As(err, &refusal):
				writeRefusal(w, refusal)
			case err != nil && r.Context().Err() != nil: // the client closed the connection, or the server is stopping
				WriteDetail(w, http.StatusServiceUnavailable, "Try again.")
			case err != nil:
				failed(r, err)
				WriteDetail(w, http.StatusInternalServerError, "Internal Server Error")
			case body == nil:
				w.WriteHeader(status)
			default:
				write(w, status, body)
			}
		})
	}
	// http.ServeMux returns plain text for some paths and redirects others. These paths do not exist here.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" || path.Clean(r.URL.Path) != r.URL.Path {
			WriteDetail(w, http.StatusNotFound, "Not Found")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// writeRefusal writes a refusal with the headers of its status.
func writeRefusal(w http.ResponseWriter, r *Refusal) {
	switch r.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	write(w, r.Status, map[string]any{"detail": r.Detail})
}

// WriteDetail writes the response {"detail": ...}.
func WriteDetail(w http.ResponseWriter, status int, detail string) {
	write(w, status, map[string]string{"detail": detail})
}

func write(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"detail":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have closed the connection
}
