// Package contractcheck validates the exchanges of the reference's tests against the OpenAPI documents in spec, with
// kin-openapi. The suite uses the oracle in spec. This validator shares no code with it, so an error in the oracle cannot
// hide one in the reference. It is for tests only.
//
// The status of every response must be declared, and its content type and body must match the declaration, with formats.
// 429 and 5xx are not checked, because the documents do not contain them. The parameters and the body of every accepted
// request (with a response below 400) must match the documents. The server must refuse operations that the documents do
// not contain. Vendor extensions are in the documents and marked as such.
//
// It is not part of the servers: openapi3filter compiles its schemas for each request, which costs a tenth of the
// CPU time of a test run.
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

// documents returns a router for the operations of each half.
var documents = sync.OnceValues(func() (map[spec.Side]routers.Router, error) {
	uuid := openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562)
	openapi3.DefineStringFormatValidator("uuid", uuid)
	all := map[spec.Side]routers.Router{}
	for _, side := range spec.Sides() {
		document, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("loading the document of the %s: %w", side, err)
		}
		document.Servers = nil // the reference has another address
		all[side], err = legacy.NewRouter(document)
		if err != nil {
			return nil, fmt.Errorf("reading the document of the %s: %w", side, err)
		}
	}
	return all, nil
})

// options are the options of all validations.
var options = &openapi3filter.Options{
	IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
	AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // the tests check authentication
}

// Server validates the exchanges of one half. It does not use a network.
type Server struct {
	http.Handler
	T        testing.TB
	Side     spec.Side
	AtRandom bool // accepted requests need not match the document
}

// Exchange serves a request and returns the response. It reports an error to T if the exchange does not match the document.
func (s Server) Exchange(r *http.Request) *httptest.ResponseRecorder {
	s.T.Helper()
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(sent))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := s.judge(r, sent, w); err != nil {
		s.T.Errorf("%s %s with status %d: %v\nrequest: %.500s\nresponse: %.500s", r.Method, r.URL, w.Code, err, sent, w.Body)
	}
	return w
}

// judge returns an error if the exchange does not match the document.
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
		return fmt.Errorf("the response does not match the document: %w", err)
	}
	return nil
}
