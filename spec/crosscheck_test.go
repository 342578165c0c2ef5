package spec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheOracleAgreesWithKin compares the oracle's verdict on each row with that of another validator.
func TestTheOracleAgreesWithKin(t *testing.T) {
	kin := newKin(t)
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
			good, other := len(row.want) == 0, kin.complaint(row.x) == nil
			switch agree := good == other; {
			case !agree && row.kin == "":
				t.Errorf("the oracle reports valid=%v and kin-openapi %v, without an explanation", good, other)
			case agree && row.kin != "":
				t.Errorf("kin-openapi agrees now; remove the explanation %q", row.kin)
			}
		})
	}
}

// kin judges with kin-openapi.
type kin map[Side]*openapi3.T

func newKin(t *testing.T) kin {
	t.Helper()
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC4122))
	k := kin{}
	for _, side := range Sides() {
		doc, err := openapi3.NewLoader().LoadFromData(Document(side))
		require.NoError(t, err)
		doc.Servers = nil
		k[side] = doc
	}
	return k
}

func (k kin) complaint(x Exchange) error {
	doc := k[x.Side]
	op, ok := shared.Find(x.Side, x.Method, x.Path)
	if !ok {
		return errors.New("no such operation")
	}
	item := doc.Paths.Value(op.Path)
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: httptest.NewRequest(x.Method, "http://target.example"+x.Path, http.NoBody), Options: options,
			Route: &routers.Route{Spec: doc, Path: op.Path, PathItem: item, Method: x.Method, Operation: item.GetOperation(x.Method)},
		},
		Status: x.Status, Header: x.Header.Clone(), Body: io.NopCloser(bytes.NewReader(x.Body)), Options: options,
	})
}

// TestKinTakesBothDocuments checks the documents against the OpenAPI specification.
func TestKinTakesBothDocuments(t *testing.T) {
	for side, document := range newKin(t) {
		assert.NoError(t, document.Validate(context.Background()), side)
	}
}
