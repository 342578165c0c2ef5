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
	"errors"
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

// Transport judges every exchange that passes through it.
type Transport struct {
	T     testing.TB
	Inner http.RoundTripper
	// Side tells which side a path belongs to, and the path as the document has it.
	Side     func(path string) (spec.Side, string)
	AtRandom bool // requests may be accepted whatever the document says of them
}

// Within judges what passes to a server of one side, without a network.
func Within(t testing.TB, side spec.Side, server http.Handler) *Transport {
	return &Transport{T: t, Inner: inProcess{server}, Side: func(path string) (spec.Side, string) { return side, path }}
}

type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	p.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// RoundTrip implements http.RoundTripper. The whole answer is read before it returns.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := t.Inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err := t.judge(r, sent, resp, body); err != nil {
		t.T.Helper()
		t.T.Errorf("%s %s with status %d: %v\nrequest: %.500s\nanswer: %.500s",
			r.Method, r.URL, resp.StatusCode, err, sent, body)
	}
	return resp, nil
}

func (t *Transport) judge(r *http.Request, sent []byte, resp *http.Response, body []byte) error {
	if status := resp.StatusCode; status == http.StatusTooManyRequests || status >= 500 || r.Method == http.MethodHead {
		return nil
	}
	all, err := documents()
	if err != nil {
		return err
	}
	side, path := t.Side(r.URL.Path)
	judged := &http.Request{
		Method: r.Method, URL: &url.URL{Path: path, RawQuery: r.URL.RawQuery}, Header: r.Header.Clone(),
		Body: io.NopCloser(bytes.NewReader(sent)),
	}
	route, parameters, err := all[side].FindRoute(judged)
	accepted := resp.StatusCode < http.StatusBadRequest
	switch {
	case err != nil && !accepted:
		return nil
	case err != nil:
		return fmt.Errorf("the request is accepted, but the document does not declare the operation: %w", err)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: judged, PathParams: parameters, Route: route, Options: options,
	}
	if accepted && !t.AtRandom {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("the request is accepted, but does not match the document: %w", err)
		}
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: resp.StatusCode, Header: resp.Header,
		Body: io.NopCloser(bytes.NewReader(body)), Options: options,
	})
	if err != nil {
		return fmt.Errorf("the answer does not match the document: %w", err)
	}
	return nil
}
