package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/safe"
)

// strictSchema is the schema of the result file without additional properties. The published schema allows them, so that
// readers accept files of later versions. Files of this version must match the strict schema.
var strictSchema = []byte(strings.ReplaceAll(reports.ResultSchema, `"properties": {`, `"additionalProperties": false, "properties": {`))

var schema = []byte(reports.ResultSchema)

func TestResultFileMatchesItsSchema(t *testing.T) {
	for name, r := range reporttest.Results() {
		t.Run(name, func(t *testing.T) {
			reporttest.Schema(t, schema, written(t, r))
			reporttest.Schema(t, strictSchema, written(t, r))
		})
	}
	for name, text := range reporttest.HostileTexts() {
		text := text[:min(len(text), 64<<10)] // validating long texts is slow, and the schema does not limit their length
		t.Run("hostile "+name, func(t *testing.T) {
			doc := written(t, reporttest.Hostile(text))
			reporttest.Schema(t, strictSchema, doc)
			assert.Equal(t, safe.Visible(string(doc)), string(doc), "the file is harmless on a terminal")
		})
	}
}

// TestResultFilesOfLaterVersionsAreRead adds an unknown field to each object of a file.
func TestResultFilesOfLaterVersionsAreRead(t *testing.T) {
	now := written(t, reporttest.Faulty())
	later := regexp.MustCompile(`\{("id"|\s+"(id|schema|name|kind|operation)")`).ReplaceAll(now, []byte(`{"a_later_field":["x"],$1`))
	reporttest.Schema(t, schema, later)
	back, err := read(t, later)
	require.NoError(t, err)
	assert.Equal(t, string(now), string(written(t, back)))
}

func TestReadFileReturnsTheWrittenResult(t *testing.T) {
	results := reporttest.Results()
	results["sample"] = reporttest.Sample()
	for name, r := range results {
		t.Run(name, func(t *testing.T) {
			back, err := read(t, written(t, r))
			require.NoError(t, err)
			assert.Equal(t, string(written(t, r)), string(written(t, back)))
			_, err = back.Exchange(len(r.Exchanges) + 1)
			assert.ErrorContains(t, err, "no exchange")
		})
	}
}

// TestExchangesFile reads a result with a file of exchanges in the same folder. If the file belongs to another test run, or is
// missing, the result has only the exchanges of result.json.
func TestExchangesFile(t *testing.T) {
	r := reporttest.Faulty()
	r.ExchangesFile = reports.ExchangesFile
	other := *r
	other.Run.ID = "other"
	huge := *r
	huge.Exchanges = reports.Record(nil, slices.Repeat([]reports.Exchange{{Curl: strings.Repeat("c", 64<<10)}}, 1025)...)
	reordered := *r
	reordered.Exchanges = slices.Clone(r.Exchanges[1:])
	packed := func(r *reports.Result) []byte {
		var b bytes.Buffer
		require.NoError(t, r.WriteExchanges(&b))
		return b.Bytes()
	}
	whole := packed(r)
	tests := []struct {
		name  string
		file  []byte // nil: none
		whole bool   // all exchanges are read
		err   string
	}{
		{"of the test run", whole, true, ""},
		{"of another test run", packed(&other), false, ""},
		{"none", nil, false, ""},
		{"cut off", whole[:len(whole)/2], false, "it is damaged: unexpected EOF"},
		{"not compressed", []byte(`{"schema":"agentconform.exchanges/v1"}`), false, "invalid header"},
		{"in another order", packed(&reordered), false, "line 2: the id is 2, it must be 1"},
		{"too large", packed(&huge), false, "it has more than 67108864 bytes without compression"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "result.json")
			require.NoError(t, os.WriteFile(path, written(t, r), 0o600))
			if tt.file != nil {
				require.NoError(t, os.WriteFile(filepath.Join(dir, reports.ExchangesFile), tt.file, 0o600))
			}
			back, err := reports.ReadFile(path)
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				assert.ErrorContains(t, err, "remove it to use the exchanges in the result file")
				return
			}
			require.NoError(t, err)
			if tt.whole {
				assert.Equal(t, r.Exchanges, back.Exchanges)
			} else {
				assert.Less(t, len(back.Exchanges), len(r.Exchanges))
			}
			for _, f := range r.Findings {
				_, err := back.Exchange(f.Exchange)
				assert.NoError(t, err, "the exchange that shows a finding is in the result file")
			}
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
		{"exchange ids", replace(`{"id":9,`, `{"id":1,`), "the id 1 is not above "},
		{"exchanges no list", `{"exchanges":{}}`, "exchanges of type []reports.Exchange"},
		{"finding without exchange", replace(fmt.Sprintf(`"exchange": %d`, reporttest.Finding(reporttest.Faulty(), "CP-LIST-3").Exchange), `"exchange": 9999`), "no exchange 9999"},
		{"trailing", good + "{}", "after top-level value"},
		{"too many values", `{"requirements":[` + strings.Repeat("{},", 1_500_000), "more than 1500000 values"},
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
	require.NoError(t, r.WriteJSON(&b), "a result that can be read can be written")
	return b.Bytes()
}

// read calls ReadFile for a file with this content.
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

// TestCurlNote checks which curl lines have a note: those whose address names an object that was removed.
func TestCurlNote(t *testing.T) {
	r := &reports.Result{
		Exchanges: reports.Record(nil, reports.Exchange{URL: "http://h/threads/t1/state?x=t2"}, reports.Exchange{URL: "http://h/threads/t2"}),
		Ledger:    []reports.LedgerEntry{{Kind: "thread", ID: "t1", Removed: true}, {Kind: "thread", ID: "t2"}},
	}
	note := func(exchange int) string { return r.CurlNote(&reports.Finding{Exchange: exchange}) }
	assert.Equal(t, []string{"", reports.RemovedNote, ""}, []string{note(0), note(1), note(2)})
}
