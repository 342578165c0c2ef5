//go:build !race

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

// TestTheOracleAgreesWithItsPeers_Long holds each row to two other judges. The larger of them takes longer to build than
// the suite, and one build, without the race detector, is enough.
func TestTheOracleAgreesWithItsPeers_Long(t *testing.T) {
	peers := newPeers(t)
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
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

// TestBothLibrariesTakeBothDocuments_Long holds the documents to the OpenAPI specification.
func TestBothLibrariesTakeBothDocuments_Long(t *testing.T) {
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
