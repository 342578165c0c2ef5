package spec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheOracleAgreesWithItsPeers compares the oracle's verdict on each row with those of two other validators: kin-openapi, and
// libopenapi-validator as recorded by make peers.
func TestTheOracleAgreesWithItsPeers(t *testing.T) {
	kin, recorded := newKin(t), readRecord(t)
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
			good := len(row.want) == 0
			valid, judged := recorded.Valid[row.name]
			require.True(t, judged, "%s has no verdict on this row: run make peers", recordPath)
			compareVerdicts(t, "libopenapi-validator", good, valid, row.pb33f)
			compareVerdicts(t, "kin-openapi", good, kin.complaint(row.x) == nil, row.kin)
		})
	}
}

func compareVerdicts(t *testing.T, peer string, oracle, other bool, explanation string) {
	t.Helper()
	agree := oracle == other
	switch {
	case !agree && explanation == "":
		t.Errorf("the oracle says good=%v, %s says %v, and nothing explains it", oracle, peer, other)
	case agree && explanation != "":
		t.Errorf("%s agrees now; take out the explanation %q", peer, explanation)
	}
}

// recordPath is the file with the verdicts of libopenapi-validator. The library takes longer to compile than the whole suite, and
// its verdicts change only with what the record names: peers_test.go, built with the tag peers, records them.
const recordPath = "testdata/libopenapi-validator.json"

// record is what libopenapi-validator says of each row.
type record struct {
	Inputs string          `json:"inputs"` // see inputsOfRecord
	Valid  map[string]bool `json:"valid"`  // by name of the row
}

func readRecord(t *testing.T) record {
	t.Helper()
	text, err := os.ReadFile(recordPath)
	require.NoError(t, err)
	var r record
	require.NoError(t, json.Unmarshal(text, &r))
	require.Equal(t, inputsOfRecord(t), r.Inputs, "the documents, the rows or the versions in go.mod have changed since %s was recorded: run make peers", recordPath)
	require.Len(t, r.Valid, len(rows()))
	return r
}

// inputsOfRecord is a digest of all that the recorded verdicts depend on: the documents, the rows, and the versions of the library and
// of what it validates with.
func inputsOfRecord(t *testing.T) string {
	t.Helper()
	digest := sha256.New()
	modules, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	for line := range strings.Lines(string(modules)) {
		if strings.Contains(line, "github.com/pb33f/") || strings.Contains(line, "github.com/santhosh-tekuri/jsonschema") || strings.Contains(line, "go.yaml.in/yaml/v4") {
			digest.Write([]byte(line))
		}
	}
	for _, side := range Sides() {
		digest.Write(Document(side))
	}
	for _, row := range rows() {
		require.NoError(t, json.NewEncoder(digest).Encode([]any{row.name, row.x}))
	}
	return hex.EncodeToString(digest.Sum(nil))
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

func httpRequest(x Exchange) *http.Request {
	return httptest.NewRequest(x.Method, "http://target.example"+x.Path, http.NoBody)
}

type complaint string

func (c complaint) Error() string { return string(c) }

func (k kin) complaint(x Exchange) error {
	doc := k[x.Side]
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

// TestKinTakesBothDocuments holds the documents to the OpenAPI specification. make peers holds them to libopenapi-validator too.
func TestKinTakesBothDocuments(t *testing.T) {
	for side, document := range newKin(t) {
		assert.NoError(t, document.Validate(context.Background()), side)
	}
}
