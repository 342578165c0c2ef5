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
	"regexp"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/agentconform/agentconform/spec"
)

// validator validates exchanges of one side against its document.
type validator struct {
	operations *http.ServeMux // of the document; answers through a found
	options    *openapi3filter.Options
	passed     sync.Map // by what an exchange looks like; see seen
}

var validators = sync.OnceValues(func() (map[spec.Side]*validator, error) {
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC4122))
	openapi3.DefineStringFormatValidator("email", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForEmail))
	all := map[spec.Side]*validator{}
	for _, side := range spec.Sides() {
		document, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("loading the document of the %s: %w", side, err)
		}
		document.Servers = nil // the reference chooses its own address
		all[side] = &validator{operations: operations(document), options: &openapi3filter.Options{
			IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // who may call is a matter of behaviour
		}}
	}
	return all, nil
})

// found is a http.ResponseWriter by which the handler of an operation tells what it is.
type found struct {
	http.ResponseWriter
	route   *routers.Route
	request *http.Request // with the values of the path
}

// operations routes requests to what the document says of them.
func operations(document *openapi3.T) *http.ServeMux {
	mux := http.NewServeMux()
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			route := &routers.Route{Spec: document, Path: path, PathItem: item, Method: method, Operation: operation}
			mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) {
				if f, ok := w.(*found); ok {
					f.route, f.request = route, r
				}
			})
		}
	}
	return mux
}

func (v *validator) find(request *http.Request) *found {
	f := &found{ResponseWriter: httptest.NewRecorder()}
	v.operations.ServeHTTP(f, request)
	return f
}

// parameters are the values of the path.
func (f *found) parameters() map[string]string {
	values := map[string]string{}
	for _, name := range placeholder.FindAllStringSubmatch(f.route.Path, -1) {
		values[name[1]] = f.request.PathValue(name[1])
	}
	return values
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// Sent holds what is known of a request besides its bytes. The zero value: it is meant to match the document.
type Sent struct {
	// Beyond is the reason why the reference accepts a request that the document does not allow.
	Beyond string
	// AtRandom requests may be accepted whatever the document says of them.
	AtRandom bool
}

// Judge tells what is wrong with an exchange. A reason in Sent.Beyond that is not needed is an error too.
func Judge(x spec.Exchange, sent Sent) error {
	all, err := validators()
	if err != nil {
		return err
	}
	v := all[x.Side]
	if v == nil {
		return fmt.Errorf("there is no side %q", x.Side)
	}
	look := ""
	if len(x.RequestBody)+len(x.Body) <= largestSeen {
		look = seen(x, sent)
		if _, ok := v.passed.Load(look); ok {
			return nil
		}
	}
	if err := v.judge(x, sent); err != nil {
		return fmt.Errorf("%s %s %s with status %d: %w\nrequest: %.500s\nanswer: %.500s", x.Side, x.Method, x.Path, x.Status, err, x.RequestBody, x.Body)
	}
	if look != "" {
		v.passed.Store(look, true)
	}
	return nil
}

func (v *validator) judge(x spec.Exchange, sent Sent) error {
	if x.Status == http.StatusTooManyRequests || x.Status >= http.StatusInternalServerError {
		return nil
	}
	path, err := url.PathUnescape(x.Path)
	if err != nil {
		return fmt.Errorf("reading the path: %w", err)
	}
	request := &http.Request{
		Method: x.Method, URL: &url.URL{Path: path, RawPath: x.Path, RawQuery: x.Query}, Header: x.RequestHeader.Clone(),
		Body: io.NopCloser(bytes.NewReader(x.RequestBody)),
	}
	accepted := x.Status < http.StatusBadRequest
	f := v.find(request)
	switch {
	case f.route == nil && !accepted:
		return nil
	case f.route == nil:
		return errors.New("the request is accepted, but the document does not declare the operation")
	}
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: f.parameters(), Route: f.route, Options: v.options}
	if err := judgeRequest(input, accepted, sent); err != nil {
		return err
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: x.Status, Header: x.Header,
		Body: io.NopCloser(bytes.NewReader(x.Body)), Options: v.options,
	})
	if err != nil {
		return fmt.Errorf("the answer does not match the document: %w", err)
	}
	return nil
}

func judgeRequest(input *openapi3filter.RequestValidationInput, accepted bool, sent Sent) error {
	switch {
	case sent.AtRandom:
		return nil
	case !accepted && sent.Beyond != "":
		return fmt.Errorf("the request is refused: take out the reason %q", sent.Beyond)
	case !accepted:
		return nil
	}
	err := openapi3filter.ValidateRequest(context.Background(), input)
	switch {
	case err != nil && sent.Beyond == "":
		return fmt.Errorf("the request is accepted, but does not match the document: %w", err)
	case err == nil && sent.Beyond != "":
		return fmt.Errorf("the request matches the document: take out the reason %q", sent.Beyond)
	}
	return nil
}

// Values of which only the format matters to the documents.
var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]+)?Z`)
)

// largestSeen is how large exchanges are that are remembered; larger ones are rare.
const largestSeen = 16 << 10

// seen is what an exchange looks like to a validator: ids and times are alike. Exchanges that look like one that passed are
// not validated again, since tests repeat the same few thousands of times.
func seen(x spec.Exchange, sent Sent) string {
	text := fmt.Sprintf("%s %s?%s %q %d %q %v\n%s\n%s", x.Method, x.Path, x.Query, x.RequestHeader["Content-Type"],
		x.Status, x.Header["Content-Type"], sent, x.RequestBody, x.Body)
	return times.ReplaceAllLiteralString(uuids.ReplaceAllLiteralString(text, "<uuid>"), "<time>")
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
	// Side tells which side a path belongs to, and the path as the document has it; an empty side is not judged.
	Side     func(path string) (spec.Side, string)
	AtRandom bool // see Sent
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
			return nil, fmt.Errorf("reading the request: %w", err)
		}
		if err := r.Body.Close(); err != nil {
			return nil, fmt.Errorf("closing the request: %w", err)
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
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if side, path := t.Side(r.URL.EscapedPath()); side != "" {
		beyond, _ := r.Context().Value(beyondKey{}).(string)
		if err := Judge(spec.Exchange{
			Side: side, Method: r.Method, Path: path, Query: r.URL.RawQuery, RequestHeader: r.Header, RequestBody: sent,
			Status: resp.StatusCode, Header: resp.Header, Body: body,
		}, Sent{Beyond: beyond, AtRandom: t.AtRandom}); err != nil {
			t.T.Helper()
			t.T.Errorf("%s", err)
		}
	}
	return resp, nil
}

// CloseIdleConnections closes those of the inner transport: http.Client looks for this method.
func (t *Transport) CloseIdleConnections() {
	if inner, ok := t.Inner.(interface{ CloseIdleConnections() }); ok {
		inner.CloseIdleConnections()
	}
}
