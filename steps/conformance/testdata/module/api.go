// Package api stands for a vendor's server: a control plane as an http.Handler, which deploys agent servers on a separate
// host.
package api

import (
	"fmt"
	"net/http"
	"os"

	"github.com/agentconform/agentconform/interop/independent"
)

// New returns the handler. The variable MISTAKE names a mistake that the handler makes. REQUESTS names a file for the
// requests to both halves.
func New() http.Handler {
	var control http.Handler
	independent.Start(independent.Options{Layer: func(inner http.Handler) http.Handler {
		inner = logged(inner)
		if control == nil { // the control plane is the first
			control = inner
		}
		return inner
	}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch mistake := os.Getenv("MISTAKE"); {
		case mistake == "limit" && r.URL.RawQuery == "limit=0": // is the default limit
			r.URL.RawQuery = ""
		case mistake == "forwarded" && r.Header.Get("X-Forwarded-For") != "": // needs no credentials
			r.Header.Set("X-Api-Key", "key/of/the+owner=")
		case mistake == "hang" && r.Method == http.MethodPatch: // never gets a response
			<-r.Context().Done()
			return
		}
		r.URL.Path = "/shared/box" + r.URL.Path // where that server has its control plane
		control.ServeHTTP(w, r)
	})
}

func logged(inner http.Handler) http.Handler {
	file, err := os.OpenFile(os.Getenv("REQUESTS"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return inner
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(file, r.Method, r.URL.Path)
		inner.ServeHTTP(w, r)
	})
}
