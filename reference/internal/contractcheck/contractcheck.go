// Package contractcheck validates what the reference's tests send and receive against the OpenAPI documents in
// spec, with kin-openapi. The suite judges with the oracle in spec; this is a second validator that shares no code
// with it, so an error in the oracle cannot hide one in the reference. It is for tests only.
//
// Every answer is checked: its status must be declared, and content type and body must match what is declared for
// the status, formats included. Not checked are 429 and 5xx, which the documents leave out. Every request that is
// accepted, which is one with an answer below 400, is checked as well: parameters and body must match the
// documents. Operations that the documents do not declare must be refused. Vendor extensions are declared, and
// marked as such.
package contractcheck

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/agentconform/agentconform/spec"
)

// documents find the operations of both.
var documents = sync.OnceValues(func() (map[spec.Side]routers.Router, error) {
	uuid := openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562)
	openapi3.DefineStringFormatValidator("uuid", uuid)
	all := map[spec.Side]routers.Router{}
	for _, side := range spec.Sides() {
		document, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("load the document of the %s: %w", side, err)
		}
		document.Servers = nil // the reference chooses its own address
		if all[side], err = legacy.NewRouter(document); err != nil {
			return nil, fmt.Errorf("read the document of the %s: %w", side, err)
		}
	}
	return all, nil
})

var options = &openapi3filter.Options{
	IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
	AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // who may call is a matter of behaviour
}

// Server judges what a server of one side receives and answers, without a network.
type Server struct {
	http.Handler
	T        testing.TB
	Side     spec.Side
	AtRandom bool // requests may be accepted whatever the document says of them
}

// Answer is the answer to a request.
func (s Server) Answer(r *http.Request) *httptest.ResponseRecorder {
	s.T.Helper()
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(sent))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := s.judge(r, sent, w); err != nil {
		s.T.Errorf("%s %s with status %d: %v\nrequest: %.500s\nanswer: %.500s", r.Method, r.URL, w.Code, err, sent, w.Body)
	}
	return w
}

func (s Server) judge(r *http.Request, sent []byte, w *httptest.ResponseRecorder) error {
	if w.Code == http.StatusTooManyRequests || w.Code >= 500 || r.Method == http.MethodHead {
		return nil
	}
	all, err := documents()
	if err != nil {
		return err
	}
	judged := &http.Request{
		Method: r.Method, URL: &url.URL{Path: r.URL.Path, RawQuery: r.URL.RawQuery}, Header: r.Header.Clone(),
		Body: io.NopCloser(bytes.NewReader(sent)),
	}
	route, parameters, err := all[s.Side].FindRoute(judged)
	accepted := w.Code < http.StatusBadRequest
	switch {
	case err != nil && !accepted:
		return nil
	case err != nil:
		return fmt.Errorf("the request is accepted, but the document does not declare the operation: %w", err)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: judged, PathParams: parameters, Route: route, Options: options,
	}
	if accepted && !s.AtRandom {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("the request is accepted, but does not match the document: %w", err)
		}
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: w.Code, Header: w.Header(),
		Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())), Options: options,
	})
	if err != nil {
		return fmt.Errorf("the answer does not match the document: %w", err)
	}
	return nil
}
