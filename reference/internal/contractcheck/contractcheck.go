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
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/agentconform/agentconform/spec"
)

// document is what an OpenAPI document says, by "METHOD /path".
type document struct {
	mux    *http.ServeMux
	routes map[string]*routers.Route
}

var documents = sync.OnceValues(func() (map[spec.Side]document, error) {
	uuid := openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562)
	openapi3.DefineStringFormatValidator("uuid", uuid)
	all := map[spec.Side]document{}
	for _, side := range spec.Sides() {
		parsed, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("load the document of the %s: %w", side, err)
		}
		parsed.Servers = nil // the reference chooses its own address
		d := document{http.NewServeMux(), map[string]*routers.Route{}}
		for path, item := range parsed.Paths.Map() {
			for method, operation := range item.Operations() {
				pattern := method + " " + path
				d.mux.Handle(pattern, http.NotFoundHandler())
				d.routes[pattern] = &routers.Route{Spec: parsed, Path: path, PathItem: item, Method: method, Operation: operation}
			}
		}
		all[side] = d
	}
	return all, nil
})

var options = &openapi3filter.Options{
	IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
	AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // who may call is a matter of behaviour
}

type beyondKey struct{}

// Beyond marks requests that the documents do not allow and the reference accepts, with the reason.
func Beyond(ctx context.Context, reason string) context.Context {
	return context.WithValue(ctx, beyondKey{}, reason)
}

// TB is what a Transport needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Transport judges every exchange that passes through it.
type Transport struct {
	T     TB
	Inner http.RoundTripper
	// Side tells which side a path belongs to, and the path as the document has it.
	Side     func(path string) (spec.Side, string)
	AtRandom bool // requests may be accepted whatever the document says of them
	passed   sync.Map
}

// Only is a Side for servers that have one.
func Only(side spec.Side) func(path string) (spec.Side, string) {
	return func(path string) (spec.Side, string) { return side, path }
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
	// Tests repeat the same exchanges thousands of times, with other ids and times.
	exchange := fmt.Sprintf("%s %s %d %v %s %s", r.Method, r.URL, resp.StatusCode, resp.Header, sent, body)
	look := varying.ReplaceAllString(exchange, "<some>")
	if _, passed := t.passed.Load(look); passed {
		return resp, nil
	}
	if err := t.judge(r, sent, resp, body); err != nil {
		t.T.Helper()
		t.T.Errorf("%s %s with status %d: %v\nrequest: %.500s\nanswer: %.500s",
			r.Method, r.URL, resp.StatusCode, err, sent, body)
		return resp, nil
	}
	t.passed.Store(look, true)
	return resp, nil
}

var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|` +
	`20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9](:[0-5][0-9]){2}(\.[0-9]+)?Z`)

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
	_, pattern := all[side].mux.Handler(judged)
	route := all[side].routes[pattern]
	accepted := resp.StatusCode < http.StatusBadRequest
	switch {
	case route == nil && !accepted:
		return nil
	case route == nil:
		return errors.New("the request is accepted, but the document does not declare the operation")
	}
	input := &openapi3filter.RequestValidationInput{
		Request: judged, PathParams: parameters(route.Path, path), Route: route, Options: options,
	}
	if accepted && !t.AtRandom {
		beyond, _ := r.Context().Value(beyondKey{}).(string)
		switch err := openapi3filter.ValidateRequest(context.Background(), input); {
		case err != nil && beyond == "":
			return fmt.Errorf("the request is accepted, but does not match the document: %w", err)
		case err == nil && beyond != "":
			return fmt.Errorf("the request matches the document: take out the reason %q", beyond)
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

// parameters are the values of a path.
func parameters(template, path string) map[string]string {
	values, parts := map[string]string{}, strings.Split(path, "/")
	for i, name := range strings.Split(template, "/") {
		if strings.HasPrefix(name, "{") && i < len(parts) {
			values[strings.Trim(name, "{}")] = parts[i]
		}
	}
	return values
}

// CloseIdleConnections closes those of the inner transport: http.Client looks for this method.
func (t *Transport) CloseIdleConnections() {
	if inner, ok := t.Inner.(interface{ CloseIdleConnections() }); ok {
		inner.CloseIdleConnections()
	}
}
