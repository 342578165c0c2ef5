// Package httpapi is what the control plane and the agent server have in common: routes, how a request is read and
// what is wrong with it, refusals and answers. All answers are JSON.
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

// Refusal is an error that is answered as it is: {"detail": ...} with a status.
type Refusal struct {
	Status int
	Detail any // a text, or the problems of a 422
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d: %v", r.Status, r.Detail) }

// Refuse makes a refusal with a text.
func Refuse(status int, format string, args ...any) error {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Endpoint answers one operation. A nil body is no body.
type Endpoint func(r *http.Request) (status int, body any, err error)

// Routes are endpoints by path, as http.ServeMux writes paths, and method.
type Routes map[string]map[string]Endpoint

// Handler serves routes. An error that is no refusal is a 500, and failed gets it.
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
			case err != nil && r.Context().Err() != nil: // the client has gone, or the server stops
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
	// The multiplexer answers some paths in plain text, and redirects others: such paths name nothing here.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" || path.Clean(r.URL.Path) != r.URL.Path {
			WriteDetail(w, http.StatusNotFound, "Not Found")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func writeRefusal(w http.ResponseWriter, r *Refusal) {
	switch r.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	write(w, r.Status, map[string]any{"detail": r.Detail})
}

// WriteDetail answers {"detail": ...}.
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
