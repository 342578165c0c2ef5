package reports_test

import (
	"bytes"
	_ "embed" // the schema
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/safe"
)

// strictSchema is the schema of the result file with every object closed that names its properties. The published schema is open,
// so that readers take files of later versions; what this version writes is held to the strict one.
var strictSchema = bytes.ReplaceAll(schema, []byte(`"properties": {`), []byte(`"additionalProperties": false, "properties": {`))

//go:embed result.schema.json
var schema []byte

func TestResultFileKeepsItsSchema(t *testing.T) {
	for name, r := range reporttest.Results() {
		t.Run(name, func(t *testing.T) {
			reporttest.Schema(t, schema, written(t, r))
			reporttest.Schema(t, strictSchema, written(t, r))
		})
	}
	for name, text := range reporttest.HostileTexts() {
		text := text[:min(len(text), 64<<10)] // the schema is slow to judge long texts, and does not bound them
		t.Run("hostile "+name, func(t *testing.T) {
			doc := written(t, reporttest.Hostile(text))
			reporttest.Schema(t, strictSchema, doc)
			assert.Equal(t, safe.Visible(string(doc)), string(doc), "nothing in the file can harm a terminal")
		})
	}
}

// TestResultFilesOfLaterVersionsAreRead adds an unknown field to every object of a file.
func TestResultFilesOfLaterVersionsAreRead(t *testing.T) {
	now := written(t, reporttest.Faulty())
	later := regexp.MustCompile(`\{("id"|\s+"(id|schema|name|kind|operation)")`).ReplaceAll(now, []byte(`{"a_later_field":["x"],$1`))
	reporttest.Schema(t, schema, later)
	back, err := read(t, later)
	require.NoError(t, err)
	assert.Equal(t, string(now), string(written(t, back)))
}

func TestReadFileGivesBackWhatWasWritten(t *testing.T) {
	assert.Equal(t, reporttest.JSON, string(written(t, reporttest.Faulty())), "a run is written as it was read")
	results := reporttest.Results()
	results["sample"] = reporttest.Sample()
	for name, r := range results {
		t.Run(name, func(t *testing.T) {
			back, err := read(t, written(t, r))
			require.NoError(t, err)
			assert.Equal(t, string(written(t, r)), string(written(t, back)))
			_, err = back.Exchange(len(back.Exchanges) + 1)
			assert.ErrorContains(t, err, "no exchange")
		})
	}
}

func TestReadFileExplainsABadFile(t *testing.T) {
	good := string(written(t, reporttest.Faulty()))
	replace := func(old, new string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, new, 1)
	}
	tests := []struct{ name, content, want string }{
		{"cut off", good[:len(good)/2], "unexpected end of JSON input"},
		{"a list", "[]", "cannot unmarshal array"},
		{"other schema", replace(reports.Schema, "agentconform.result/v9"), `its schema is "agentconform.result/v9"`},
		{"unknown verdict", replace(`"verdict": "non-conformant"`, `"verdict": "great"`), `verdict "great" is unknown`},
		{"unknown verdict of a requirement", replace(`"verdict": "skipped"`, `"verdict": "fine"`), "unknown verdict"},
		{"requirement twice", replace(`"id": "CP-LIST-6"`, `"id": "CP-LIST-3"`), "occurs twice"},
		{"exchange ids", replace(`{"id":2,`, `{"id":7,`), "exchanges[1]: its id is 7"},
		{"exchanges no list", `{"exchanges":{}}`, "exchanges of type []reports.Exchange"},
		{"finding without exchange", replace(fmt.Sprintf(`"exchange": %d`, reporttest.Finding(reporttest.Faulty(), "CP-LIST-3").Exchange), `"exchange": 9999`), "no exchange 9999"},
		{"trailing", good + "{}", "after top-level value"},
		{"too many values", `{"requirements":[` + strings.Repeat("{},", 1_500_000), "more than 1500000 values, which no result has"},
		{"too deep", `{"requirements":` + strings.Repeat("[", 20000), "exceeded max depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t, []byte(tt.content))
			require.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, "result.json: ")
		})
	}
	_, err := reports.ReadFile(t.TempDir())
	assert.ErrorContains(t, err, "not a regular file")
	_, err = reports.ReadFile("there/is/none")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func written(t testing.TB, r *reports.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b), "what can be read can be written")
	return b.Bytes()
}

// read reads a file with this content.
func read(t *testing.T, doc []byte) (*reports.Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	require.NoError(t, os.WriteFile(path, doc, 0o600))
	return reports.ReadFile(path)
}

func FuzzReadFile(f *testing.F) {
	f.Add(written(f, reporttest.Faulty()))
	f.Add([]byte(`{"schema":"agentconform.result/v1","verdict":"incomplete","exchanges":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if r, err := read(t, doc); err == nil {
			require.True(t, json.Valid(written(t, r)))
		}
	})
}
