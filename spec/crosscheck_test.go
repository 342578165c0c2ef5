package spec

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// judged is one answer, what the oracle must say of it, and why the other judges say otherwise where they do.
type judged struct {
	name string
	x    Exchange
	want []string // "pointer keyword" of each violation; none for a good answer

	// pb33f explains a different verdict of libopenapi-validator's high-level validator, kin one of kin-openapi.
	// Verdicts are compared as good or bad. An explanation where there is no difference is an error too.
	pb33f, kin string
}

// TestTheOracleAgreesWithItsPeers runs each row past three judges.
func TestTheOracleAgreesWithItsPeers(t *testing.T) {
	rows := append(controlPlaneRows(), agentServerRows()...)
	require.GreaterOrEqual(t, len(rows), 60, "the table is too short to show anything")
	peers := newPeers(t)
	names := map[string]bool{}
	for _, row := range rows {
		require.False(t, names[row.name], "two rows are named %q", row.name)
		names[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, v := range shared.JudgeResponse(row.x) {
				got = append(got, v.Pointer+" "+v.Keyword)
				assert.Equal(t, row.x.Status, v.Status)
				assert.NotEmpty(t, v.Operation)
				assert.NotEmpty(t, v.Expected)
				assert.NotEmpty(t, v.Actual)
			}
			assert.Equal(t, row.want, got)
			good := len(row.want) == 0
			compareVerdicts(t, "libopenapi-validator", good, peers.pb33f(row.x), row.pb33f)
			compareVerdicts(t, "kin-openapi", good, peers.kin(row.x), row.kin)
		})
	}
}

func compareVerdicts(t *testing.T, peer string, oracle bool, complaint error, explanation string) {
	t.Helper()
	agree := oracle == (complaint == nil)
	switch {
	case !agree && explanation == "":
		t.Errorf("the oracle says good=%v, %s says %v, and nothing explains it", oracle, peer, complaint)
	case agree && explanation != "":
		t.Errorf("%s agrees now; take out the explanation %q", peer, explanation)
	}
}

type peers struct {
	validators map[Side]validator.Validator
	documents  map[Side]*openapi3.T
}

func newPeers(t *testing.T) *peers {
	t.Helper()
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC4122))
	p := &peers{validators: map[Side]validator.Validator{}, documents: map[Side]*openapi3.T{}}
	for _, side := range Sides() {
		document, err := libopenapi.NewDocument(Document(side))
		require.NoError(t, err)
		v, errs := validator.NewValidator(document, config.WithFormatAssertions(), config.WithoutSecurityValidation())
		require.Empty(t, errs)
		p.validators[side] = v

		doc, err := openapi3.NewLoader().LoadFromData(Document(side))
		require.NoError(t, err)
		doc.Servers = nil
		p.documents[side] = doc
	}
	return p
}

func httpRequest(x Exchange) *http.Request {
	return httptest.NewRequest(x.Method, "http://target.example"+x.Path, http.NoBody)
}

type complaint string

func (c complaint) Error() string { return string(c) }

func (p *peers) pb33f(x Exchange) error {
	response := &http.Response{StatusCode: x.Status, Header: x.Header.Clone(), Body: io.NopCloser(bytes.NewReader(x.Body))}
	ok, errs := p.validators[x.Side].ValidateHttpResponse(httpRequest(x), response)
	if ok {
		return nil
	}
	var all []string
	for _, e := range errs {
		all = append(all, e.Error())
	}
	return complaint(strings.Join(all, "; "))
}

func (p *peers) kin(x Exchange) error {
	doc := p.documents[x.Side]
	op, ok := shared.Find(x.Side, x.Method, x.Path)
	if !ok {
		return complaint("no such operation")
	}
	item := doc.Paths.Value(op.Path)
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: httpRequest(x), Options: options,
			Route: &routers.Route{Spec: doc, Path: op.Path, PathItem: item, Method: x.Method, Operation: item.GetOperation(x.Method)},
		},
		Status: x.Status, Header: x.Header.Clone(), Body: io.NopCloser(bytes.NewReader(x.Body)), Options: options,
	})
	return err
}

// TestBothLibrariesTakeBothDocuments holds the documents to the OpenAPI specification.
func TestBothLibrariesTakeBothDocuments(t *testing.T) {
	peers := newPeers(t)
	for _, side := range Sides() {
		t.Run(string(side), func(t *testing.T) {
			ok, errs := peers.validators[side].ValidateDocument()
			for _, e := range errs {
				t.Log(e.Error())
			}
			assert.True(t, ok)
			assert.NoError(t, peers.documents[side].Validate(context.Background()))
		})
	}
}
