//go:build peers

package spec

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/stretchr/testify/require"
)

// TestRecordVerdictsOfLibopenapi has libopenapi-validator judge each row and writes its verdicts (make peers), with which
// TestTheOracleAgreesWithItsPeers compares the oracle. Nothing is written unless it takes both documents as valid.
func TestRecordVerdictsOfLibopenapi(t *testing.T) {
	validators := map[Side]validator.Validator{}
	for _, side := range Sides() {
		document, err := libopenapi.NewDocument(Document(side))
		require.NoError(t, err)
		v, errs := validator.NewValidator(document, config.WithFormatAssertions(), config.WithoutSecurityValidation())
		require.Empty(t, errs)
		valid, problems := v.ValidateDocument()
		for _, p := range problems {
			t.Log(p.Error())
		}
		require.True(t, valid, "the document of the %s is not valid", side)
		validators[side] = v
	}
	r := record{Inputs: inputsOfRecord(t), Valid: map[string]bool{}}
	for _, row := range rows() {
		response := &http.Response{StatusCode: row.x.Status, Header: row.x.Header.Clone(), Body: io.NopCloser(bytes.NewReader(row.x.Body))}
		r.Valid[row.name], _ = validators[row.x.Side].ValidateHttpResponse(httpRequest(row.x), response)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(recordPath, append(text, '\n'), 0o600))
}
